package fsx

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/landfast/landfast/internal/fsops"
)

// Unlink removes a file or a reparse point, a junction included: what it leads
// to is not touched.
func (osTable) Unlink(dir fsops.Handle, name string) error {
	return remove(dir, name, false)
}

func (osTable) Rmdir(dir fsops.Handle, name string) error {
	return remove(dir, name, true)
}

// remove deletes by handle: the name is gone at once with the POSIX form, and
// with the last handle otherwise.
func remove(dir fsops.Handle, name string, wantDir bool) error {
	options := uint32(openOptions)
	if wantDir {
		options |= windows.FILE_DIRECTORY_FILE
	}
	h, err := ntOpen(dir, name, windows.DELETE|windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, shareAll, windows.FILE_OPEN, options)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(windows.Handle(h))
	i, err := byHandle(h)
	if err != nil {
		return err
	}
	// Win32 would say access denied for a directory, which sounds like somebody
	// who holds it for a moment.
	isDir := kindOfAttributes(i.FileAttributes) == fsops.Dir
	if isDir && !wantDir {
		return syscall.EISDIR
	}
	if wantDir && !isDir {
		return windows.ERROR_DIRECTORY
	}
	var iosb windows.IO_STATUS_BLOCK
	flags := uint32(windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_POSIX_SEMANTICS | windows.FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE)
	err = errno(windows.NtSetInformationFile(windows.Handle(h), &iosb, (*byte)(unsafe.Pointer(&flags)), 4, fileDispositionInformationEx))
	if !unknownRequest(err) {
		return err
	}
	return removePlain(dir, name, h, i.FileAttributes)
}

// removePlain deletes in the form of old. That one refuses read-only files, so
// the attribute goes first, and comes back where the file stays.
func removePlain(dir fsops.Handle, name string, h fsops.Handle, attributes uint32) error {
	dispose := func() error {
		var iosb windows.IO_STATUS_BLOCK
		yes := byte(1)
		return errno(windows.NtSetInformationFile(windows.Handle(h), &iosb, &yes, 1, fileDispositionInformation))
	}
	if attributes&windows.FILE_ATTRIBUTE_READONLY == 0 {
		return dispose()
	}
	w, err := ntOpen(dir, name, windows.FILE_WRITE_ATTRIBUTES|windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, shareAll, windows.FILE_OPEN, openOptions)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(windows.Handle(w))
	if err := sameFile(h, w); err != nil {
		return err
	}
	if err := setAttributes(w, attributes&^windows.FILE_ATTRIBUTE_READONLY); err != nil {
		return err
	}
	err = dispose()
	if err != nil {
		return errors.Join(err, setAttributes(w, attributes))
	}
	return nil
}

// sameFile refuses a name that became another file between two opens.
func sameFile(a, b fsops.Handle) error {
	ia, err := osTable{}.Stat(a)
	if err != nil {
		return err
	}
	ib, err := osTable{}.Stat(b)
	if err == nil && ia.ID != ib.ID {
		err = ErrChanged
	}
	return err
}
