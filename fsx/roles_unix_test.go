//go:build linux || darwin

package fsx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/landfast/landfast/internal/fsops"
)

// otherRole is what the test binary does in the roles of this file.
func otherRole(name string) {
	ctx := context.Background()
	n, _ := strconv.Atoi(os.Getenv("FSX_TEST_COUNT"))
	switch name {
	case "umask-new": // every verb that makes a file, under another umask
		unix.Umask(0o027)
		d := roleDir()
		_, err := d.WriteOrdered(ctx, "ordered", []byte("x"), 0)
		roleCheck(err)
		t, err := d.CreateTemp("published", Options{})
		roleCheck(err)
		_, err = t.PublishNew(ctx)
		roleCheck(err)
		t, err = d.CreateTemp("exact", Options{Mode: 0o666}) // a mode that was asked for is exact
		roleCheck(err)
		_, err = t.Replace(ctx)
		roleCheck(err)
		f, err := d.OpenInPlace("in-place", 0o666)
		roleCheck(err)
		roleCheck(f.Close())
	case "race": // publishes the same names as everybody else and says how many it won
		d := roleDir()
		won := 0
		for i := range n {
			t, err := d.CreateTemp(fmt.Sprint("f", i), Options{Flush: FlushNone})
			roleCheck(err)
			_, err = fmt.Fprint(t, os.Getpid())
			roleCheck(err)
			_, err = t.PublishNew(ctx)
			switch {
			case err == nil:
				won++
			case !errors.Is(err, fs.ErrExist):
				roleCheck(err)
			}
		}
		fmt.Print(won)
	case "ordered":
		d := roleDir()
		for range n {
			_, err := d.WriteOrdered(ctx, "f", []byte("content"), 0)
			roleCheck(err)
		}
	case "by-path": // opens everything anew each time, as durable.WriteFile's callers may
		for range n {
			root, err := OpenRoot(os.Getenv("FSX_TEST_DIR"))
			roleCheck(err)
			d, err := root.Dir(".")
			roleCheck(err)
			_, err = put(d, "f", "content", Options{})
			roleCheck(err)
			roleCheck(errors.Join(d.Close(), root.Close()))
		}
	default:
		roleCheck(fmt.Errorf("no role %q", name))
	}
}

// untitaker/python-atomicwrites#42, for the verbs that make new files.
func TestEveryNewFileHonoursTheUmaskUnlessItsModeIsGiven(t *testing.T) {
	dir := t.TempDir()
	if out, err := role(t, "umask-new", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]fs.FileMode{"ordered": 0o640, "published": 0o640, "in-place": 0o640, "exact": 0o666} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

// D5 between processes.
func TestProcessesPublishingTheSameNamesShareThemOut(t *testing.T) {
	const names = 300
	dir := t.TempDir()
	var wg sync.WaitGroup
	var mu sync.Mutex
	total, winners := 0, map[string]int{}
	for range 4 {
		wg.Go(func() {
			cmd := role(t, "race", dir, fmt.Sprint("FSX_TEST_COUNT=", names))
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
				return
			}
			won, err := strconv.Atoi(string(out))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			total += won
			winners[fmt.Sprint(cmd.Process.Pid)] = won
		})
	}
	wg.Wait()
	if total != names {
		t.Errorf("%d names were won %d times", names, total)
	}
	for i := range names {
		winners[contentOf(t, filepath.Join(dir, fmt.Sprint("f", i)))]--
	}
	for pid, left := range winners {
		if left != 0 {
			t.Errorf("process %s: %d names that it won are not its own", pid, left)
		}
	}
	noLeftovers(t, dir)
}

// A staged file dated in the future is young, whatever the clock did.
func TestSweepKeepsFilesFromTheFuture(t *testing.T) {
	dir := t.TempDir()
	_, d := openDir(t, dir)
	tmp, err := d.CreateTemp("f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, tmp.tmp)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	future := info.ModTime().AddDate(1, 0, 0)
	if err := os.Chtimes(path, future, future); err != nil {
		t.Fatal(err)
	}
	s, err := d.Sweep(SweepOptions{OwnersGone: true})
	if err != nil || len(s.Removed) != 0 || len(s.Kept) != 1 {
		t.Errorf("removed %v, kept %v, %v", s.Removed, s.Kept, err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if s, err = d.Sweep(SweepOptions{OwnersGone: true}); err != nil || len(s.Removed) != 1 {
		t.Errorf("of the past: removed %v, kept %v, %v", s.Removed, s.Kept, err)
	}
	if err := tmp.Abort(); err != nil { // the file is gone already
		t.Error(err)
	}
}

// A link or directory that is called like a staged file is nobody's leftover.
func TestSweepKeepsWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	_, d := openDir(t, dir)
	target := filepath.Join(dir, "precious")
	if err := os.WriteFile(target, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("precious", filepath.Join(dir, tempName("link"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, tempName("dir")), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := d.Sweep(SweepOptions{OwnersGone: true})
	if err != nil || len(s.Removed) != 0 || len(s.Kept) != 2 {
		t.Errorf("removed %v, kept %v, %v", s.Removed, s.Kept, err)
	}
	if _, err := d.Sweep(SweepOptions{Max: 2}); !errors.Is(err, ErrTooMany) {
		t.Errorf("beyond the limit: %v", err)
	}
	if got := contentOf(t, target); got != "x" {
		t.Error("the target of the link changed")
	}
}

// failingWrites is the operating system with a disk that takes the first bytes only.
type failingWrites struct{ osTable }

func (w failingWrites) WriteAt(h fsops.Handle, p []byte, off int64) (int, error) {
	if off >= 4 {
		return 0, unix.EIO
	}
	return w.osTable.WriteAt(h, p[:min(len(p), 4)], off)
}

func TestAFailedWritePoisonsTheStagedFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := OpenRootOn(failingWrites{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := root.Dir(".")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, end := range map[string]func(*Temp) error{
		"sync":        func(t *Temp) error { return t.Sync() },
		"write":       func(t *Temp) error { _, err := t.Write(nil); return err },
		"replace":     func(t *Temp) error { _, err := t.Replace(context.Background()); return err },
		"publish-new": func(t *Temp) error { _, err := t.PublishNew(context.Background()); return err },
	} {
		tmp, err := d.CreateTemp("f", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := tmp.Write([]byte(strings.Repeat("x", 10))); n != 4 || !errors.Is(err, unix.EIO) {
			t.Errorf("%s: wrote %d, %v", name, n, err)
		}
		err = end(tmp)
		var pe *PublishError
		if !errors.Is(err, unix.EIO) || !errors.As(err, &pe) || pe.Stage != StepWrite || pe.State != NotPublished {
			t.Errorf("%s after a failed write: %v", name, err)
		}
		if err := tmp.Abort(); err != nil {
			t.Errorf("%s: abort: %v", name, err)
		}
	}
	if got := contentOf(t, filepath.Join(dir, "f")); got != "old" {
		t.Errorf("holds %q", got)
	}
	noLeftovers(t, dir)
}
