package lockx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/fsops"
)

// faultyTable is the real table with steps that a test replaces.
type faultyTable struct {
	fsops.Table
	openFile func(dir fsops.Handle, name string, m fsops.OpenMode, perm fs.FileMode) (fsops.Handle, error)
	lstat    func(dir fsops.Handle, name string) (fsops.Info, error)
	writeAt  func(h fsops.Handle, p []byte, off int64) (int, error)
}

func (f *faultyTable) OpenFile(dir fsops.Handle, name string, m fsops.OpenMode, perm fs.FileMode) (fsops.Handle, error) {
	if f.openFile != nil {
		return f.openFile(dir, name, m, perm)
	}
	return f.Table.OpenFile(dir, name, m, perm)
}

func (f *faultyTable) Lstat(dir fsops.Handle, name string) (fsops.Info, error) {
	if f.lstat != nil {
		return f.lstat(dir, name)
	}
	return f.Table.Lstat(dir, name)
}

func (f *faultyTable) WriteAt(h fsops.Handle, p []byte, off int64) (int, error) {
	if f.writeAt != nil {
		return f.writeAt(h, p, off)
	}
	return f.Table.WriteAt(h, p, off)
}

// modelTable keeps its locks itself, as a filesystem in memory does.
type modelTable struct {
	fsops.Table
	mu    sync.Mutex
	holds map[fsops.Handle]modelHold
	tries int
}

type modelHold struct {
	id     fsops.ID
	shared bool
}

func (m *modelTable) TryLock(h fsops.Handle, shared bool) (bool, error) {
	info, err := m.Stat(h)
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tries++
	for other, hold := range m.holds {
		if other != h && hold.id == info.ID && !(shared && hold.shared) {
			return false, nil
		}
	}
	m.holds[h] = modelHold{info.ID, shared}
	return true, nil
}

func (m *modelTable) Unlock(h fsops.Handle) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.holds, h)
	return nil
}

func (m *modelTable) triesSoFar() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tries
}

// osTable digs the real table out of an open file.
func osTable(t *testing.T) fsops.Table {
	t.Helper()
	d, _ := openDir(t)
	f, err := d.OpenInPlace("x", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tb, _ := f.Handle()
	return tb
}

func openOn(t *testing.T, tb fsops.Table, path string) *fsx.Dir {
	t.Helper()
	root, err := fsx.OpenRootOn(tb, path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := root.Dir(".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(); _ = root.Close() })
	return d
}

func TestFailedIdentityCheckLeavesNothingLocked(t *testing.T) {
	_, path := openDir(t)
	ft := &faultyTable{Table: osTable(t)}
	d := openOn(t, ft, path)
	ft.lstat = func(fsops.Handle, string) (fsops.Info, error) { return fsops.Info{}, syscall.EIO }
	if _, err := Acquire(t.Context(), d, "l", Options{}); !errors.Is(err, syscall.EIO) {
		t.Errorf("error is %v", err)
	}
	ft.lstat = nil
	h := acquire(t, d, Options{Timeout: -1})
	ft.lstat = func(fsops.Handle, string) (fsops.Info, error) { return fsops.Info{}, syscall.EIO }
	if err := h.Verify(); !errors.Is(err, syscall.EIO) || errors.Is(err, ErrLost) {
		t.Errorf("Verify that can't look = %v", err)
	}
	release(t, h)
}

func TestAFileThatAlwaysVanishesIsUnstable(t *testing.T) {
	_, path := openDir(t)
	ft := &faultyTable{Table: osTable(t)}
	opens := 0
	ft.openFile = func(dir fsops.Handle, name string, m fsops.OpenMode, perm fs.FileMode) (fsops.Handle, error) {
		h, err := ft.Table.OpenFile(dir, name, m, perm)
		if err == nil {
			opens++
			err = os.Rename(filepath.Join(path, name), filepath.Join(path, fmt.Sprint("old", opens)))
		}
		return h, err
	}
	if _, err := Acquire(t.Context(), openOn(t, ft, path), "l", Options{}); !errors.Is(err, ErrUnstable) {
		t.Errorf("error is %v, want ErrUnstable", err)
	}
	if opens != maxReopens {
		t.Errorf("opened %d times, want %d", opens, maxReopens)
	}
	if len(locks.files) != 0 {
		t.Error("queues left in the registry")
	}
}

func TestFullDiskDoesNotPreventTheLock(t *testing.T) {
	_, path := openDir(t)
	ft := &faultyTable{Table: osTable(t)}
	ft.writeAt = func(fsops.Handle, []byte, int64) (int, error) { return 0, syscall.ENOSPC }
	d := openOn(t, ft, path)
	h := acquire(t, d, Options{Timeout: -1})
	if be := expectBusy(t, d, false); be.HolderKnown {
		t.Errorf("nothing was written, yet the holder is %+v", be.Holder)
	}
	release(t, h)
}

func TestModelLocksAreUsedInsteadOfTheKernels(t *testing.T) {
	d, path := openDir(t)
	m := &modelTable{Table: osTable(t), holds: map[fsops.Handle]modelHold{}}
	md := openOn(t, m, path)
	// The other holder is no ticket of the registry, so the wait reaches the model.
	f, err := md.OpenInPlace("l", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, foreign := f.Handle()
	if ok, err := m.TryLock(foreign, false); !ok || err != nil {
		t.Fatal(ok, err)
	}
	expectBusy(t, md, false)
	expectBusy(t, md, true)
	release(t, acquire(t, d, Options{Timeout: -1})) // the kernel's lock is free

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Acquire(ctx, md, "l", Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
	before := m.triesSoFar()
	time.Sleep(30 * time.Millisecond)
	if after := m.triesSoFar(); after > before+1 {
		t.Errorf("a wait that nobody wants goes on: %d tries", after-before)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = m.Unlock(foreign) })
	h := acquire(t, md, Options{})
	release(t, h)
	release(t, acquire(t, md, Options{Shared: true}))
	if _, err := os.Lstat(filepath.Join(path, "l"+turnSuffix)); err == nil {
		t.Error("a model got a turnstile that nothing can lock")
	}
	if len(m.holds) != 0 {
		t.Errorf("%d locks left in the model", len(m.holds))
	}
}
