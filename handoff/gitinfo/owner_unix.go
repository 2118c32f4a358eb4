//go:build unix

package gitinfo

import (
	"os"
	"syscall"
)

// foreignOwner reports whether path belongs to somebody else: what git calls
// dubious ownership.
func foreignOwner(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != os.Geteuid()
}
