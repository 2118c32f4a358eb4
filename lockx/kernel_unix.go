//go:build unix && !solaris && !aix

package lockx

import (
	"golang.org/x/sys/unix"

	"github.com/landfast/landfast/internal/fsops"
)

// retryFlock loops over EINTR. flock belongs to the open file, unlike fcntl locks, which belong to the
// process and vanish when any descriptor of the file is closed.
func retryFlock(h fsops.Handle, how int) error {
	for {
		if err := unix.Flock(int(h), how); err != unix.EINTR {
			return err
		}
	}
}

func flockMode(shared bool) int {
	if shared {
		return unix.LOCK_SH
	}
	return unix.LOCK_EX
}

func osTryLock(h fsops.Handle, shared bool) (bool, error) {
	err := retryFlock(h, flockMode(shared)|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

func osLock(h fsops.Handle, shared bool) error { return retryFlock(h, flockMode(shared)) }

func osUnlock(h fsops.Handle) error { return retryFlock(h, unix.LOCK_UN) }
