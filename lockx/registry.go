package lockx

import (
	"slices"
	"sync"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/fsops"
)

// The kernel knows open files, not goroutines, and gives no order among the
// handles of one process. The registry does both: who wants a lock takes a
// ticket in the queue of the file, and only admitted tickets turn to the kernel.
//
// A file id may be used again once the last handle is closed. Tickets in line
// keep no handle, so a queue may come to serve a stranger's file as well: that
// excludes too much for a moment, never too little, and what is locked in the
// end is checked against the name.
type registry struct {
	mu    sync.Mutex // guards files, every queue in it and every kernelWait
	files map[fileKey]*queue
}

// locks is process-wide because exclusion within the process is its purpose.
var locks = registry{files: map[fileKey]*queue{}}

type fileKey struct {
	table fsops.Table
	id    fsops.ID
}

type queue struct {
	key  fileKey
	refs int // tickets and kernel waits

	// admitted also keeps the files of forgotten handles reachable: the lock of
	// a Handle that nobody released lasts until the process ends (golang/go#16700).
	admitted  map[*ticket]struct{}
	exclusive bool // the one admitted ticket is exclusive
	line      []*ticket

	waits [2]*kernelWait // exclusive, shared
}

// ticket is one wish to hold the lock, and then the right to.
type ticket struct {
	q        *queue
	shared   bool
	file     *fsx.File     // nil while in line and while a kernelWait has it
	admitted chan struct{} // closed on admission
}

// enter takes a ticket; it is admitted at once where nobody is in the way or
// waits before it.
func (r *registry) enter(key fileKey, f *fsx.File, shared bool) *ticket {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.files[key]
	if q == nil {
		q = &queue{key: key, admitted: map[*ticket]struct{}{}}
		r.files[key] = q
	}
	q.refs++
	t := &ticket{q: q, shared: shared, file: f, admitted: make(chan struct{})}
	q.line = append(q.line, t)
	q.admit()
	return t
}

// leave gives the ticket up, waiting or admitted, and admits who is next.
func (r *registry) leave(t *ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(t.q.admitted, t)
	if i := slices.Index(t.q.line, t); i >= 0 {
		t.q.line = slices.Delete(t.q.line, i, i+1)
	}
	t.q.admit()
	r.unref(t.q)
}

// unref is called with mu held.
func (r *registry) unref(q *queue) {
	if q.refs--; q.refs == 0 {
		delete(r.files, q.key)
	}
}

// admit lets in, strictly in order, whoever is compatible with those inside; a
// reader behind a waiting writer waits as well.
func (q *queue) admit() {
	for len(q.line) > 0 {
		t := q.line[0]
		if len(q.admitted) > 0 && (q.exclusive || !t.shared) {
			return
		}
		q.line = slices.Delete(q.line, 0, 1)
		q.admitted[t] = struct{}{}
		q.exclusive = !t.shared
		close(t.admitted)
	}
}

func (t *ticket) isAdmitted() bool {
	select {
	case <-t.admitted:
		return true
	default:
		return false
	}
}
