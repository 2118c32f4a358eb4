//go:build linux || darwin

package fsx_test

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/internal/simfs"
)

// replaceOn replaces /f through a tap that answers in place of one kind of
// operation.
func replaceOn(t *testing.T, f *simfs.FS, o fsx.Options, answer func(op simfs.Op) error) (fsx.Receipt, error) {
	t.Helper()
	tap := simfs.NewTap(f)
	tap.Before = func(_ int, op simfs.Op) simfs.Action { return simfs.Action{Err: answer(op)} }
	var r fsx.Receipt
	err := onDir(tap, func(_ *fsx.Root, d *fsx.Dir) error {
		tmp, err := stage(d, "f", newContent, o)
		if err != nil {
			return err
		}
		r, err = tmp.Replace(context.Background())
		return err
	})
	return r, err
}

func failing(kind string, errnos ...syscall.Errno) func(simfs.Op) error {
	return func(op simfs.Op) error {
		if op.Kind == kind && len(errnos) > 0 {
			e := errnos[0]
			errnos = errnos[1:]
			return e
		}
		return nil
	}
}

// restic/restic#3720, #3751: a filesystem without directory sync is no failure,
// and no durability either. EIO is one: there it can't be told from a failing disk.
func TestDirectorySyncThatDoesNotExistDegradesAndEIOFails(t *testing.T) {
	for _, no := range []syscall.Errno{syscall.EINVAL, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.ENOTTY, syscall.ENOENT, syscall.EBADF} {
		r, err := replaceOn(t, simfs.New(simfs.Weak), fsx.Options{}, failing("syncdir", no))
		if err != nil || r.Guarantee != fsx.Ordered || len(r.Degraded) != 1 || !errors.Is(r.Degraded[0].Err, no) {
			t.Errorf("%v: %+v, %v", no, r, err)
		}
	}
	for _, no := range []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EROFS} {
		f := simfs.New(simfs.Weak)
		_, err := replaceOn(t, f, fsx.Options{}, failing("syncdir", no))
		var pe *fsx.PublishError
		if !errors.As(err, &pe) || pe.State != fsx.VisibleNotDurable || !errors.Is(err, no) {
			t.Errorf("%v: %v", no, err)
		}
		if got, rerr := f.ReadFile("/f"); rerr != nil || string(got) != newContent {
			t.Errorf("%v: says visible, holds %d bytes, %v", no, len(got), rerr)
		}
	}
}

// golang/go#64215: F_FULLFSYNC does not exist on SMB; the next weaker flush is
// used and reported.
func TestFlushThatDoesNotExistFallsToTheNextAndSaysSo(t *testing.T) {
	// The model has no barrier of its own, so the third, plain flush is reached.
	r, err := replaceOn(t, simfs.New(simfs.Weak), fsx.Options{}, failing("sync", syscall.ENOTSUP))
	if err != nil || r.Guarantee != fsx.Ordered || len(r.Degraded) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = replaceOn(t, simfs.New(simfs.Weak), fsx.Options{}, failing("sync", syscall.ENOTSUP, syscall.ENOTSUP, syscall.EIO))
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("a failing plain flush: %v", err)
	}
}

// hashicorp/consul#3409: with the directory sync refused for ever, nothing piles up.
func TestFiftyRoundsWithoutDirectorySyncLeaveNothingBehind(t *testing.T) {
	m := simfs.Weak
	m.NoDirSync = true
	f := simfs.New(m)
	for range 50 {
		if _, err := replaceOn(t, f, fsx.Options{}, func(simfs.Op) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if names := f.Names("/"); len(names) != 1 {
		t.Errorf("%v", names)
	}
}

// A need for durability is refused before anything is written where the
// directory can't be synced.
func TestNeedIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	m := simfs.Weak
	m.NoDirSync = true
	f := simfs.New(m)
	_, err := replaceOn(t, f, fsx.Options{Need: fsx.Durable}, func(simfs.Op) error { return nil })
	var pe *fsx.PublishError
	if !errors.Is(err, fsx.ErrNeed) || !errors.As(err, &pe) || pe.State != fsx.NotPublished {
		t.Errorf("got %v", err)
	}
	if names := f.Names("/"); len(names) != 0 {
		t.Errorf("touched: %v", names)
	}
	if _, err := replaceOn(t, f, fsx.Options{Need: fsx.Ordered}, func(simfs.Op) error { return nil }); err != nil {
		t.Errorf("what can be promised is refused: %v", err)
	}
}

// PostgreSQL's fsyncgate, wiredtiger WT-4045: after a failed sync the content is
// dropped, however often the caller asks.
func TestFailedSyncPoisonsTheStagedFile(t *testing.T) {
	f := simfs.New(simfs.Weak)
	f.SyncError = func() error { f.SyncError = nil; return syscall.EIO }
	err := onDir(fsops.Table(f), func(_ *fsx.Root, d *fsx.Dir) error {
		tmp, err := stage(d, "f", newContent, fsx.Options{})
		if err != nil {
			return err
		}
		first := tmp.Sync()
		second := tmp.Sync()
		if !errors.Is(first, syscall.EIO) || !errors.Is(second, syscall.EIO) {
			t.Errorf("first %v, second %v", first, second)
		}
		_, err = tmp.Replace(context.Background())
		return err
	})
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("replace after a failed sync: %v", err)
	}
	if names := f.Names("/"); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}
