//go:build unix

package fsx

import (
	"errors"
	"syscall"
)

// classifyErrno holds the Unix lists.
func classifyErrno(step Step, err error) Class {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return Final
	}
	if no == syscall.EOPNOTSUPP { // another number than ENOTSUP on macOS, the same on Linux
		return Unsupported
	}
	switch no {
	case syscall.EEXIST, syscall.ENOTEMPTY: // XFS answers EEXIST where ext4 answers ENOTEMPTY
		return Exists
	case syscall.ENOENT:
		if step == StepSyncDir { // macOS answers so for a directory on SMB (restic/restic#3720)
			return Unsupported
		}
		return NotFound
	case syscall.ENOSPC, syscall.EDQUOT:
		return NoSpace
	case syscall.EROFS:
		return ReadOnly
	case syscall.EINTR, syscall.EAGAIN:
		return Transient
	case syscall.ENOSYS, syscall.ENOTSUP, syscall.ENOTTY:
		return Unsupported
	case syscall.EINVAL:
		// fsync(2): the descriptor is of a kind that does not support it.
		// rename(2): the filesystem does not know the flag.
		if step == StepSync || step == StepSyncDir || step == StepRename {
			return Unsupported
		}
	case syscall.EBADF:
		if step == StepSyncDir { // an O_PATH descriptor
			return Unsupported
		}
	case syscall.EPERM, syscall.EACCES, syscall.EMLINK:
		// link(2): FAT, exFAT and Android's sdcardfs know no hard links.
		if step == StepLink {
			return Unsupported
		}
	}
	return Final
}
