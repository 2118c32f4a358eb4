package fsx

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/landfast/landfast/internal/testenv"
)

func windowsDir(t *testing.T) (string, *Root, *Dir) {
	t.Helper()
	path := testenv.TempDir(t)
	root, err := OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	d, err := root.Dir(".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return path, root, d
}

func replace(d *Dir, name, content string, o Options) (Receipt, error) {
	t, err := d.CreateTemp(name, o)
	if err != nil {
		return Receipt{}, err
	}
	if _, err := t.Write([]byte(content)); err != nil {
		return Receipt{}, errors.Join(err, t.Abort())
	}
	return t.Replace(context.Background())
}

func mustHold(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", filepath.Base(path), got, err, want)
	}
}

func mustBeAlone(t *testing.T, dir string, want ...string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range es {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the directory holds %v, want %v", got, want)
	}
}

func TestWindowsReplaceAndPublishNew(t *testing.T) {
	path, _, d := windowsDir(t)
	r, err := replace(d, "f", "one", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("filesystem %q, %+v", d.FSType(), r)
	for _, ds := range r.Degraded {
		if ds.Step == StepSyncDir {
			t.Errorf("the directory was not flushed: %v", ds)
		}
	}
	if _, err := replace(d, "f", "two", Options{}); err != nil {
		t.Fatal(err)
	}
	mustHold(t, filepath.Join(path, "f"), "two")
	tmp, err := d.CreateTemp("f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmp.PublishNew(context.Background()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("publish-new over an existing file: %v", err)
	}
	tmp, err = d.CreateTemp("g", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmp.Write([]byte("three")); err != nil {
		t.Fatal(err)
	}
	if _, err := tmp.PublishNew(context.Background()); err != nil {
		t.Fatal(err)
	}
	mustHold(t, filepath.Join(path, "g"), "three")
	mustBeAlone(t, path, "f", "g")
}

// npm/write-file-atomic#227: a scanner or reader holds the target for a moment.
func TestWindowsReplaceWaitsForAHolderThatLetsGo(t *testing.T) {
	path, _, d := windowsDir(t)
	target := filepath.Join(path, "f")
	if _, err := replace(d, "f", "old", Options{}); err != nil {
		t.Fatal(err)
	}
	name, err := windows.UTF16PtrFromString(target)
	if err != nil {
		t.Fatal(err)
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		time.Sleep(300 * time.Millisecond)
		_ = windows.CloseHandle(h)
	})
	r, err := replace(d, "f", "new", Options{})
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if r.Attempts < 2 || r.Waited == 0 {
		t.Errorf("%d attempts, waited %v: the holder was not in the way", r.Attempts, r.Waited)
	}
	mustHold(t, target, "new")
}

func TestWindowsReplaceGivesUpWithinItsBudgetAndKeepsTheOld(t *testing.T) {
	path, _, d := windowsDir(t)
	target := filepath.Join(path, "f")
	if _, err := replace(d, "f", "old", Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(target) // shares reading and writing, not deletion
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = replace(d, "f", "new", Options{Retry: Retry{Budget: 20 * time.Millisecond}})
	var pe *PublishError
	if !errors.As(err, &pe) || pe.State != NotPublished || pe.Tmp != "" {
		t.Fatalf("got %v", err)
	}
	mustHold(t, target, "old")
	mustBeAlone(t, path, "f")
}

// isaacs/node-graceful-fs#98: a directory in the target's place must not be
// waited for.
func TestWindowsDirectoryInTheTargetsPlaceFailsAtOnce(t *testing.T) {
	path, _, d := windowsDir(t)
	if err := os.Mkdir(filepath.Join(path, "f"), 0o777); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := replace(d, "f", "x", Options{}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("got %v", err)
	}
	// The same where the directory comes after the first look.
	tmp, err := d.CreateTemp("late", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(path, "late"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := tmp.Replace(context.Background()); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("got %v", err)
	}
	info, err := d.Lstat("late")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Remove("late", info.ID); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("removing a directory as a file: %v", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v: a directory was waited for", took)
	}
	mustBeAlone(t, path, "f", "late")
}

// Our own readers share deletion, or they would block our own writers as far as
// the system lets them.
func TestWindowsOurReadersShareDeletion(t *testing.T) {
	path, _, d := windowsDir(t)
	if _, err := replace(d, "f", "old", Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := d.OpenFile("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := d.Lstat("f")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Remove("f", info.ID); err != nil {
		t.Errorf("a reader of ours blocks removing: %v", err)
	}
	buf := make([]byte, 3)
	if _, err := f.ReadAt(buf, 0); err != nil || string(buf) != "old" {
		t.Errorf("the reader sees %q, %v", buf, err)
	}
	_ = path
}

func TestWindowsReadOnlyTargetIsReplacedAndKeepsItsBit(t *testing.T) {
	path, _, d := windowsDir(t)
	target := filepath.Join(path, "f")
	if _, err := replace(d, "f", "old", Options{Mode: 0o444}); err != nil {
		t.Fatal(err)
	}
	info, err := d.Lstat("f")
	if err != nil || info.Mode != 0o444 {
		t.Fatalf("mode %v, %v", info.Mode, err)
	}
	if _, err := replace(d, "f", "new", Options{}); err != nil {
		t.Fatal(err)
	}
	mustHold(t, target, "new")
	if info, err = d.Lstat("f"); err != nil || info.Mode != 0o444 {
		t.Errorf("mode %v, %v", info.Mode, err)
	}
	if err := os.Chmod(target, 0o666); err != nil { // so that the test's folder can go
		t.Fatal(err)
	}
}

func TestWindowsDirectoriesListMoveAndRemove(t *testing.T) {
	ctx := context.Background()
	path, root, d := windowsDir(t)
	q, ds, err := root.MkdirAll("a/b", 0o777)
	if err != nil || len(ds) > 0 {
		t.Fatal(ds, err)
	}
	defer q.Close()
	if _, err := root.Dir("a/missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	if _, err := replace(d, "f", "x", Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Dir("f"); !errors.Is(err, ErrNotDir) {
		t.Errorf("a file as directory: %v", err)
	}
	if _, err := d.MoveNew(ctx, "f", q, "g", Retry{}); err != nil {
		t.Fatal(err)
	}
	mustHold(t, filepath.Join(path, "a", "b", "g"), "x")
	if _, err := replace(d, "f", "y", Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.MoveNew(ctx, "f", q, "g", Retry{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("moving over an existing file: %v", err)
	}
	es, err := q.List(10)
	if err != nil || len(es) != 1 || es[0].Name != "g" {
		t.Errorf("list: %v, %v", es, err)
	}
	if err := (osTable{}).Link(d.h, "f", q.h, "linked"); err != nil {
		t.Errorf("link: %v", err)
	} else if info, err := q.Lstat("linked"); err != nil || info.Nlink != 2 {
		t.Errorf("linked: %+v, %v", info, err)
	}
	for _, name := range []string{"g", "linked"} {
		info, err := q.Lstat(name)
		if err != nil {
			continue
		}
		if err := q.Remove(name, info.ID); err != nil {
			t.Errorf("remove %s: %v", name, err)
		}
	}
	_ = q.Close()
	a, err := root.Dir("a")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.RemoveDir("b"); err != nil {
		t.Errorf("remove directory: %v", err)
	}
}

func TestWindowsOpenRootHoldsNobodyUp(t *testing.T) {
	path, root, _ := windowsDir(t)
	if err := os.Mkdir(filepath.Join(path, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	sub, err := root.Dir("sub")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if err := os.Rename(filepath.Join(path, "sub"), filepath.Join(path, "moved")); err != nil {
		t.Errorf("an open Dir blocks renaming its directory: %v", err)
	}
}

func TestWindowsClassify(t *testing.T) {
	for _, c := range []struct {
		step Step
		code syscall.Errno
		want Class
	}{
		{StepRename, 5, Transient},
		{StepRename, 32, Transient},
		{StepRename, 33, Transient},
		{StepRename, 170, Transient},
		{StepUnlink, 303, Transient},
		{StepRename, 371, Transient},
		{StepRename, 391, Transient},
		{StepRename, 397, Transient},
		{StepRename, 426, Transient},
		{StepRename, 742, Transient},
		{StepRename, 1224, Transient},
		{StepUnlink, 145, Transient},
		{StepRename, 1, Unsupported},
		{StepRename, 50, Unsupported},
		{StepRename, 87, Unsupported},
		{StepRename, 80, Exists},
		{StepRename, 183, Exists},
		{StepOpen, 2, NotFound},
		{StepOpen, 3, NotFound},
		{StepWrite, 112, NoSpace},
		{StepWrite, 19, ReadOnly},
		{StepRename, 17, Final},
		{StepRename, 123, Final},
		{StepRename, 206, Final},
		{StepRename, 225, Final},
		{StepRename, 226, Final},
		{StepRename, 267, Final},
		{StepRename, 1142, Final},
		{StepRename, 1464, Final},
		{StepRename, 39, NoSpace},
		{StepUnlink, 5, Transient},
		{StepOpen, 5, Transient},
		{StepCreate, 5, Final}, // a directory that may not be written to
		{StepLink, 5, Final},
		{StepMkdir, 145, Exists},
		{StepStat, 303, Transient},
		{StepOpen, 1920, Final}, // a reparse point
		{StepRename, syscall.EISDIR, Final},
		{StepRename, syscall.EPERM, Final},
		{StepWrite, 5, Final},
		{StepSync, 5, Final},
		{StepSyncDir, 5, Unsupported},
		{StepSyncDir, 6, Unsupported},
		{StepSync, 6, Final},
	} {
		if got := Classify(c.step, c.code); got != c.want {
			t.Errorf("%v answers %d: %v, want %v", c.step, uint32(c.code), got, c.want)
		}
	}
}
