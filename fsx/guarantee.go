package fsx

// guaranteeOf is the strongest promise a filesystem can keep once every step of
// a durable replace has answered success. The basis of each row stands in
// docs/decisions/0005-what-durable-means.md. A name that is not listed gets Ordered: its fsync is
// believed for content, nothing more is claimed.
func guaranteeOf(fstype string) Guarantee {
	switch fstype {
	case "ext4", "ext3", "ext2", "xfs", "btrfs", // crash-tested
		"f2fs", "bcachefs", "zfs", "jfs", "nilfs2", // their fsync contract
		"apfs", "hfs", // F_FULLFSYNC on file and directory
		"nfs",   // the server commits before it answers
		"model": // the in-memory model of this module's tests
		return Durable
	case "ntfs", "refs", "overlayfs": // overlayfs is worth what its upper filesystem is, which can't be told from above
		return BestEffortDurable
	case "tmpfs", "ramfs":
		return None
	case "cifs", "smb", "smb2", "smbfs", "9p", "fuse", "virtiofs", "vboxsf", "afpfs", "webdav":
		return Atomic
	}
	return Ordered
}
