package fsx

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/landfast/landfast/internal/fsops"
)

// Errors that callers branch on. Each is wrapped in an error that names the path.
var (
	ErrLink       = errors.New("is a symbolic link or reparse point")
	ErrNotRegular = errors.New("is not a regular file")
	ErrNotDir     = errors.New("is not a directory")
	ErrTooLarge   = errors.New("is larger than the limit")
	ErrTooMany    = errors.New("has more entries than the limit")
	ErrBadName    = errors.New("is not a name that works on every platform")
	ErrChanged    = errors.New("is no longer the file that was looked at")
	ErrNeed       = errors.New("this filesystem can't give the guarantee asked for")
)

// State says where a failed publish left the name.
type State uint8

// The states of a failed publish.
const (
	// NotPublished: the name is as it was before the call.
	NotPublished State = iota
	// VisibleNotDurable: the new content is under the name, but power loss may
	// still bring the old state back.
	VisibleNotDurable
	// StateUnknown: the operating system's answer does not tell (a lost reply
	// of a network filesystem).
	StateUnknown
)

var stateNames = [...]string{"not published", "visible but not yet durable", "unknown"}

// String is the state in words.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// PublishError is the error of every failed Replace, PublishNew and write. It
// unwraps to the operating system's error.
type PublishError struct {
	Stage Step   // the step that failed
	State State  // where that leaves the name
	Path  string // the name
	Tmp   string // staged file that could not be removed, or ""
	Err   error
}

// Error begins with the step and says the state only where it is not the harmless one.
func (e *PublishError) Error() string {
	s := fmt.Sprintf("%s %s: %v", e.Stage, e.Path, e.Err)
	if e.State != NotPublished {
		s += " (new content: " + e.State.String() + ")"
	}
	if e.Tmp != "" {
		s += " (left behind: " + e.Tmp + ")"
	}
	return s
}

// Unwrap gives the cause.
func (e *PublishError) Unwrap() error { return e.Err }

// pathError names step and path of an error that did not touch any name.
func pathError(step Step, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: step.String(), Path: path, Err: err}
}

// wrongKind is the error for an entry of the wrong kind.
func wrongKind(k, want fsops.Kind) error {
	if k == fsops.Symlink {
		return ErrLink
	}
	if want == fsops.Dir {
		return ErrNotDir
	}
	return ErrNotRegular
}
