package fsx

import (
	"io/fs"
	"strings"
	"sync"
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

// errno turns an NTSTATUS into the code of GetLastError.
func errno(err error) error {
	st, ok := err.(windows.NTStatus)
	if !ok {
		return err
	}
	if st == windows.STATUS_DELETE_PENDING {
		return errDeletePending
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
	info := fsops.Info{
		ID:    fsops.ID{Dev: uint64(i.VolumeSerialNumber), Ino: [2]uint64{uint64(i.FileIndexHigh)<<32 | uint64(i.FileIndexLow)}},
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

// fileIDBothDirInfo is FILE_ID_BOTH_DIR_INFO up to its name.
type fileIDBothDirInfo struct {
	nextEntryOffset uint32
	fileIndex       uint32
	times           [4]int64
	endOfFile       int64
	allocationSize  int64
	attributes      uint32
	nameLength      uint32
	eaSize          uint32
	shortNameLength uint32
	shortName       [12]uint16
	fileID          uint64
	name            [1]uint16
}

func (osTable) List(dir fsops.Handle, max int) ([]fsops.Entry, error) {
	// A handle of its own: the position in dir is shared by all its users.
	h, err := openOneDir(dir, "")
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(windows.Handle(h))
	buf := make([]uint64, 8<<10) // aligned as the records are
	size := uint32(len(buf) * 8)
	class := uint32(windows.FileIdBothDirectoryRestartInfo)
	var es []fsops.Entry
	for len(es) <= max {
		err := windows.GetFileInformationByHandleEx(windows.Handle(h), class, (*byte)(unsafe.Pointer(&buf[0])), size)
		if err == windows.ERROR_NO_MORE_FILES {
			break
		}
		if err != nil {
			return nil, err
		}
		class = windows.FileIdBothDirectoryInfo
		for off := uint32(0); len(es) <= max; {
			e := (*fileIDBothDirInfo)(unsafe.Add(unsafe.Pointer(&buf[0]), off))
			name := windows.UTF16ToString(unsafe.Slice(&e.name[0], e.nameLength/2))
			if name != "." && name != ".." {
				es = append(es, fsops.Entry{Name: name, Kind: kindOfAttributes(e.attributes)})
			}
			if e.nextEntryOffset == 0 {
				break
			}
			off += e.nextEntryOffset
		}
	}
	return es, nil
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

// Chmod knows one bit: whether the file can be written.
func (osTable) Chmod(h fsops.Handle, mode fs.FileMode) error {
	info := fileBasicInfo{attributes: windows.FILE_ATTRIBUTE_NORMAL}
	if mode&0o200 == 0 {
		info.attributes = windows.FILE_ATTRIBUTE_READONLY
	}
	return windows.SetFileInformationByHandle(windows.Handle(h), windows.FileBasicInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
}

func (osTable) Sync(h fsops.Handle, mode fsops.SyncMode) error {
	if mode == fsops.SyncBarrier {
		return windows.ERROR_NOT_SUPPORTED
	}
	return windows.FlushFileBuffers(windows.Handle(h))
}

func (osTable) SyncDir(h fsops.Handle) error { return windows.FlushFileBuffers(windows.Handle(h)) }

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

func setName(h fsops.Handle, class uint32, flags uint32, dir fsops.Handle, name string) error {
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

// plainRename remembers, by volume serial number, the volumes that answered
// that they don't know the POSIX rename (before Windows 10 1607, ReFS, Wine).
// It only saves a failing call; a volume that is not in it is asked.
var plainRename sync.Map

// renameThrough renames an open file. The POSIX form replaces a target that
// others have open with shared deletion, and read-only ones.
func renameThrough(h, dir fsops.Handle, name string, replace bool) error {
	i, err := byHandle(h)
	if err != nil {
		return err
	}
	if _, plain := plainRename.Load(i.VolumeSerialNumber); !plain {
		flags := uint32(windows.FILE_RENAME_POSIX_SEMANTICS | windows.FILE_RENAME_IGNORE_READONLY_ATTRIBUTE)
		if replace {
			flags |= windows.FILE_RENAME_REPLACE_IF_EXISTS
		}
		err := setName(h, fileRenameInformationEx, flags, dir, name)
		switch err {
		case windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_PARAMETER:
			plainRename.Store(i.VolumeSerialNumber, true)
		default:
			return err
		}
	}
	flags := uint32(0)
	if replace {
		flags = 1
	}
	return setName(h, fileRenameInformation, flags, dir, name)
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
	return withSource(file, fromDir, from, windows.DELETE, func(h fsops.Handle) error { return renameThrough(h, toDir, to, true) })
}

func (osTable) RenameNew(file, fromDir fsops.Handle, from string, toDir fsops.Handle, to string) error {
	return withSource(file, fromDir, from, windows.DELETE, func(h fsops.Handle) error { return renameThrough(h, toDir, to, false) })
}

func (osTable) Link(fromDir fsops.Handle, from string, toDir fsops.Handle, to string) error {
	return withSource(fsops.None, fromDir, from, windows.FILE_WRITE_ATTRIBUTES, func(h fsops.Handle) error {
		return setName(h, fileLinkInformation, 0, toDir, to)
	})
}

func (osTable) Unlink(dir fsops.Handle, name string) error {
	return remove(dir, name, windows.FILE_NON_DIRECTORY_FILE)
}

func (osTable) Rmdir(dir fsops.Handle, name string) error {
	return remove(dir, name, windows.FILE_DIRECTORY_FILE)
}

// remove deletes by handle: the name is gone at once with the POSIX form, and
// with the last handle otherwise.
func remove(dir fsops.Handle, name string, option uint32) error {
	h, err := ntOpen(dir, name, windows.DELETE|windows.SYNCHRONIZE, shareAll, windows.FILE_OPEN, openOptions|option)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(windows.Handle(h))
	var iosb windows.IO_STATUS_BLOCK
	flags := uint32(windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_POSIX_SEMANTICS | windows.FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE)
	err = errno(windows.NtSetInformationFile(windows.Handle(h), &iosb, (*byte)(unsafe.Pointer(&flags)), 4, fileDispositionInformationEx))
	switch err {
	case windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_PARAMETER:
		yes := byte(1)
		err = errno(windows.NtSetInformationFile(windows.Handle(h), &iosb, &yes, 1, fileDispositionInformation))
	}
	return err
}

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
