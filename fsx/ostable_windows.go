package fsx

import (
	"io/fs"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/landfast/landfast/internal/fsops"
)

// osTable is the operating system. Every name is opened by NtCreateFile relative
// to its directory's handle and without following reparse points, so nothing on
// the way can be swapped.
type osTable struct{}

const (
	shareAll  = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	dirAccess = windows.FILE_LIST_DIRECTORY | windows.FILE_TRAVERSE | windows.FILE_READ_ATTRIBUTES | windows.SYNCHRONIZE
	// dirWrite is what FlushFileBuffers needs of a directory handle; on a handle
	// for reading it answers access denied.
	dirWrite = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA // that is, add file and add subdirectory

	openOptions = windows.FILE_SYNCHRONOUS_IO_NONALERT | windows.FILE_OPEN_REPARSE_POINT | windows.FILE_OPEN_FOR_BACKUP_INTENT
)

// errno turns an NTSTATUS into the code of GetLastError. Two statuses that Win32
// folds into access denied keep their meaning: one is worth waiting for, the
// other never is.
func errno(err error) error {
	st, ok := err.(windows.NTStatus)
	if !ok {
		return err
	}
	switch st {
	case windows.STATUS_DELETE_PENDING:
		return errDeletePending
	case windows.STATUS_FILE_IS_A_DIRECTORY:
		return syscall.EISDIR
	}
	return st.Errno()
}

// ntOpen opens or creates name below dir; "" is dir itself.
func ntOpen(dir fsops.Handle, name string, access, share, disposition, options uint32) (fsops.Handle, error) {
	object, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return fsops.None, err
	}
	oa := windows.OBJECT_ATTRIBUTES{
		RootDirectory: windows.Handle(dir),
		ObjectName:    object,
		Attributes:    windows.OBJ_CASE_INSENSITIVE,
	}
	oa.Length = uint32(unsafe.Sizeof(oa))
	var h windows.Handle
	var iosb windows.IO_STATUS_BLOCK
	err = windows.NtCreateFile(&h, access, &oa, &iosb, nil, windows.FILE_ATTRIBUTE_NORMAL, share, disposition, options, 0, 0)
	if err != nil {
		return fsops.None, errno(err)
	}
	return fsops.Handle(h), nil
}

func byHandle(h fsops.Handle) (i windows.ByHandleFileInformation, err error) {
	err = windows.GetFileInformationByHandle(windows.Handle(h), &i)
	return i, err
}

// refuseLink closes a handle that turned out to be a reparse point.
func refuseLink(h fsops.Handle) (fsops.Handle, error) {
	i, err := byHandle(h)
	if err == nil && i.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 {
		err = windows.ERROR_CANT_ACCESS_FILE
	}
	if err != nil {
		_ = windows.CloseHandle(windows.Handle(h))
		return fsops.None, err
	}
	return h, nil
}

func (osTable) OpenRoot(path string) (fsops.Handle, error) {
	full, err := windows.FullPath(path)
	if err != nil {
		return fsops.None, err
	}
	if len(full) >= 240 && !strings.HasPrefix(full, `\\`) { // beyond MAX_PATH only this form opens
		full = `\\?\` + full
	}
	p, err := windows.UTF16PtrFromString(full)
	if err != nil {
		return fsops.None, err
	}
	open := func(access uint32) (windows.Handle, error) {
		return windows.CreateFile(p, access, shareAll, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	}
	h, err := open(dirAccess | dirWrite)
	if err == windows.ERROR_ACCESS_DENIED || err == windows.ERROR_WRITE_PROTECT {
		h, err = open(dirAccess)
	}
	if err != nil {
		return fsops.None, err
	}
	i, err := byHandle(fsops.Handle(h))
	if err == nil && i.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY == 0 {
		err = windows.ERROR_DIRECTORY
	}
	if err != nil {
		_ = windows.CloseHandle(h)
		return fsops.None, err
	}
	return fsops.Handle(h), nil
}

func (osTable) OpenDir(dir fsops.Handle, rel string) (fsops.Handle, error) {
	if rel == "." {
		return openOneDir(dir, "")
	}
	at := dir
	for e := range strings.SplitSeq(rel, "/") {
		h, err := openOneDir(at, e)
		if at != dir {
			_ = windows.CloseHandle(windows.Handle(at))
		}
		if err != nil {
			return fsops.None, err
		}
		at = h
	}
	return at, nil
}

func openOneDir(dir fsops.Handle, name string) (fsops.Handle, error) {
	const options = openOptions | windows.FILE_DIRECTORY_FILE
	h, err := ntOpen(dir, name, dirAccess|dirWrite, shareAll, windows.FILE_OPEN, options)
	if err == windows.ERROR_ACCESS_DENIED || err == windows.ERROR_WRITE_PROTECT {
		h, err = ntOpen(dir, name, dirAccess, shareAll, windows.FILE_OPEN, options)
	}
	if err != nil {
		return fsops.None, err
	}
	return refuseLink(h)
}

func (osTable) Mkdir(dir fsops.Handle, name string, _ fs.FileMode) error {
	h, err := ntOpen(dir, name, windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, shareAll, windows.FILE_CREATE, openOptions|windows.FILE_DIRECTORY_FILE)
	if err != nil {
		return err
	}
	return windows.CloseHandle(windows.Handle(h))
}

func (osTable) CreateExcl(dir fsops.Handle, name string, _ fs.FileMode) (fsops.Handle, error) {
	// DELETE, to rename through this handle; no sharing of writes, so that nobody
	// changes what is being staged.
	const access = windows.GENERIC_READ | windows.GENERIC_WRITE | windows.DELETE | windows.SYNCHRONIZE
	return ntOpen(dir, name, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_DELETE, windows.FILE_CREATE, openOptions|windows.FILE_NON_DIRECTORY_FILE)
}

func (osTable) OpenFile(dir fsops.Handle, name string, mode fsops.OpenMode, _ fs.FileMode) (fsops.Handle, error) {
	access, disposition := uint32(windows.GENERIC_READ|windows.SYNCHRONIZE), uint32(windows.FILE_OPEN)
	if mode != fsops.Read {
		access |= windows.GENERIC_WRITE
	}
	if mode == fsops.CreateReadWrite {
		disposition = windows.FILE_OPEN_IF
	}
	h, err := ntOpen(dir, name, access, shareAll, disposition, openOptions)
	if err != nil {
		return fsops.None, err
	}
	return refuseLink(h)
}

func (osTable) Stat(h fsops.Handle) (fsops.Info, error) {
	i, err := byHandle(h)
	if err != nil {
		return fsops.Info{}, err
	}
	id, err := fileID(h, i)
	if err != nil {
		return fsops.Info{}, err
	}
	info := fsops.Info{
		ID:    id,
		Kind:  kindOfAttributes(i.FileAttributes),
		Mode:  0o666,
		Size:  int64(i.FileSizeHigh)<<32 | int64(i.FileSizeLow),
		Mtime: time.Unix(0, i.LastWriteTime.Nanoseconds()),
		Nlink: uint64(i.NumberOfLinks),
	}
	if i.FileAttributes&windows.FILE_ATTRIBUTE_READONLY != 0 {
		info.Mode = 0o444
	}
	if info.Kind == fsops.Dir {
		info.Mode = 0o777
	}
	return info, nil
}

// fileID is the 128-bit id, as the 64-bit one is not unique on ReFS. Only a
// volume that does not know it gets the old one: falling back on any other
// error would give one file two identities.
func fileID(h fsops.Handle, i windows.ByHandleFileInformation) (fsops.ID, error) {
	var info struct { // FILE_ID_INFO
		volume uint64
		id     [2]uint64
	}
	err := windows.GetFileInformationByHandleEx(windows.Handle(h), windows.FileIdInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if unknownRequest(err) {
		return fsops.ID{Dev: uint64(i.VolumeSerialNumber), Ino: [2]uint64{uint64(i.FileIndexHigh)<<32 | uint64(i.FileIndexLow)}}, nil
	}
	return fsops.ID{Dev: info.volume, Ino: info.id}, err
}

// unknownRequest reports whether a filesystem, or a Windows that is too old,
// answered that it does not know what it was asked.
func unknownRequest(err error) bool {
	return err == windows.ERROR_INVALID_FUNCTION || err == windows.ERROR_NOT_SUPPORTED || err == windows.ERROR_INVALID_PARAMETER
}

func kindOfAttributes(a uint32) fsops.Kind {
	switch {
	case a&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0:
		return fsops.Symlink
	case a&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		return fsops.Dir
	}
	return fsops.Regular
}

func (t osTable) Lstat(dir fsops.Handle, name string) (fsops.Info, error) {
	h, err := ntOpen(dir, name, windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, shareAll, windows.FILE_OPEN, openOptions)
	if err != nil {
		return fsops.Info{}, err
	}
	defer windows.CloseHandle(windows.Handle(h))
	return t.Stat(h)
}

func at(off int64) *windows.Overlapped {
	return &windows.Overlapped{Offset: uint32(off), OffsetHigh: uint32(off >> 32)}
}

func (osTable) ReadAt(h fsops.Handle, p []byte, off int64) (int, error) {
	var n uint32
	err := windows.ReadFile(windows.Handle(h), p, &n, at(off))
	if err == windows.ERROR_HANDLE_EOF {
		err = nil
	}
	return int(n), err
}

func (osTable) WriteAt(h fsops.Handle, p []byte, off int64) (int, error) {
	var n uint32
	err := windows.WriteFile(windows.Handle(h), p, &n, at(off))
	return int(n), err
}

// fileBasicInfo is FILE_BASIC_INFO; zero times stay as they are.
type fileBasicInfo struct {
	times      [4]int64
	attributes uint32
	_          uint32
}

// Chmod knows one bit: whether the file can be written. The other attributes
// stay: a new file's archive bit is how a backup program finds it.
func (osTable) Chmod(h fsops.Handle, mode fs.FileMode) error {
	i, err := byHandle(h)
	if err != nil {
		return err
	}
	a := i.FileAttributes &^ windows.FILE_ATTRIBUTE_READONLY
	if mode&0o200 == 0 {
		a |= windows.FILE_ATTRIBUTE_READONLY
	}
	return setAttributes(h, a)
}

func setAttributes(h fsops.Handle, a uint32) error {
	if a == 0 {
		a = windows.FILE_ATTRIBUTE_NORMAL // 0 would mean "as they are"
	}
	info := fileBasicInfo{attributes: a}
	return windows.SetFileInformationByHandle(windows.Handle(h), windows.FileBasicInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
}

func (osTable) Sync(h fsops.Handle, mode fsops.SyncMode) error {
	if mode == fsops.SyncBarrier {
		return windows.ERROR_NOT_SUPPORTED
	}
	return windows.FlushFileBuffers(windows.Handle(h))
}

func (osTable) SyncDir(h fsops.Handle) error { return windows.FlushFileBuffers(windows.Handle(h)) }

func (osTable) FSType(h fsops.Handle) (string, error) {
	var name [64]uint16
	err := windows.GetVolumeInformationByHandle(windows.Handle(h), nil, 0, nil, nil, nil, &name[0], uint32(len(name)))
	if err != nil {
		return "", err
	}
	return strings.ToLower(windows.UTF16ToString(name[:])), nil
}

func (osTable) Close(h fsops.Handle) error { return windows.CloseHandle(windows.Handle(h)) }

var _ fsops.Table = osTable{}
