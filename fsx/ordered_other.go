//go:build !linux && !darwin

package fsx

import (
	"errors"
	"io/fs"
)

// writeOrdered: renameio does not exist on Windows; the staged path serves.
func writeOrdered(*Dir, string, []byte, fs.FileMode, bool) error { return errors.ErrUnsupported }
