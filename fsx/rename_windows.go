package fsx

import (
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/landfast/landfast/internal/fsops"
)

// Information classes of NtSetInformationFile.
const (
	fileRenameInformation        = 10
	fileLinkInformation          = 11
	fileDispositionInformation   = 13
	fileDispositionInformationEx = 64
	fileRenameInformationEx      = 65
)

// nameInfo is FILE_RENAME_INFORMATION and FILE_LINK_INFORMATION, with room for
// the longest single name.
type nameInfo struct {
	flags  uint32 // of the Ex form; its low byte is ReplaceIfExists of the plain one
	root   windows.Handle
	length uint32 // of name, in bytes
	name   [256]uint16
}

// setName renames or links an open file to name in dir; dir 0 is the directory
// that the file is in.
func setName(h fsops.Handle, class, flags uint32, dir fsops.Handle, name string) error {
	u, err := windows.UTF16FromString(name)
	if err != nil {
		return err
	}
	info := nameInfo{flags: flags, root: windows.Handle(dir), length: uint32(len(u)-1) * 2}
	if copy(info.name[:], u) != len(u) {
		return windows.ERROR_FILENAME_EXCED_RANGE
	}
	var iosb windows.IO_STATUS_BLOCK
	// The length must cover the whole declared structure, whose name has room for
	// one character and padding, even where the name is shorter.
	size := max(uint32(unsafe.Offsetof(info.name))+info.length, 24)
	return errno(windows.NtSetInformationFile(windows.Handle(h), &iosb, (*byte)(unsafe.Pointer(&info)), size, class))
}

// renameForm is a way to ask for a rename.
type renameForm uint8

// The forms, best first.
const (
	// posixRename replaces a target that others have open with shared deletion,
	// and read-only ones. Unknown before Windows 10 1809, on ReFS and in Wine
	// (rust-lang/rust#137499).
	posixRename renameForm = iota
	// plainRename replaces what nobody has open.
	plainRename
	// bareRename is plainRename without a directory handle, which SMB refuses.
	// FILE_RENAME_INFORMATION documents that a name alone then stays in the
	// file's own directory, so it serves only there. Wine wants the handle.
	bareRename
)

// renameForms remembers, by volume serial number, the first form that the volume
// knew. It only saves failing calls; a volume that is not in it is asked.
type renameForms struct{ known sync.Map }

// rename calls set with one form after the other until one is known to the
// volume, and reports which that was.
func (f *renameForms) rename(volume uint32, sameDir bool, set func(renameForm) error) (renameForm, error) {
	form, last := posixRename, plainRename
	if sameDir {
		last = bareRename
	}
	if v, ok := f.known.Load(volume); ok {
		form = min(v.(renameForm), last)
	}
	for first := form; ; form++ {
		err := set(form)
		if !unknownRequest(err) {
			if form != first {
				f.known.Store(volume, form)
			}
			return form, err
		}
		if form == last {
			return form, err
		}
	}
}

// volumeForms is shared because the answer is the volume's, whoever asks.
var volumeForms renameForms

// renameThrough renames an open file.
func renameThrough(h, dir fsops.Handle, name string, sameDir, replace bool) error {
	i, err := byHandle(h)
	if err != nil {
		return err
	}
	form, err := volumeForms.rename(i.VolumeSerialNumber, sameDir, func(form renameForm) error {
		var flags uint32
		if replace {
			flags = windows.FILE_RENAME_REPLACE_IF_EXISTS // 1, as the plain form's ReplaceIfExists
		}
		switch form {
		case posixRename:
			flags |= windows.FILE_RENAME_POSIX_SEMANTICS | windows.FILE_RENAME_IGNORE_READONLY_ATTRIBUTE
			return setName(h, fileRenameInformationEx, flags, dir, name)
		case bareRename:
			return setName(h, fileRenameInformation, flags, 0, name)
		}
		return setName(h, fileRenameInformation, flags, dir, name)
	})
	if replace && err == windows.ERROR_ACCESS_DENIED {
		return explainDenied(dir, name, form)
	}
	return err
}

// explainDenied looks once at a target that could not be replaced, because
// access denied may mean a holder that lets go, or a no that waiting can't turn
// (isaacs/node-graceful-fs#98): a directory, or a read-only file where the form
// respects that.
func explainDenied(dir fsops.Handle, name string, form renameForm) error {
	info, err := osTable{}.Lstat(dir, name)
	switch {
	case err == nil && info.Kind == fsops.Dir:
		return syscall.EISDIR
	case err == nil && info.Mode&0o200 == 0 && form != posixRename:
		return syscall.EPERM
	}
	return windows.ERROR_ACCESS_DENIED
}

// withSource runs f with the handle of the entry, opening it where it is not
// open yet.
func withSource(file, dir fsops.Handle, name string, access uint32, f func(fsops.Handle) error) error {
	if file != fsops.None {
		return f(file)
	}
	h, err := ntOpen(dir, name, access|windows.SYNCHRONIZE|windows.FILE_READ_ATTRIBUTES, shareAll, windows.FILE_OPEN, openOptions)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(windows.Handle(h))
	return f(h)
}

func (osTable) Rename(file, fromDir fsops.Handle, from string, toDir fsops.Handle, to string) error {
	return withSource(file, fromDir, from, windows.DELETE, func(h fsops.Handle) error {
		return renameThrough(h, toDir, to, fromDir == toDir, true)
	})
}

func (osTable) RenameNew(file, fromDir fsops.Handle, from string, toDir fsops.Handle, to string) error {
	return withSource(file, fromDir, from, windows.DELETE, func(h fsops.Handle) error {
		return renameThrough(h, toDir, to, fromDir == toDir, false)
	})
}

func (osTable) Link(fromDir fsops.Handle, from string, toDir fsops.Handle, to string) error {
	return withSource(fsops.None, fromDir, from, windows.FILE_WRITE_ATTRIBUTES, func(h fsops.Handle) error {
		return setName(h, fileLinkInformation, 0, toDir, to)
	})
}
