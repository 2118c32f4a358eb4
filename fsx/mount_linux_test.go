package fsx

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/landfast/landfast/internal/testenv"
)

// withMounts runs a test on a thread with mounts of its own, which vanish with
// the thread: a locked goroutine that ends takes its thread along.
func withMounts(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		testenv.NeedRoot(t)
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			testenv.Skip(t, testenv.Tmpfs, "no mounts of its own: "+err.Error())
		}
		mount(t, "none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		f(t)
	})
}

func mount(t *testing.T, source, target, fstype string, flags uintptr, data string) {
	t.Helper()
	if err := unix.Mount(source, target, fstype, flags, data); err != nil {
		testenv.Skip(t, testenv.Tmpfs, "mount "+target+": "+err.Error())
	}
}

// notPublished fails unless the error says that nothing happened, and why.
func notPublished(t *testing.T, err, want error, class Class) {
	t.Helper()
	var pe *PublishError
	if !errors.As(err, &pe) || pe.State != NotPublished || pe.Tmp != "" || !errors.Is(err, want) {
		t.Errorf("%v, want %v and not published", err, want)
		return
	}
	if got := Classify(pe.Stage, err); got != class {
		t.Errorf("%v is %v, want %v", err, got, class)
	}
}

// stacklok/toolhive#3979: a file that is a mount point can't be renamed over.
func TestMountPointIsRefusedWithItsContentIntact(t *testing.T) {
	dir := t.TempDir()
	withMounts(t, "bind", func(t *testing.T) {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		mount(t, path, path, "", unix.MS_BIND, "")
		_, d := openDir(t, dir)
		_, err := put(d, "f", "new", Options{})
		notPublished(t, err, syscall.EBUSY, Final)
		if got := contentOf(t, path); got != "old" {
			t.Errorf("holds %q", got)
		}
		if _, err := d.WriteOrdered(context.Background(), "f", []byte("new"), 0); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("ordered: %v", err)
		}
		if es, err := os.ReadDir(dir); err != nil || len(es) != 1 {
			t.Errorf("left %v, %v", es, err)
		}
	})
}

func TestFullDiskLeavesTheOldContentAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]string{"no blocks": "size=64k", "no inodes": "nr_inodes=3"} { // root, f and the filler
		withMounts(t, name, func(t *testing.T) {
			mount(t, "tmpfs", dir, "tmpfs", 0, size)
			path := filepath.Join(dir, "f")
			for _, file := range []string{path, filepath.Join(dir, "filler")} {
				if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, d := openDir(t, dir)
			big := string(bytes.Repeat([]byte("new "), 64<<10))
			for _, target := range []string{"f", "g"} {
				_, err := put(d, target, big, Options{})
				notPublished(t, err, syscall.ENOSPC, NoSpace)
				if _, err := d.WriteOrdered(context.Background(), target, []byte(big), 0); Classify(StepWrite, err) != NoSpace {
					t.Errorf("ordered: %v", err)
				}
			}
			if got := contentOf(t, path); got != "old" {
				t.Errorf("holds %d bytes", len(got))
			}
			if es, err := os.ReadDir(dir); err != nil || len(es) != 2 {
				t.Errorf("left %v, %v", es, err)
			}
		})
	}
}

func TestReadOnlyMountCanBeReadAndSaysSo(t *testing.T) {
	dir := t.TempDir()
	withMounts(t, "bind", func(t *testing.T) {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		mount(t, dir, dir, "", unix.MS_BIND, "")
		mount(t, "none", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
		root, d := openDir(t, dir)
		_, err := put(d, "f", "new", Options{})
		notPublished(t, err, syscall.EROFS, ReadOnly)
		if _, _, err := root.MkdirAll("a/b", 0o777); Classify(StepMkdir, err) != ReadOnly {
			t.Errorf("mkdir: %v", err)
		}
		if got, err := d.ReadFile("f", 10); err != nil || string(got) != "old" {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

// A move between filesystems would be a copy; it is refused and loses nothing.
func TestMoveNewRefusesAnotherFilesystem(t *testing.T) {
	dir := t.TempDir()
	withMounts(t, "tmpfs", func(t *testing.T) {
		if err := os.Mkdir(filepath.Join(dir, "q"), 0o777); err != nil {
			t.Fatal(err)
		}
		mount(t, "tmpfs", filepath.Join(dir, "q"), "tmpfs", 0, "size=64k")
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		root, d := openDir(t, dir)
		q, err := root.Dir("q")
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		_, err = d.MoveNew(context.Background(), "f", q, "f", Retry{})
		notPublished(t, err, syscall.EXDEV, Final)
		if got := contentOf(t, filepath.Join(dir, "f")); got != "x" {
			t.Errorf("holds %q", got)
		}
	})
}

// Root ignores modes, so the test becomes somebody else: on Linux the user that
// the filesystem sees belongs to the thread.
func TestDirectoryOfAnotherUserCanBeReadAndNotWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, d := openDir(t, dir)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	t.Run("as nobody", func(t *testing.T) {
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // the thread ends with the goroutine
			for range 2 {          // the second call tells what the first one did
				if was, err := unix.SetfsuidRetUid(65534); err != nil {
					t.Fatal(was, err)
				}
			}
		}
		_, err := put(d, "f", "new", Options{})
		notPublished(t, err, syscall.EACCES, Final)
		_, err = put(d, "g", "new", Options{})
		notPublished(t, err, syscall.EACCES, Final)
		if _, _, err := root.MkdirAll("a", 0o777); !errors.Is(err, syscall.EACCES) {
			t.Errorf("mkdir: %v", err)
		}
		if got, err := d.ReadFile("f", 10); err != nil || string(got) != "old" {
			t.Errorf("read %q, %v", got, err)
		}
	})
	if es, err := os.ReadDir(dir); err != nil || len(es) != 1 {
		t.Errorf("left %v, %v", es, err)
	}
}

func TestDeviceIsNeitherReadNorReplaced(t *testing.T) {
	testenv.NeedRoot(t)
	dir := t.TempDir()
	if err := unix.Mknod(filepath.Join(dir, "null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		testenv.Skip(t, testenv.Root, "can't make a device: "+err.Error())
	}
	root, d := openDir(t, dir)
	if _, err := put(d, "null", "new", Options{ReplaceLink: true}); !errors.Is(err, ErrNotRegular) {
		t.Errorf("replace: %v", err)
	}
	if _, err := d.ReadFile("null", 10); !errors.Is(err, ErrNotRegular) {
		t.Errorf("read: %v", err)
	}
	if _, err := d.OpenInPlace("null", 0o600); !errors.Is(err, ErrNotRegular) {
		t.Errorf("open in place: %v", err)
	}
	if _, err := root.Dir("null"); !errors.Is(err, ErrNotDir) {
		t.Errorf("as a directory: %v", err)
	}
	noLeftovers(t, dir)
}
