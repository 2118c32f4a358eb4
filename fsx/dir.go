package fsx

import (
	"context"
	"io/fs"
	"math"
	"path/filepath"
	"sync"

	"github.com/landfast/landfast/internal/fsops"
)

// Dir is an open directory below a [Root]. Its methods take single names, never
// paths, so nothing on the way can be swapped. A Dir stays with the directory
// it opened when that is renamed. It is safe for concurrent use; close it when done.
type Dir struct {
	t    fsops.Table
	h    fsops.Handle
	path string

	fsOnce sync.Once
	fsType string // guarded by fsOnce
}

// Path is the path of the directory when it was opened, for messages.
func (d *Dir) Path() string { return d.path }

// Handle gives the table and the handle below, for the packages of this module
// that lock the directory. The handle belongs to d.
func (d *Dir) Handle() (fsops.Table, fsops.Handle) { return d.t, d.h }

// Close closes the directory.
func (d *Dir) Close() error { return pathError(StepClose, d.path, d.t.Close(d.h)) }

// FSType is the filesystem's short name ("ext4", "tmpfs", "ntfs"), or "" where
// it can't be told.
func (d *Dir) FSType() string {
	d.fsOnce.Do(func() { d.fsType, _ = d.t.FSType(d.h) })
	return d.fsType
}

// Guarantee is the strongest promise this directory's filesystem keeps.
func (d *Dir) Guarantee() Guarantee { return guaranteeOf(d.FSType()) }

// Sync makes the entries of the directory durable: names created, replaced and
// removed in it before the call. Where the filesystem has no such thing, it
// returns nil with the degradation; a real failure (EIO, ENOSPC) is an error
// and must not be tried again.
func (d *Dir) Sync() ([]Degradation, error) {
	err := d.t.SyncDir(d.h)
	if err == nil {
		return nil, nil
	}
	if Classify(StepSyncDir, err) == Unsupported {
		return []Degradation{{StepSyncDir, err, "this filesystem has no directory sync"}}, nil
	}
	return nil, pathError(StepSyncDir, d.path, err)
}

// Lstat tells about the entry name without following it. fs.ErrNotExist where
// there is none.
func (d *Dir) Lstat(name string) (Info, error) {
	if err := CheckName(name); err != nil {
		return Info{}, err
	}
	info, err := d.lstat(name, Retry{})
	return info, pathError(StepStat, d.join(name), err)
}

// lstat waits, within r, for an entry whose deletion is pending on Windows.
func (d *Dir) lstat(name string, r Retry) (info Info, err error) {
	_, _, err = r.do(context.Background(), StepStat, func() (err error) {
		info, err = d.t.Lstat(d.h, name)
		return err
	})
	return info, err
}

// Stat tells about the directory itself.
func (d *Dir) Stat() (Info, error) {
	info, err := d.t.Stat(d.h)
	return info, pathError(StepStat, d.path, err)
}

// List gives the directory's entries in no particular order, [ErrTooMany] if
// there are more than max.
func (d *Dir) List(max int) ([]Entry, error) {
	max = min(max, math.MaxInt-1) // the table reads one more to see that there are too many
	es, err := d.t.List(d.h, max)
	if err != nil {
		return nil, pathError(StepList, d.path, err)
	}
	if len(es) > max {
		return nil, pathError(StepList, d.path, ErrTooMany)
	}
	return es, nil
}

// Remove removes the name if it still is the file that id was taken of, and
// answers [ErrChanged] otherwise. It does not remove directories and does not
// sync: the file may be back after power loss.
func (d *Dir) Remove(name string, id ID) error {
	if err := CheckName(name); err != nil {
		return err
	}
	info, err := d.Lstat(name)
	if err != nil {
		return err
	}
	if info.ID != id {
		return pathError(StepUnlink, d.join(name), ErrChanged)
	}
	_, _, err = Retry{}.do(context.Background(), StepUnlink, func() error { return d.t.Unlink(d.h, name) })
	return pathError(StepUnlink, d.join(name), err)
}

// MoveNew moves the entry name, whatever it is (a link moves as a link), to
// newName in to, never over something that exists (fs.ErrExist), and makes both
// directories durable, the receiving one first, so that power loss leaves one
// of the names or both, never none. Where the filesystem has no no-replace
// rename, a regular file moves by a second link; anything else is an error that
// is errors.ErrUnsupported.
func (d *Dir) MoveNew(ctx context.Context, name string, to *Dir, newName string, r Retry) (Receipt, error) {
	for _, n := range []string{name, newName} {
		if err := CheckName(n); err != nil {
			return Receipt{}, &PublishError{Stage: StepRename, Path: to.join(quoteName(newName)), Err: err}
		}
	}
	rec := Receipt{Guarantee: min(d.Guarantee(), to.Guarantee())}
	ds, err := publishNew(ctx, d, fsops.None, name, to, newName, r, &rec)
	if err != nil {
		return Receipt{}, err
	}
	rec.degrade(Ordered, ds...)
	dirs := []*Dir{to, d}
	if to == d {
		dirs = dirs[:1]
	}
	for _, x := range dirs {
		ds, err := x.Sync()
		if err != nil {
			return Receipt{}, &PublishError{Stage: StepSyncDir, State: VisibleNotDurable, Path: to.join(newName), Err: err}
		}
		rec.degrade(Ordered, ds...)
	}
	return rec, nil
}

// RemoveDir removes the empty directory name. It does not sync.
func (d *Dir) RemoveDir(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	_, _, err := Retry{}.do(context.Background(), StepUnlink, func() error { return d.t.Rmdir(d.h, name) })
	return pathError(StepUnlink, d.join(name), err)
}

func (d *Dir) join(name string) string { return filepath.Join(d.path, name) }

// mkdir and others that need a mode pass only permission bits.
func permOnly(m fs.FileMode) fs.FileMode { return m & fs.ModePerm }
