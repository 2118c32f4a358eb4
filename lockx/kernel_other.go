//go:build !windows && (!unix || solaris || aix)

package lockx

import (
	"errors"

	"github.com/landfast/landfast/internal/fsops"
)

func osTryLock(fsops.Handle, bool) (bool, error) { return false, errors.ErrUnsupported }
func osLock(fsops.Handle, bool) error            { return errors.ErrUnsupported }
func osUnlock(fsops.Handle) error                { return errors.ErrUnsupported }
