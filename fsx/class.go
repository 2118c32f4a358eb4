package fsx

import "fmt"

// Class says what a caller can do about an error of the operating system.
type Class uint8

// The classes. Final is the zero value: an error that no list names is never
// retried and never taken for a missing feature.
const (
	Final       Class = iota // trying again can't help
	Transient                // somebody holds the file for a moment; worth a bounded retry
	Unsupported              // this filesystem has no such operation; another method may do
	Exists                   // the name is taken
	NotFound                 // the name, or a directory on the way, is not there
	NoSpace                  // disk, quota or inode table is full
	ReadOnly                 // the filesystem is mounted read-only
)

var classNames = [...]string{"final", "transient", "unsupported", "exists", "not found", "no space", "read-only"}

// String is the class's name.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class %d", uint8(c))
}

// Classify sorts an error that an operation of kind step met. The lists are
// exact and differ by platform and by step: EINVAL means "not supported" from a
// directory sync and from a no-replace rename, and a caller's mistake
// elsewhere; EIO is always Final, even from filesystems that use it for "not
// supported", because there it can't be told from a failing disk. A nil error
// is Final.
func Classify(step Step, err error) Class {
	if err == nil {
		return Final
	}
	return classifyErrno(step, err)
}
