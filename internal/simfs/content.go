package simfs

import (
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/landfast/landfast/internal/fsops"
)

// ReadAt reads live content.
func (f *FS) ReadAt(h fsops.Handle, p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, err := f.file(h)
	if err != nil {
		return 0, err
	}
	if x.n.kind == fsops.Dir {
		return 0, syscall.EISDIR
	}
	if off >= int64(len(x.n.data)) {
		return 0, nil
	}
	return copy(p, x.n.data[off:]), nil
}

// WriteAt changes live content.
func (f *FS) WriteAt(h fsops.Handle, p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, err := f.file(h)
	if err != nil {
		return 0, err
	}
	if !x.write {
		return 0, syscall.EBADF
	}
	if f.space >= 0 {
		if f.space == 0 {
			return 0, syscall.ENOSPC
		}
		p = p[:min(int64(len(p)), f.space)]
		f.space -= int64(len(p))
	}
	w := write{off: off, data: slices.Clone(p)}
	x.n.data = w.apply(x.n.data)
	x.n.pend = append(x.n.pend, w)
	f.now = f.now.Add(time.Millisecond)
	x.n.mtime = f.now
	return len(p), nil
}

func (w write) apply(b []byte) []byte {
	b = slices.Clone(b)
	if end := w.off + int64(len(w.data)); end > int64(len(b)) {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	copy(b[w.off:], w.data)
	return b
}

// Chmod sets the live mode.
func (f *FS) Chmod(h fsops.Handle, mode fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, err := f.file(h)
	if err != nil {
		return err
	}
	x.n.mode = mode
	return nil
}

// Sync makes content and mode of a file durable.
func (f *FS) Sync(h fsops.Handle, mode fsops.SyncMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	x, err := f.file(h)
	if err != nil {
		return err
	}
	if mode == fsops.SyncBarrier {
		return syscall.ENOTSUP
	}
	if f.SyncError != nil {
		if err := f.SyncError(); err != nil {
			x.n.pend = nil // marked clean, never written
			return err
		}
	}
	for _, w := range x.n.pend {
		x.n.durable = w.apply(x.n.durable)
	}
	x.n.pend, x.n.modeDur = nil, x.n.mode
	if f.model.Journal {
		f.commit(nil)
	}
	return nil
}

// SyncDir makes a directory's entries durable.
func (f *FS) SyncDir(h fsops.Handle) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, err := f.dir(h)
	if err != nil {
		return err
	}
	if f.model.NoDirSync {
		return syscall.EINVAL
	}
	if f.model.Journal {
		d = nil
	}
	f.commit(d)
	return nil
}

// commit makes the pending changes of d durable, of all directories if d is nil.
func (f *FS) commit(d *node) {
	var rest []*dirOp
	for _, op := range f.pending {
		if d != nil && op.dir != d {
			rest = append(rest, op)
			continue
		}
		op.done = true
		op.apply(op.dir.stable)
	}
	f.pending = rest
}

func (o *dirOp) apply(m map[string]*node) {
	if o.del != "" {
		delete(m, o.del)
	}
	if o.set != "" {
		m[o.set] = o.node
	}
}
