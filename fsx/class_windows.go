package fsx

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// classifyErrno holds the Windows lists. Codes are those of GetLastError, to
// which NTSTATUS values are mapped.
func classifyErrno(step Step, err error) Class {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return Final
	}
	switch no {
	case windows.ERROR_FILE_EXISTS, windows.ERROR_ALREADY_EXISTS:
		return Exists
	case windows.ERROR_FILE_NOT_FOUND, windows.ERROR_PATH_NOT_FOUND:
		return NotFound
	case windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL:
		return NoSpace
	case windows.ERROR_WRITE_PROTECT:
		return ReadOnly
	case windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_PARAMETER:
		return Unsupported
	case windows.ERROR_INVALID_HANDLE:
		// A directory flush that the filesystem or a filter refuses
		// (hashicorp/consul#3409).
		if step == StepSyncDir {
			return Unsupported
		}
		return Final
	case windows.ERROR_ACCESS_DENIED:
		return classifyDenied(step)
	case windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION,
		windows.ERROR_BUSY,
		errDeletePending,
		// From the header list; no report of them was seen.
		windows.ERROR_FILE_SYSTEM_VIRTUALIZATION_BUSY,
		windows.ERROR_CLOUD_FILE_IN_USE, windows.ERROR_CLOUD_FILE_PROPERTY_LOCK_CONFLICT, windows.ERROR_CLOUD_FILE_REQUEST_TIMEOUT,
		windows.ERROR_OPLOCK_BREAK_IN_PROGRESS,
		windows.ERROR_USER_MAPPED_FILE: // a section of it is mapped
		return Transient
	case windows.ERROR_DIR_NOT_EMPTY:
		if step == StepUnlink { // a just deleted child is still pending
			return Transient
		}
		return Exists
	}
	return classifyInvented(step, no)
}

// classifyInvented sorts the errnos that Windows does not have and Go made up
// for it. Package os answers some of them, and so does the model that this
// module is tested on.
func classifyInvented(step Step, no syscall.Errno) Class {
	switch no {
	case syscall.EEXIST, syscall.ENOTEMPTY:
		return Exists
	case syscall.ENOSPC, syscall.EDQUOT:
		return NoSpace
	case syscall.EROFS:
		return ReadOnly
	case syscall.EINTR, syscall.EAGAIN:
		return Transient
	case syscall.ENOSYS, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOTTY:
		return Unsupported
	case syscall.EINVAL:
		if step == StepSync || step == StepSyncDir || step == StepRename {
			return Unsupported
		}
	}
	return Final
}

// errDeletePending is STATUS_DELETE_PENDING, which Win32 would fold into access
// denied.
const errDeletePending = syscall.Errno(303)

// classifyDenied: access denied is how Windows says that a reader, a scanner or
// a pending deletion is in the way, and also how it says no. Only where somebody
// else can be in the way is it worth waiting for. Nobody can be in the way of a
// new random name: there it is a directory that we may not write to. A directory
// or a read-only file in the target's place has an errno of its own here.
func classifyDenied(step Step) Class {
	switch step {
	case StepSyncDir:
		return Unsupported
	case StepRename, StepUnlink, StepOpen, StepStat:
		return Transient
	}
	return Final
}
