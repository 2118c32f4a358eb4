package fsx

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/landfast/landfast/internal/fsops"
)

// fBarrierFsync is F_BARRIERFSYNC of <sys/fcntl.h>.
const fBarrierFsync = 85

// openBeneath walks: macOS has O_NOFOLLOW_ANY, but it answers ELOOP for links
// above the directory too when the descriptor's path has one.
func openBeneath(dir int, rel string) (fsops.Handle, error) { return walkBeneath(dir, rel) }

// Sync: fsync(2) on macOS says itself that the drive may keep the data in its
// cache; only F_FULLFSYNC asks the drive to write.
func (osTable) Sync(h fsops.Handle, mode fsops.SyncMode) (err error) {
	switch mode {
	case fsops.SyncFull:
		_, err = unix.FcntlInt(uintptr(h), unix.F_FULLFSYNC, 0)
	case fsops.SyncBarrier:
		_, err = unix.FcntlInt(uintptr(h), fBarrierFsync, 0)
	default:
		err = unix.Fsync(int(h))
	}
	return err
}

func (osTable) SyncDir(h fsops.Handle) error {
	_, err := unix.FcntlInt(uintptr(h), unix.F_FULLFSYNC, 0)
	return err
}

func renameNew(fromDir int, from string, toDir int, to string) error {
	return unix.RenameatxNp(fromDir, from, toDir, to, unix.RENAME_EXCL)
}

// appendEntries parses struct dirent of macOS with 64-bit inodes.
func appendEntries(es []fsops.Entry, buf []byte, max int) []fsops.Entry {
	const fixed = 21 // ino 8, seekoff 8, reclen 2, namlen 2, type 1
	for len(buf) >= fixed && len(es) < max {
		reclen := int(binary.NativeEndian.Uint16(buf[16:]))
		if reclen < fixed || reclen > len(buf) {
			break
		}
		ino := binary.NativeEndian.Uint64(buf)
		name, _, _ := bytes.Cut(buf[fixed:reclen], []byte{0})
		typ := buf[20]
		buf = buf[reclen:]
		if s := string(name); ino != 0 && s != "." && s != ".." {
			es = append(es, fsops.Entry{Name: s, Kind: kindOfDirent(typ)})
		}
	}
	return es
}

// fsTypeOf takes the name that the kernel gives ("apfs", "smbfs").
func fsTypeOf(st *unix.Statfs_t) string {
	name := st.Fstypename[:]
	b := make([]byte, 0, len(name))
	for _, c := range name {
		if c == 0 {
			break
		}
		b = append(b, byte(c))
	}
	return string(bytes.ToLower(b))
}
