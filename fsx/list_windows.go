package fsx

import (
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/landfast/landfast/internal/fsops"
)

// fileFullDirInfo is FILE_FULL_DIR_INFO up to its name. The variant with file
// ids is not needed here, and some network redirectors don't know it.
type fileFullDirInfo struct {
	nextEntryOffset uint32
	fileIndex       uint32
	times           [4]int64
	endOfFile       int64
	allocationSize  int64
	attributes      uint32
	nameLength      uint32 // in bytes
	eaSize          uint32
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
	class := uint32(windows.FileFullDirectoryRestartInfo)
	var es []fsops.Entry
	for len(es) <= max {
		err := windows.GetFileInformationByHandleEx(windows.Handle(h), class, (*byte)(unsafe.Pointer(&buf[0])), size)
		if err == windows.ERROR_NO_MORE_FILES || err == windows.ERROR_FILE_NOT_FOUND { // the latter: an empty volume, which has no "." either
			break
		}
		if err != nil {
			return nil, err
		}
		class = windows.FileFullDirectoryInfo
		for off := uint32(0); len(es) <= max; {
			e := (*fileFullDirInfo)(unsafe.Add(unsafe.Pointer(&buf[0]), off))
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
