//go:build linux || darwin

package fsx

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

var allSteps = []Step{
	StepOpen, StepCreate, StepWrite, StepChmod, StepSync, StepRename, StepLink, StepSyncDir, StepUnlink, StepMkdir, StepStat, StepList, StepClose,
}

// The lists are exact: every row says what an error is at the steps it names,
// and what it is at all others.
func TestUnixErrorsAreClassifiedByStep(t *testing.T) {
	for _, row := range []struct {
		errno     syscall.Errno
		at        []Step
		class     Class
		elsewhere Class
	}{
		{syscall.EEXIST, allSteps, Exists, Final},
		{syscall.ENOTEMPTY, allSteps, Exists, Final},
		{syscall.ENOENT, []Step{StepSyncDir}, Unsupported, NotFound}, // restic/restic#3720
		{syscall.ENOSPC, allSteps, NoSpace, Final},
		{syscall.EDQUOT, allSteps, NoSpace, Final},
		{syscall.EROFS, allSteps, ReadOnly, Final},
		{syscall.EINTR, allSteps, Transient, Final},
		{syscall.EAGAIN, allSteps, Transient, Final},
		{syscall.ENOSYS, allSteps, Unsupported, Final},
		{syscall.ENOTSUP, allSteps, Unsupported, Final}, // golang/go#64215
		{syscall.EOPNOTSUPP, allSteps, Unsupported, Final},
		{syscall.ENOTTY, allSteps, Unsupported, Final},
		{syscall.EINVAL, []Step{StepSync, StepSyncDir, StepRename}, Unsupported, Final},
		{syscall.EBADF, []Step{StepSyncDir}, Unsupported, Final},
		{syscall.EPERM, []Step{StepLink}, Unsupported, Final},
		{syscall.EACCES, []Step{StepLink}, Unsupported, Final},
		{syscall.EMLINK, []Step{StepLink}, Unsupported, Final},
		{syscall.EIO, nil, Final, Final}, // never taken for a missing feature
		{syscall.EBUSY, nil, Final, Final},
		{syscall.EXDEV, nil, Final, Final},
		{syscall.ELOOP, nil, Final, Final},
		{syscall.EISDIR, nil, Final, Final},
		{syscall.ENOTDIR, nil, Final, Final},
		{syscall.ENAMETOOLONG, nil, Final, Final},
		{syscall.EMFILE, nil, Final, Final},
		{syscall.ETXTBSY, nil, Final, Final},
	} {
		for _, step := range allSteps {
			want := row.elsewhere
			for _, s := range row.at {
				if s == step {
					want = row.class
				}
			}
			wrapped := fmt.Errorf("outer: %w", &fs.PathError{Op: "x", Path: "y", Err: row.errno})
			for _, err := range []error{row.errno, wrapped, errors.Join(errors.ErrUnsupported, row.errno)} {
				if got := Classify(step, err); got != want {
					t.Errorf("%v at %v: %v, want %v", err, step, got, want)
				}
			}
		}
	}
}

func TestErrorsThatAreNotTheSystemsAreFinal(t *testing.T) {
	for _, err := range []error{nil, errors.New("x"), ErrLink, fs.ErrExist, fs.ErrNotExist, errors.ErrUnsupported} {
		for _, step := range allSteps {
			if got := Classify(step, err); got != Final {
				t.Errorf("%v at %v: %v", err, step, got)
			}
		}
	}
}
