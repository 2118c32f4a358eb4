package handoff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff/ledger"
	"github.com/landfast/landfast/lockx"
)

// Code is what a caller must decide about a failure. It is also the error code
// in JSON.
type Code string

// The codes, with the exit status that a command gives.
const (
	Unwell     Code = "unwell"     // 1: the thing asked about is not well
	Usage      Code = "usage"      // 2: the call itself was wrong
	Stale      Code = "conflict"   // 3: look again: stale revision, recovery generation, fingerprint
	Busy       Code = "busy"       // 4: somebody holds the ledger; try again
	Refused    Code = "refused"    // 5: unsafe path, malformed, too large, damaged
	Filesystem Code = "filesystem" // 6: the operating system said no
)

// Exit is the process exit status that stands for the code.
func (c Code) Exit() int {
	switch c {
	case Unwell:
		return 1
	case Usage:
		return 2
	case Stale:
		return 3
	case Busy:
		return 4
	case Refused:
		return 5
	}
	return 6
}

// Error is the failure of every method of this package. Message names the
// field, file, limit or holder and never file content; Hint, if any, says what
// to do next and never holds a complete destructive command line.
type Error struct {
	Code    Code
	Message string
	Hint    string
	Err     error // the cause, may be nil
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

const (
	hintDoctor = "landfast handoff doctor says what is wrong, landfast handoff recover shows what can be restored"
	hintNewer  = "use the version of landfast that wrote it, or a newer one; this one leaves it untouched"
	hintResume = "run landfast handoff resume and decide again on what it shows"
)

// classify turns the errors of the layers below into an Error. doing is what
// was tried, as "record" or "read the ledger".
func classify(doing string, err error) error {
	if err == nil {
		return nil
	}
	var done *Error
	if errors.As(err, &done) {
		return err
	}
	e := &Error{Code: Filesystem, Message: doing + ": " + err.Error(), Err: err}
	var (
		conflict *ledger.Conflict
		invalid  *ledger.Error
		busy     *lockx.BusyError
		publish  *fsx.PublishError
	)
	switch {
	case errors.As(err, &conflict):
		e.Code, e.Hint = Stale, hintResume
	case errors.As(err, &invalid):
		e.Code = Refused
	case errors.As(err, &busy), errors.Is(err, context.DeadlineExceeded), errors.Is(err, lockx.ErrUnstable):
		e.Code, e.Hint = Busy, "another process is writing; try again in a moment, or see landfast handoff doctor"
	case errors.Is(err, fsx.ErrLink), errors.Is(err, fsx.ErrNotRegular), errors.Is(err, fsx.ErrNotDir),
		errors.Is(err, fsx.ErrBadName), errors.Is(err, fsx.ErrTooLarge), errors.Is(err, fsx.ErrTooMany):
		e.Code, e.Hint = Refused, hintDoctor
	case errors.Is(err, syscall.ENOSPC):
		e.Hint = "free some space; nothing was lost"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Hint = "nothing was changed; look at who owns " + stateDir + " and what its modes and the mount allow"
	}
	if errors.As(err, &publish) && publish.State != fsx.NotPublished {
		e.Code = Filesystem
		e.Hint = "the change may be visible, but whether it survives a power loss is unknown: resume before repeating it"
	}
	return e
}

func refusedf(hint, format string, args ...any) error {
	return &Error{Code: Refused, Message: fmt.Sprintf(format, args...), Hint: hint}
}
