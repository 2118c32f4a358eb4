package lockx

import (
	"errors"

	"golang.org/x/sys/windows"

	"github.com/landfast/landfast/internal/fsops"
)

// lockFile locks byte 0 and only that: the record behind it stays readable, and
// gofrs/flock locks the same byte.
func lockFile(h fsops.Handle, flags uint32) error {
	ev, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(ev)
	ol := windows.Overlapped{HEvent: ev}
	err = windows.LockFileEx(windows.Handle(h), flags, 0, 1, 0, &ol)
	if errors.Is(err, windows.ERROR_IO_PENDING) {
		// The handle was opened for overlapped work: ol must outlive the request.
		var n uint32
		err = windows.GetOverlappedResult(windows.Handle(h), &ol, &n, true)
	}
	return err
}

func lockFlags(shared bool) uint32 {
	if shared {
		return 0
	}
	return windows.LOCKFILE_EXCLUSIVE_LOCK
}

func osTryLock(h fsops.Handle, shared bool) (bool, error) {
	err := lockFile(h, lockFlags(shared)|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func osLock(h fsops.Handle, shared bool) error { return lockFile(h, lockFlags(shared)) }

func osUnlock(h fsops.Handle) error {
	return windows.UnlockFileEx(windows.Handle(h), 0, 1, 0, new(windows.Overlapped))
}
