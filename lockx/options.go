package lockx

import "time"

// Options says how to acquire. The zero value waits for an exclusive lock as
// long as the context lets it.
type Options struct {
	// Shared lets other shared holders in at the same time. They leave no record.
	Shared bool
	// Anchored also locks the directory itself while the lock is held, so that
	// somebody who removes or replaces the lock file lets nobody else in (L2). It
	// is for a directory with one such lock: two anchored locks of one directory
	// exclude each other. It serves exclusive locks on Unix; where a directory
	// can't be locked (Windows, NFS through a descriptor for reading), and for
	// shared locks, it does nothing, and [Handle.Verify] is what is left.
	Anchored bool
	// Purpose is shown to those who wait; cut to 64 bytes. Optional.
	Purpose string
	// Timeout bounds the wait: 0 as long as the context, negative one try
	// without waiting. When it ends, the error is a [*BusyError].
	Timeout time.Duration
}
