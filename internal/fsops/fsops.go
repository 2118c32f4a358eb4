// Package fsops is the small table of filesystem operations that fsx stands on.
//
// Package fsx reaches the operating system through a [Table] and nothing else,
// so a test can put a recording, a failing or an in-memory filesystem under
// the very code that ships. The table is deliberately low: one method is one
// system call (or the platform's nearest thing), names are single path
// elements relative to an open directory, and no method retries, falls back or
// cleans up. Those are decisions, and decisions belong to fsx.
//
// Contract for every method: EINTR is looped over inside the table; an error
// is returned as the operating system gave it (a syscall.Errno, or an error
// that unwraps to one), without a path, because fsx adds operation and path.
package fsops

import (
	"io/fs"
	"time"
)

// Handle identifies an open file or directory within the Table that issued it.
// On Unix it is a file descriptor, on Windows a HANDLE, in a model an index.
type Handle uintptr

// None is no handle.
const None = ^Handle(0)

// Kind is what a directory entry is. A Windows reparse point of any tag is
// Symlink: nothing that redirects a path may pass for a file or directory.
type Kind uint8

// The kinds of directory entry. Unknown appears only in [Entry], where the
// filesystem did not tell.
const (
	Unknown Kind = iota
	Regular
	Dir
	Symlink
	Other
)

// ID names a file as long as some handle keeps it open: filesystem and inode
// (Unix), or volume and 128-bit file id (Windows). A file id may be reused once
// the last handle is closed, so compare only against an open file.
type ID struct {
	Dev uint64
	Ino [2]uint64
}

// Info is what a stat tells.
type Info struct {
	ID    ID
	Kind  Kind
	Mode  fs.FileMode // permission bits, with setuid, setgid and sticky
	Size  int64       // bytes
	Mtime time.Time
	Nlink uint64
	UID   uint32
	GID   uint32
}

// Entry is one name of a directory, without "." and "..".
type Entry struct {
	Name string
	Kind Kind
}

// OpenMode says how an existing name is opened by [Table.OpenFile].
type OpenMode uint8

// The ways to open a file. All of them refuse a link in the last element
// (ELOOP or the platform's answer), never block on a FIFO, are closed on exec
// and, on Windows, share read, write and delete with everybody.
const (
	Read            OpenMode = iota // existing file, for reading
	ReadWrite                       // existing file, for reading and writing in place
	CreateReadWrite                 // as ReadWrite, created empty with perm where it is missing
)

// SyncMode says how strongly [Table.Sync] flushes.
type SyncMode uint8

// The flush strengths. A mode that the platform lacks answers ENOTSUP
// (ERROR_NOT_SUPPORTED on Windows), which fsx takes as "try the next weaker".
const (
	SyncFull    SyncMode = iota // data and what is needed to read it back are on stable storage: fdatasync, F_FULLFSYNC, FlushFileBuffers
	SyncBarrier                 // ordered before every later write, maybe not yet stable: F_BARRIERFSYNC (macOS only)
	SyncPlain                   // fsync, whatever it means there
)

// Table is the operations. Implementations are safe for concurrent use.
type Table interface {
	// OpenRoot opens the directory at path for use as a trust boundary. Links
	// in path are followed: the caller chose the path, aliases above a root
	// are legal.
	OpenRoot(path string) (Handle, error)
	// OpenDir opens the directory rel below dir; rel is slash-separated and
	// local ("." is dir itself). A link in any element is refused with ELOOP or
	// ENOTDIR, even one that stays below dir.
	OpenDir(dir Handle, rel string) (Handle, error)
	// Mkdir makes one directory; EEXIST if the name is taken.
	Mkdir(dir Handle, name string, perm fs.FileMode) error
	// CreateExcl creates a file that must not exist, open for writing and for
	// renaming through the handle. perm is subject to the umask.
	CreateExcl(dir Handle, name string, perm fs.FileMode) (Handle, error)
	// OpenFile opens an entry by name; see [OpenMode]. The caller checks with
	// Stat that it is a regular file.
	OpenFile(dir Handle, name string, mode OpenMode, perm fs.FileMode) (Handle, error)
	// Stat tells about an open file or directory.
	Stat(h Handle) (Info, error)
	// Lstat tells about an entry without following it.
	Lstat(dir Handle, name string) (Info, error)
	// List reads the directory's entries, at most max+1 of them (so that the
	// caller sees that there are more than max), in no particular order. It
	// starts at the beginning each time.
	List(dir Handle, max int) ([]Entry, error)
	// ReadAt and WriteAt are pread and pwrite: they may be short. ReadAt
	// answers 0, nil at the end of the file.
	ReadAt(h Handle, p []byte, off int64) (int, error)
	WriteAt(h Handle, p []byte, off int64) (int, error)
	// Chmod sets the permission bits of an open file.
	Chmod(h Handle, mode fs.FileMode) error
	// Sync flushes an open file.
	Sync(h Handle, mode SyncMode) error
	// SyncDir flushes the entries of an open directory.
	SyncDir(dir Handle) error
	// Rename moves an entry onto another name, replacing what is there. file is
	// the still open handle of the source, or None; Windows renames through it.
	Rename(file, fromDir Handle, from string, toDir Handle, to string) error
	// RenameNew is Rename that fails with EEXIST where the target exists, and
	// with EINVAL, ENOSYS or ENOTSUP where the filesystem can't promise that.
	RenameNew(file, fromDir Handle, from string, toDir Handle, to string) error
	// Link gives an existing file a second name; EEXIST if it is taken.
	Link(fromDir Handle, from string, toDir Handle, to string) error
	// Unlink removes a name that is not a directory.
	Unlink(dir Handle, name string) error
	// Rmdir removes an empty directory.
	Rmdir(dir Handle, name string) error
	// FSType names the filesystem under an open handle by the platform's own
	// short name in lower case ("ext4", "tmpfs", "apfs", "ntfs"), or "" if it
	// can't be told.
	FSType(h Handle) (string, error)
	// Close closes a handle.
	Close(h Handle) error
}

// Locker is implemented by a Table whose handles are not the operating
// system's, so that lockx can lock them. TryLock reports false where another
// handle holds the file.
type Locker interface {
	TryLock(h Handle, shared bool) (bool, error)
	Unlock(h Handle) error
}
