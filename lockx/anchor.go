package lockx

import (
	"context"
	"errors"
	"time"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/fsops"
)

// anchorPause is how often a busy directory is asked for again. Polling is good
// enough here: the lock on the file orders everybody, and only after that file
// was removed under a holder do two of them meet at the directory.
const anchorPause = 5 * time.Millisecond

// anchor is a lock on the directory itself. A lock file can be unlinked while it
// is held, and whoever makes a new one holds a lock as good as ours; the
// directory stays the same.
type anchor struct {
	t fsops.Table
	h fsops.Handle
}

// takeAnchor locks d through a descriptor of its own: flock belongs to the open
// file, and others in this process may use d. nil without an error means that
// this directory can't be locked.
func takeAnchor(ctx context.Context, d *fsx.Dir, once bool) (*anchor, error) {
	t, dir := d.Handle()
	if _, ok := t.(fsops.Locker); !ok && !osLocksDirs {
		return nil, nil
	}
	h, err := t.OpenDir(dir, ".")
	if err != nil {
		return nil, err
	}
	a := &anchor{t: t, h: h}
	for {
		ok, err := kernelTry(t, h, false)
		switch {
		case ok:
			return a, nil
		case err != nil && dirLockUnsupported(err):
			return nil, a.t.Close(a.h)
		case err != nil:
			return nil, errors.Join(err, a.t.Close(a.h))
		case once:
			return nil, errors.Join(ErrBusy, a.t.Close(a.h))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), a.t.Close(a.h))
		case <-time.After(anchorPause):
		}
	}
}

// drop unlocks before it closes, as for every lock; see [kernelUnlock].
func (a *anchor) drop() error {
	if a == nil {
		return nil
	}
	return errors.Join(kernelUnlock(a.t, a.h), a.t.Close(a.h))
}
