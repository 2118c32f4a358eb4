//go:build !linux

package main

import (
	"io"
	"os"
)

// closedInput reports whether standard input is not open at all. Where the Go
// runtime put the null device in its place, that can't be told here.
func closedInput(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	_, err := f.Stat()
	return err != nil
}
