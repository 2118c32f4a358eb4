// Package fsx puts files where they belong and says what that placing is worth.
//
// Everything happens below a [Root], an open directory in which no element of a
// path may be a symbolic link or reparse point; a path that somebody swaps in
// the meantime leads nowhere. Content is staged in a [Temp] in the target
// directory, synced, and then put under its name by Replace (old or new content,
// never a mixture) or PublishNew (never over something that exists). Both
// return a [Receipt] that names the [Guarantee] actually reached and every step
// that the filesystem could not do, and fail with a [PublishError] that says
// whether the new content may already be visible.
//
// Not promised: anything about directories above the root; protection from a
// process of the same user that writes into the same directory on purpose;
// durability on filesystems whose guarantee is None or Atomic (tmpfs, most
// network and FUSE filesystems). A failed sync is never repeated: the staged
// file is dropped and the error reported, because after one failed fsync the
// kernel may call lost pages clean (https://wiki.postgresql.org/wiki/Fsync_Errors).
//
//	root, err := fsx.OpenRoot("/var/lib/app")
//	dir, err := root.Dir(".")
//	t, err := dir.CreateTemp("state.json", 0o600)
//	_, err = t.Write(data)
//	receipt, err := t.Replace(ctx, "state.json", fsx.Options{})
//
// Sources: rename(2), fsync(2), openat2(2), fcntl(2) on macOS,
// FILE_RENAME_INFORMATION and FlushFileBuffers in the Windows documentation.
package fsx
