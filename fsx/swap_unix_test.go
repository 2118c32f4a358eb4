//go:build linux || darwin

package fsx

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/landfast/landfast/internal/fsops"
)

// A directory on the way is swapped for a link that leads out, and back, while
// paths are resolved: whatever is opened lies inside, by either way to resolve.
func TestADirectorySwappedForALinkNeverLeadsOut(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, sub := range []string{filepath.Join(dir, "a", "x"), filepath.Join(outside, "x")} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	root, _ := openDir(t, dir)
	inside, err := root.Dir("a/x")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	want, err := inside.Stat()
	if err != nil {
		t.Fatal(err)
	}
	a, aside := filepath.Join(dir, "a"), filepath.Join(dir, "aside")
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			err := errors.Join(os.Rename(a, aside), os.Symlink(outside, a), os.Remove(a), os.Rename(aside, a))
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	opened, refused := 0, 0
	for range 5000 {
		for way, resolve := range map[string]func() (fsops.Handle, error){
			"dir":  func() (fsops.Handle, error) { return osTable{}.OpenDir(root.h, "a/x") },
			"walk": func() (fsops.Handle, error) { return walkBeneath(int(root.h), "a/x") },
		} {
			h, err := resolve()
			if err != nil {
				refused++
				continue
			}
			opened++
			info, err := osTable{}.Stat(h)
			if err != nil || info.ID != want.ID {
				t.Errorf("%s opened %+v, %v; inside is %+v", way, info.ID, err, want.ID)
			}
			_ = unix.Close(int(h))
		}
	}
	close(stop)
	swapper.Wait()
	if opened == 0 || refused == 0 {
		t.Errorf("no race: %d opened, %d refused", opened, refused)
	}
}

// The walk serves where openat2 is missing, and must tell links from the rest
// by itself, open plain paths, and close what it opened on the way.
func TestTheWalkRefusesWhatTheKernelRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "a/b/c"), 0o700),
		os.Symlink("a", filepath.Join(dir, "first")), os.Symlink("b", filepath.Join(dir, "a/middle")), os.Symlink("c", filepath.Join(dir, "a/b/last")),
		os.Symlink("nowhere", filepath.Join(dir, "dangling")), os.Symlink("/", filepath.Join(dir, "absolute")),
		os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, _ := openDir(t, dir)
	free := func() int { // the lowest descriptor that is free shows a leak
		fd, err := unix.Dup(int(root.h))
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.Close(fd)
		return fd
	}
	before := free()
	for rel, want := range map[string][]error{
		"a": {nil}, "a/b/c": {nil}, ".": {nil},
		"first/b/c": {unix.ELOOP, unix.ENOTDIR}, "a/middle/c": {unix.ELOOP, unix.ENOTDIR}, "a/b/last": {unix.ELOOP, unix.ENOTDIR},
		"dangling": {unix.ELOOP, unix.ENOTDIR}, "absolute/etc": {unix.ELOOP, unix.ENOTDIR},
		"file": {unix.ENOTDIR}, "file/x": {unix.ENOTDIR}, "fifo": {unix.ENOTDIR}, "fifo/x": {unix.ENOTDIR},
		"a/missing/x": {unix.ENOENT},
	} {
		for way, open := range map[string]func(int, string) (fsops.Handle, error){"walk": walkBeneath, "kernel": openBeneath} {
			h, err := open(int(root.h), rel)
			ok := false
			for _, w := range want {
				ok = ok || errors.Is(err, w)
			}
			if !ok {
				t.Errorf("%s %s: %v, want one of %v", way, rel, err, want)
			}
			if err == nil {
				_ = unix.Close(int(h))
			}
		}
	}
	if after := free(); after != before {
		t.Errorf("the lowest free descriptor was %d and is %d", before, after)
	}
}
