package fsx

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/landfast/landfast/internal/fsops"
)

// Info, Entry, Kind and ID describe files and directory entries. Kind of a
// Windows reparse point is Symlink, whatever its tag.
type (
	Info  = fsops.Info
	Entry = fsops.Entry
	Kind  = fsops.Kind
	ID    = fsops.ID
)

// Root is an open directory that serves as a trust boundary: every path given
// to it is relative, slash-separated and stays below it, and no element may be
// a link, not even one that points back inside. Links above the root are the
// caller's business and allowed. A Root is safe for concurrent use; it stays
// with the directory it opened when that is renamed.
type Root struct {
	t    fsops.Table
	h    fsops.Handle
	path string
}

// OpenRoot opens the directory at path. Close it when done.
func OpenRoot(path string) (*Root, error) {
	return OpenRootOn(osTable{}, path)
}

// OpenRootOn is OpenRoot over another table of operations. Only this module can
// make one: its tests put recording, failing and in-memory filesystems here.
func OpenRootOn(t fsops.Table, path string) (*Root, error) {
	h, err := t.OpenRoot(path)
	if err != nil {
		return nil, pathError(StepOpen, path, err)
	}
	return &Root{t: t, h: h, path: path}, nil
}

// Path is the path that the root was opened by.
func (r *Root) Path() string { return r.path }

// Close closes the root. Directories and files opened through it stay open.
func (r *Root) Close() error { return pathError(StepClose, r.path, r.t.Close(r.h)) }

// Dir opens the directory rel below the root, "." for the root itself. Errors:
// fs.ErrNotExist, [ErrLink], [ErrNotDir], [ErrBadName].
func (r *Root) Dir(rel string) (*Dir, error) {
	if err := checkRel(rel); err != nil {
		return nil, err
	}
	full := filepath.Join(r.path, filepath.FromSlash(rel))
	h, err := r.t.OpenDir(r.h, rel)
	if err != nil {
		return nil, pathError(StepOpen, full, r.explain(rel, err))
	}
	return &Dir{t: r.t, h: h, path: full}, nil
}

// explain finds the element on the way to rel that is a link or no directory.
// The operating systems answer ELOOP or ENOTDIR for either; people want to know
// which. It only words an error, so a race costs nothing.
func (r *Root) explain(rel string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || rel == "." {
		return err
	}
	h, at := r.h, ""
	defer func() {
		if h != r.h {
			_ = r.t.Close(h)
		}
	}()
	for e := range strings.SplitSeq(rel, "/") {
		at = path.Join(at, e)
		info, serr := r.t.Lstat(h, e)
		if serr != nil {
			return err
		}
		if info.Kind != fsops.Dir {
			return &elementError{at: at, kind: wrongKind(info.Kind, fsops.Dir), err: err}
		}
		next, oerr := r.t.OpenDir(h, e)
		if oerr != nil {
			return err
		}
		if h != r.h {
			_ = r.t.Close(h)
		}
		h = next
	}
	return err
}

// elementError says which element of a path is of the wrong kind.
type elementError struct {
	at   string
	kind error
	err  error
}

func (e *elementError) Error() string   { return e.at + " " + e.kind.Error() }
func (e *elementError) Unwrap() []error { return []error{e.kind, e.err} }

// MkdirAll makes the directory rel and its missing parents below the root with
// perm (less the umask), syncs the parent of every directory it made, and
// returns rel opened. State after power loss, on nil error: all of them are
// there. On error, some may have been made.
func (r *Root) MkdirAll(rel string, perm fs.FileMode) (*Dir, []Degradation, error) {
	d, pending, err := r.MkdirAllUnsynced(rel, perm)
	var degraded []Degradation
	for _, p := range pending {
		if err == nil {
			var ds []Degradation
			ds, err = p.Sync()
			degraded = append(degraded, ds...)
		}
		_ = p.Close()
	}
	if err != nil && d != nil {
		_ = d.Close()
		d = nil
	}
	return d, degraded, err
}

// MkdirAllUnsynced is MkdirAll for a caller that has more to do before it
// flushes: it returns the parents that got a new entry, outermost first, opened.
// Nothing is durable before each of them was synced; the caller closes them,
// also when an error is returned.
func (r *Root) MkdirAllUnsynced(rel string, perm fs.FileMode) (d *Dir, pending []*Dir, err error) {
	if d, err = r.Dir(rel); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return d, nil, err
	}
	parent, err := r.Dir(".")
	if err != nil {
		return nil, nil, err
	}
	at := "."
	for e := range strings.SplitSeq(rel, "/") {
		at = path.Join(at, e)
		full := filepath.Join(r.path, filepath.FromSlash(at))
		merr := r.t.Mkdir(parent.h, e, perm)
		if merr != nil && Classify(StepMkdir, merr) != Exists {
			_ = parent.Close()
			return nil, pending, pathError(StepMkdir, full, merr)
		}
		h, oerr := r.t.OpenDir(parent.h, e)
		if oerr != nil {
			_ = parent.Close()
			return nil, pending, pathError(StepOpen, full, r.explain(at, oerr))
		}
		if merr == nil {
			pending = append(pending, parent)
		} else {
			_ = parent.Close()
		}
		parent = &Dir{t: r.t, h: h, path: full}
	}
	return parent, pending, nil
}
