package lockx

import (
	"context"
	"time"

	"github.com/landfast/landfast/internal/fsops"
)

// kernelTry takes the lock of the open file if it is free. A table that keeps
// its own files (a model in memory) keeps its own locks as well.
func kernelTry(t fsops.Table, h fsops.Handle, shared bool) (bool, error) {
	if l, ok := t.(fsops.Locker); ok {
		return l.TryLock(h, shared)
	}
	return osTryLock(h, shared)
}

// kernelWaitFor blocks until the lock is granted. The operating system's wait can't
// be interrupted without a signal, so ctx ends only the model's.
func kernelWaitFor(ctx context.Context, t fsops.Table, h fsops.Handle, shared bool) error {
	l, ok := t.(fsops.Locker)
	if !ok {
		return osLock(h, shared)
	}
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		ok, err := l.TryLock(h, shared)
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// kernelUnlock must come before the close: a child between fork and exec holds a
// copy of the descriptor, and a close alone would leave the lock with it.
func kernelUnlock(t fsops.Table, h fsops.Handle) error {
	if l, ok := t.(fsops.Locker); ok {
		return l.Unlock(h)
	}
	return osUnlock(h)
}
