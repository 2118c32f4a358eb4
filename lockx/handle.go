package lockx

import (
	"errors"
	"sync"

	"github.com/landfast/landfast/fsx"
)

// Handle is a held lock. Its methods are safe for concurrent use. A Handle that
// is forgotten without Release holds the lock until the process ends.
type Handle struct {
	d         *fsx.Dir
	name      string
	rec       Record
	recovered *Record
	written   bool // the record in the file is rec

	anchor *anchor // nil where not asked for or not possible

	mu sync.Mutex
	t  *ticket // guarded by mu; nil once released
}

// Recovered gives the record of the last exclusive holder if it ended without
// releasing the lock: what the lock protects may be half done. For a shared
// lock it stays that way until an exclusive holder comes. The record is not
// synced, so after power loss false proves nothing.
func (h *Handle) Recovered() (Record, bool) {
	if h.recovered == nil {
		return Record{}, false
	}
	return *h.recovered, true
}

// Record is what the file says of this holder; zero for a shared lock.
func (h *Handle) Record() Record { return h.rec }

// Verify reports whether the lock is still worth something: nil, or an error
// that is [ErrLost] when the file under the name was removed or replaced,
// [ErrReleased] after Release. Ask before each commit of what the lock protects.
func (h *Handle) Verify() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.t == nil {
		return lockError("verify lock", h.d, h.name, ErrReleased)
	}
	err := identity(h.d, h.name, h.t.file)
	if err == nil || errors.Is(err, ErrHardLinked) {
		return nil // a second name given while it is held takes nothing away
	}
	return lockError("verify lock", h.d, h.name, err)
}

// Release gives the lock up and leaves the file in place. A second call does
// nothing and returns nil. The lock is released whatever the error; an error
// about the record means that the next holder takes this one for crashed.
func (h *Handle) Release() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.t
	if t == nil {
		return nil
	}
	h.t = nil
	// The directory first: who waits for the file must not find it still held.
	aerr := h.anchor.drop()
	var werr error
	if h.written {
		r := h.rec
		r.Held = false
		_, werr = t.file.WriteAt(encodeRecord(r), slotAt)
	}
	err := errors.Join(aerr, werr, dropFile(t.file))
	locks.leave(t)
	if err != nil {
		return lockError("unlock", h.d, h.name, err)
	}
	return nil
}
