//go:build linux || darwin

package fsx

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/internal/procid"
)

// TestMain lets the test binary be a victim or a helper with another umask.
func TestMain(m *testing.M) {
	switch os.Getenv("FSX_TEST_ROLE") {
	case "":
		os.Exit(m.Run())
	case "umask":
		unix.Umask(0o027)
		roleReplace("kept", Options{})
		roleReplace("new", Options{})
	case "stage": // stages a file and waits to be killed
		d := roleDir()
		t, err := d.CreateTemp("f", Options{})
		if err == nil {
			_, err = t.Write([]byte("half"))
		}
		roleCheck(err)
		fmt.Println("ready")
		select {}
	case "replace": // FSX_TEST_COUNT whole replaces of one name
		n, _ := strconv.Atoi(os.Getenv("FSX_TEST_COUNT"))
		d := roleDir()
		for i := range n {
			t, err := d.CreateTemp("f", Options{})
			roleCheck(err)
			_, err = fmt.Fprint(t, strings.Repeat(fmt.Sprintf("%d-%d ", os.Getpid(), i), 500))
			roleCheck(err)
			_, err = t.Replace(context.Background())
			roleCheck(err)
		}
	case "publish-new":
		n, _ := strconv.Atoi(os.Getenv("FSX_TEST_COUNT"))
		d := roleDir()
		for i := range n {
			t, err := d.CreateTemp(fmt.Sprint("new", i), Options{})
			roleCheck(err)
			_, err = t.PublishNew(context.Background())
			roleCheck(err)
		}
	default:
		otherRole(os.Getenv("FSX_TEST_ROLE"))
	}
	os.Exit(0)
}

func roleDir() *Dir {
	root, err := OpenRoot(os.Getenv("FSX_TEST_DIR"))
	roleCheck(err)
	d, err := root.Dir(".")
	roleCheck(err)
	return d
}

func roleReplace(name string, o Options) {
	t, err := roleDir().CreateTemp(name, o)
	roleCheck(err)
	_, err = t.Replace(context.Background())
	roleCheck(err)
}

func roleCheck(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// role prepares this test binary in a role.
func role(t *testing.T, name, dir string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(append(os.Environ(), "FSX_TEST_ROLE="+name, "FSX_TEST_DIR="+dir), env...)
	return cmd
}

func openDir(t *testing.T, path string) (*Root, *Dir) {
	t.Helper()
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
	return root, d
}

func put(d *Dir, name, content string, o Options) (Receipt, error) {
	t, err := d.CreateTemp(name, o)
	if err != nil {
		return Receipt{}, err
	}
	if _, err := t.Write([]byte(content)); err != nil {
		return Receipt{}, errors.Join(err, t.Abort())
	}
	return t.Replace(context.Background())
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// noLeftovers fails if a staged file lies anywhere below.
func noLeftovers(t *testing.T, dir string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func TestRootRefusesALinkInEveryElement(t *testing.T) {
	dir := t.TempDir()
	outside := t.TempDir()
	for _, sub := range []string{"a/b/c", "real/b/c", "file-parent"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"first": "real", "a/middle": "../real/b", "a/b/last": "../../real", "dangling": "nowhere", "outside": outside, "loop": "loop", "dot": ".",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	root, _ := openDir(t, dir)
	for _, row := range []struct {
		rel  string
		want error
		at   string
	}{
		{"first/b/c", ErrLink, "first"},
		{"a/middle/c", ErrLink, "a/middle"},
		{"a/b/last", ErrLink, "a/b/last"},
		{"dangling", ErrLink, "dangling"},
		{"outside", ErrLink, "outside"},
		{"loop/x", ErrLink, "loop"},
		{"dot", ErrLink, "dot"},
		{"file", ErrNotDir, "file"},
		{"file/x", ErrNotDir, "file"},
		{"fifo", ErrNotDir, "fifo"},
		{"missing/x", fs.ErrNotExist, ""},
		{"../x", ErrBadName, ""},
		{"/etc", ErrBadName, ""},
		{"a//b", ErrBadName, ""},
		{"", ErrBadName, ""},
	} {
		d, err := root.Dir(row.rel)
		if !errors.Is(err, row.want) {
			t.Errorf("%q: %v, want %v", row.rel, err, row.want)
		}
		if err != nil && !strings.Contains(err.Error(), row.at) {
			t.Errorf("%q: %v does not name %s", row.rel, err, row.at)
		}
		if d != nil {
			_ = d.Close()
		}
		if row.want == ErrBadName {
			continue
		}
		// The same by the walk that serves where openat2 is missing.
		if h, err := walkBeneath(int(root.h), row.rel); err == nil {
			t.Errorf("%q: walked", row.rel)
			_ = unix.Close(int(h))
		}
	}
	if d, err := root.Dir("a/b/c"); err != nil {
		t.Errorf("a plain path: %v", err)
	} else {
		_ = d.Close()
	}
	for name, want := range map[string]error{"first": ErrLink, "dangling": ErrLink, "a": ErrNotRegular, "fifo": ErrNotRegular} {
		_, d := openDir(t, dir)
		if f, err := d.OpenFile(name); !errors.Is(err, want) {
			t.Errorf("open %s: %v, want %v", name, err, want)
			if f != nil {
				_ = f.Close()
			}
		}
	}
}

func TestNamesThatDontTravelAreRefused(t *testing.T) {
	_, d := openDir(t, t.TempDir())
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "a:b", "NUL", "nul.txt", "com1", "LPT9.log", "con ", "a.", "a ", "a\x00b", "a\nb", "a\x7f", "\xff", strings.Repeat("a", 256)} {
		if _, err := d.CreateTemp(name, Options{}); !errors.Is(err, ErrBadName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"a", ".hidden", "ä b", "console", "com10", "a..b", "nul-x", strings.Repeat("a", 150)} {
		if err := CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestTargetsThatAreNoFilesAreRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	_, d := openDir(t, dir)
	real := filepath.Join(dir, "real")
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "dir"), 0o777), unix.Mkfifo(filepath.Join(dir, "fifo"), 0o666),
		os.WriteFile(real, []byte("old"), 0o666), os.Symlink("real", filepath.Join(dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	// isaacs/node-graceful-fs#98 (directory), docker/cli#5281 (link).
	for name, want := range map[string]error{"dir": syscall.EISDIR, "fifo": ErrNotRegular, "link": ErrLink} {
		var pe *PublishError
		if _, err := put(d, name, "new", Options{}); !errors.Is(err, want) || !errors.As(err, &pe) || pe.State != NotPublished {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := put(d, "link", "new", Options{ReplaceLink: true}); err != nil {
		t.Error(err)
	}
	if got := contentOf(t, real); got != "old" {
		t.Errorf("the file behind the link holds %q", got)
	}
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link was not replaced: %v %v", info, err)
	}
	noLeftovers(t, dir)
}

// untitaker/python-atomicwrites#42: the mode of the old file stays, a new one
// honours the umask.
func TestModeIsKeptAndANewFileHonoursTheUmask(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	if err := os.WriteFile(kept, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(kept, 0o646); err != nil {
		t.Fatal(err)
	}
	if out, err := role(t, "umask", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]fs.FileMode{"kept": 0o646, "new": 0o640} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

func TestStagedFileIsNeverMoreReadableThanThePublished(t *testing.T) {
	dir := t.TempDir()
	_, d := openDir(t, dir)
	path := filepath.Join(dir, "secret")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0, 0o004, 0o040, 0o200, 0o400, 0o600, 0o640, 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{}, {Mode: 0o600}, {Mode: 0o444}} {
			want := mode
			if o.Mode != 0 {
				want = o.Mode
			}
			tmp, err := d.CreateTemp("secret", o)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range []func() error{
				func() error { return nil },
				func() error { _, err := tmp.Write([]byte("content")); return err },
				tmp.Sync,
			} {
				if err := step(); err != nil {
					t.Error(err)
				}
				if info, err := os.Stat(filepath.Join(dir, tmp.tmp)); err != nil || info.Mode().Perm()&^want != 0 {
					t.Errorf("%04o staged with mode %v, %v", want, info.Mode(), err)
				}
			}
			if err := tmp.Abort(); err != nil {
				t.Error(err)
			}
		}
	}
	noLeftovers(t, dir)
}

func TestTempHasOneLife(t *testing.T) {
	dir := t.TempDir()
	_, d := openDir(t, dir)
	tmp, err := d.CreateTemp("f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmp.Replace(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := tmp.Write([]byte("x")); err == nil {
		t.Error("written after its life")
	}
	if _, err := tmp.Replace(context.Background()); err == nil {
		t.Error("replaced twice")
	}
	if _, err := tmp.PublishNew(context.Background()); err == nil {
		t.Error("published after its life")
	}
	if err := tmp.Abort(); err != nil {
		t.Errorf("abort after its life: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tmp, err = d.CreateTemp("g", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmp.Replace(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("replaced under an ended context: %v", err)
	}
	noLeftovers(t, dir)
}

// npm/write-file-atomic#28: processes replacing one file at once.
func TestProcessesReplacingOneNameLeaveOneWholePayload(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if out, err := role(t, "replace", dir, "FSX_TEST_COUNT=200").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	got := contentOf(t, filepath.Join(dir, "f"))
	first, _, _ := strings.Cut(got, " ")
	if got != strings.Repeat(first+" ", 500) {
		t.Error("the content is a mixture")
	}
	noLeftovers(t, dir)
}

// D5: many publish one new name, one wins, on every try.
func TestPublishNewHasExactlyOneWinner(t *testing.T) {
	_, d := openDir(t, t.TempDir())
	for round := range 50 {
		name := fmt.Sprint("f", round)
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for i := range 8 {
			wg.Go(func() {
				tmp, err := d.CreateTemp(name, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				fmt.Fprint(tmp, i)
				_, err = tmp.PublishNew(context.Background())
				if err == nil {
					mu.Lock()
					won++
					mu.Unlock()
				} else if !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won != 1 {
			t.Fatalf("round %d: %d winners", round, won)
		}
	}
}

func TestReadFileHoldsItsLimit(t *testing.T) {
	dir := t.TempDir()
	_, d := openDir(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 1000), 0o666); err != nil {
		t.Fatal(err)
	}
	if b, err := d.ReadFile("f", 1000); err != nil || len(b) != 1000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := d.ReadFile("f", 999); !errors.Is(err, ErrTooLarge) {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := d.ReadFile("g", 999); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := d.List(0); !errors.Is(err, ErrTooMany) {
		t.Errorf("list beyond the limit: %v", err)
	}
	// The greatest limits must not wrap round.
	if es, err := d.List(math.MaxInt); err != nil || len(es) != 1 {
		t.Errorf("list without a limit: %v, %v", es, err)
	}
	if b, err := d.ReadFile("f", math.MaxInt64); err != nil || len(b) != 1000 {
		t.Errorf("read without a limit: %d bytes, %v", len(b), err)
	}
}

func TestRemoveTakesOnlyTheFileThatWasLookedAt(t *testing.T) {
	dir := t.TempDir()
	_, d := openDir(t, dir)
	if _, err := put(d, "f", "one", Options{}); err != nil {
		t.Fatal(err)
	}
	info, err := d.Lstat("f")
	if err != nil {
		t.Fatal(err)
	}
	held, err := d.OpenFile("f") // keeps the inode number from being used again
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := put(d, "f", "two", Options{}); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove("f", info.ID); !errors.Is(err, ErrChanged) {
		t.Errorf("got %v", err)
	}
	if got := contentOf(t, filepath.Join(dir, "f")); got != "two" {
		t.Errorf("holds %q", got)
	}
}

func TestRemoveDirTakesOnlyEmptyDirectories(t *testing.T) {
	dir := t.TempDir()
	_, d := openDir(t, dir)
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "empty"), 0o700), os.MkdirAll(filepath.Join(dir, "full/sub"), 0o700),
		os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.Symlink("empty", filepath.Join(dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"full", "file", "link", "missing", "..", "full/sub"} {
		if err := d.RemoveDir(name); err == nil {
			t.Errorf("%s was removed", name)
		}
	}
	if err := d.RemoveDir("empty"); err != nil {
		t.Error(err)
	}
	if es, err := os.ReadDir(dir); err != nil || len(es) != 3 {
		t.Errorf("there are %v, %v", es, err)
	}
}

func TestMoveNewMovesAnythingAsItIsAndNeverOver(t *testing.T) {
	dir := t.TempDir()
	root, d := openDir(t, dir)
	q, _, err := root.MkdirAll("q", 0o777)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o666), os.Symlink("nowhere", filepath.Join(dir, "link")), os.MkdirAll(filepath.Join(dir, "tree/sub"), 0o777),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, kind := range map[string]Kind{"file": fsops.Regular, "link": fsops.Symlink, "tree": fsops.Dir} {
		if _, err := d.MoveNew(context.Background(), name, q, name, Retry{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := q.Lstat(name); err != nil || info.Kind != kind {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("again"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := d.MoveNew(context.Background(), name, q, name, Retry{}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s over an existing one: %v", name, err)
		}
	}
}

// anthropics/claude-code#87677: what killed writers leave is removed, a live
// writer's file, a young one and other people's files stay.
func TestSweepRemovesOnlyWhatDeadWritersLeft(t *testing.T) {
	const victims = 20
	dir := t.TempDir()
	_, d := openDir(t, dir)
	for range victims {
		cmd := role(t, "stage", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatal("the victim did not stage")
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	live, err := d.CreateTemp("f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Abort()
	for _, name := range []string{".lf-x.tmp", ".lf-f~~.tmp", "notes.tmp", ".lf-f~bad tag~00.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	other := role(t, "stage", dir) // a live writer that is another process
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Process.Kill()
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatal("the other writer did not stage")
	}
	s, err := d.Sweep(SweepOptions{MinAge: time.Hour})
	if err != nil || len(s.Removed) != 0 {
		t.Errorf("young files were removed: %v, %v", s.Removed, err)
	}
	s, err = d.Sweep(SweepOptions{Match: func(target string) bool { return target == "other" }})
	if err != nil || len(s.Removed) != 0 {
		t.Errorf("files of another target were removed: %v, %v", s.Removed, err)
	}
	s, err = d.Sweep(SweepOptions{})
	if err != nil || len(s.Removed) != victims {
		t.Errorf("%d removed, kept %v, %v", len(s.Removed), s.Kept, err)
	}
	if _, kept := s.Kept[live.tmp]; !kept {
		t.Error("a live writer's file was not kept")
	}
	es, err := os.ReadDir(dir)
	if err != nil || len(es) != 6 { // both live writers' and four foreign ones
		t.Errorf("%d files are there, %v; want 6", len(es), err)
	}
}

func TestWriteOrderedReplacesWholeAndStagesBesideTheTarget(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", elsewhere)
	before, err := os.Stat(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	_, d := openDir(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o604); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "f"), 0o604); err != nil {
		t.Fatal(err)
	}
	r, err := d.WriteOrdered(context.Background(), "f", []byte("new"), 0)
	if err != nil || r.Guarantee > Ordered {
		t.Fatal(r, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "f")); err != nil || info.Mode().Perm() != 0o604 || contentOf(t, filepath.Join(dir, "f")) != "new" {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if after, err := os.Stat(elsewhere); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Error("the system's temporary folder was used")
	}
	if es, err := os.ReadDir(dir); err != nil || len(es) != 1 {
		t.Errorf("%v, %v", es, err)
	}
	if err := os.Symlink("f", filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.WriteOrdered(context.Background(), "l", nil, 0); !errors.Is(err, ErrLink) {
		t.Errorf("through a link: %v", err)
	}
	// Another directory has come in the place of the one that is open.
	if err := os.Rename(dir, dir+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := d.WriteOrdered(context.Background(), "f", nil, 0); !errors.Is(err, ErrChanged) {
		t.Errorf("into a swapped directory: %v", err)
	}
	if err := os.RemoveAll(dir + ".moved"); err != nil {
		t.Fatal(err)
	}
}

func TestTempNamesTellTargetAndOwner(t *testing.T) {
	target, owner, ok := ParseTempName(tempName("a~b.json"))
	if !ok || target != "a~b.json" || owner.PID != os.Getpid() {
		t.Errorf("%q %+v %v", target, owner, ok)
	}
	if v, why := procid.Judge(owner); v != procid.Live {
		t.Errorf("this process is %v: %s", v, why)
	}
	long := tempName(strings.Repeat("ä", 120))
	if len(long) > 255 || CheckName(long) != nil {
		t.Errorf("%d bytes: %s", len(long), long)
	}
	for _, name := range []string{"", "x", ".lf-", ".lf-.tmp", ".lf-a.tmp", ".lf-a~b.tmp", ".lf-~x-1~0.tmp", ".lf-a~~0.tmp"} {
		if _, _, ok := ParseTempName(name); ok {
			t.Errorf("%q passes for one of ours", name)
		}
	}
}
