package lockx

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/landfast/landfast/fsx"
)

// Errors that callers branch on. Each comes wrapped in one that names the path.
var (
	// ErrBusy: somebody else holds the lock. The error is a [*BusyError].
	ErrBusy = errors.New("is held by another")
	// ErrLost: the name no longer leads to the locked file, so somebody else
	// may hold "the" lock. Nothing protected by it may be committed any more.
	ErrLost = errors.New("the lock file was removed or replaced while it was held")
	// ErrUnstable: the lock file was removed or replaced during each of many tries.
	ErrUnstable = errors.New("the lock file keeps being removed or replaced")
	// ErrReleased: the handle no longer holds the lock.
	ErrReleased = errors.New("the lock was released")
	// ErrHardLinked: the lock file has a second name, so it may be somebody's data.
	ErrHardLinked = errors.New("has more than one name")
)

// BusyError says that the lock is held and, where that is known, by whom.
type BusyError struct {
	Path        string
	Holder      Record // as it introduced itself; only for people
	HolderKnown bool   // false for shared holders, programs that leave no record, and damaged records
}

// Error names the holder by process, host, purpose and time.
func (e *BusyError) Error() string {
	if !e.HolderKnown {
		return fmt.Sprintf("lock %s: is held by another process", e.Path)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "lock %s: is held by process %d", e.Path, e.Holder.PID)
	if e.Holder.Host != "" {
		fmt.Fprintf(&b, " on %s", e.Holder.Host)
	}
	if e.Holder.Purpose != "" {
		fmt.Fprintf(&b, " (%s)", e.Holder.Purpose)
	}
	if !e.Holder.Acquired.IsZero() {
		fmt.Fprintf(&b, " since %s", e.Holder.Acquired.Format(time.RFC3339))
	}
	return b.String()
}

// Unwrap makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Unwrap() error { return ErrBusy }

// lockError begins with the operation and names the file, once.
func lockError(op string, d *fsx.Dir, name string, err error) error {
	if pe, ok := err.(*fs.PathError); ok && pe.Path == filepath.Join(d.Path(), name) {
		return fmt.Errorf("%s: %w", op, err)
	}
	return fmt.Errorf("%s %s: %w", op, filepath.Join(d.Path(), name), err)
}
