package fsx

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/landfast/landfast/internal/fsops"
)

// openBeneath asks the kernel to refuse links in every element (openat2(2),
// Linux 5.6) and walks where it can't: ENOSYS on older kernels, EPERM from
// sandboxes whose filter predates the call.
func openBeneath(dir int, rel string) (fsops.Handle, error) {
	how := unix.OpenHow{
		Flags:   dirFlags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(dir, rel, &how)
		switch err {
		case nil:
			return fsops.Handle(fd), nil
		case unix.EINTR, unix.EAGAIN: // EAGAIN: a concurrent rename, openat2(2) says try again
			continue
		case unix.ENOSYS, unix.EPERM:
			return walkBeneath(dir, rel)
		}
		return fsops.None, err
	}
}

func (osTable) Sync(h fsops.Handle, mode fsops.SyncMode) error {
	switch mode {
	case fsops.SyncFull:
		// fdatasync flushes what is needed to read the data back, the size
		// included; mode and owner of a new inode go with it.
		return unix.Fdatasync(int(h))
	case fsops.SyncBarrier:
		return unix.ENOTSUP
	}
	return unix.Fsync(int(h))
}

func (osTable) SyncDir(h fsops.Handle) error { return unix.Fsync(int(h)) }

func renameNew(fromDir int, from string, toDir int, to string) error {
	return unix.Renameat2(fromDir, from, toDir, to, unix.RENAME_NOREPLACE)
}

// appendEntries parses struct linux_dirent64 (getdents64(2)).
func appendEntries(es []fsops.Entry, buf []byte, max int) []fsops.Entry {
	const fixed = 19 // ino 8, off 8, reclen 2, type 1
	for len(buf) >= fixed && len(es) < max {
		reclen := int(binary.NativeEndian.Uint16(buf[16:]))
		if reclen < fixed || reclen > len(buf) {
			break
		}
		name, _, _ := bytes.Cut(buf[fixed:reclen], []byte{0})
		typ := buf[18]
		buf = buf[reclen:]
		if s := string(name); s != "." && s != ".." {
			es = append(es, fsops.Entry{Name: s, Kind: kindOfDirent(typ)})
		}
	}
	return es
}

// fsTypeOf names the magic numbers of statfs(2). ext2, ext3 and ext4 share one.
func fsTypeOf(st *unix.Statfs_t) string {
	magic := uint32(st.Type)
	switch magic {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.RAMFS_MAGIC:
		return "ramfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case 0xff534d42:
		return "cifs"
	case 0xfe534d42:
		return "smb2"
	case unix.SMB_SUPER_MAGIC:
		return "smb"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	case unix.F2FS_SUPER_MAGIC:
		return "f2fs"
	case 0x2fc12fc1:
		return "zfs"
	case 0xca451a4e:
		return "bcachefs"
	case unix.MSDOS_SUPER_MAGIC:
		return "vfat"
	case 0x2011bab0:
		return "exfat"
	case 0x7366746e:
		return "ntfs3"
	}
	return "0x" + strconv.FormatUint(uint64(magic), 16)
}
