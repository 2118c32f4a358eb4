package lockx

import "time"

// Options says how to acquire. The zero value waits for an exclusive lock as
// long as the context lets it.
type Options struct {
	// Shared lets other shared holders in at the same time. They leave no record.
	Shared bool
	// Purpose is shown to those who wait; cut to 64 bytes. Optional.
	Purpose string
	// Timeout bounds the wait: 0 as long as the context, negative one try
	// without waiting. When it ends, the error is a [*BusyError].
	Timeout time.Duration
}
