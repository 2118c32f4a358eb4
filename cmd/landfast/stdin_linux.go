package main

import (
	"io"
	"os"
	"syscall"
)

// closedInput reports whether the program was started without a standard input.
// The Go runtime then opens the null device in its place, which reads like an
// empty file and would empty the target. It opens it for writing too, which
// nobody who asks for an empty file by "</dev/null" does.
func closedInput(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	mine, err := f.Stat()
	if err != nil {
		return true // not open at all
	}
	null, err := os.Stat(os.DevNull)
	if err != nil || !os.SameFile(mine, null) {
		return false
	}
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_GETFL, 0)
	return errno == 0 && flags&syscall.O_ACCMODE == syscall.O_RDWR
}
