//go:build unix && !solaris && !aix

package lockx

import (
	"errors"

	"golang.org/x/sys/unix"
)

// osLocksDirs: flock takes any open file.
const osLocksDirs = true

// dirLockUnsupported: NFS wants a descriptor for writing (EBADF), others know no
// such lock.
func dirLockUnsupported(err error) bool {
	for _, no := range []error{unix.EBADF, unix.EINVAL, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOLCK, unix.ENOSYS} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
