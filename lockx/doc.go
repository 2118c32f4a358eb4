// Package lockx gives a program a lock that a crash releases and no leftover
// file ever blocks.
//
// The lock is the kernel's (flock, LockFileEx) on a permanent file that is never
// removed: whether the file exists means nothing. Who holds it stands in the
// file for people and for error messages, and decides nothing. A holder that is
// killed has released the lock by that; the next one is told with
// [Handle.Recovered] and can repair what was half done.
//
//	h, err := lockx.Acquire(ctx, dir, "state.lock", lockx.Options{Purpose: "save"})
//	if err != nil {
//		return err // errors.Is(err, lockx.ErrBusy) after Options.Timeout
//	}
//	defer h.Release()
//
// Promised: two holders are never inside at once, be they goroutines or
// processes; waiting blocks in the kernel instead of polling, ends with the
// context, and is fair: in turn within a process, in the kernel's order between
// processes, and readers can't starve a writer. A symbolic link, a hard link or
// anything but a regular file is refused. gofrs/flock and flock(1) on the same
// file take part on Unix, gofrs/flock on Windows.
//
// Not promised: anything on a network filesystem whose locks are local or
// missing; a lock on a file that another user may delete ([Handle.Verify]
// notices); reentrance. The kernel's wait outlives a caller that gave up: once
// the holder releases, it takes the lock for an instant and lets go at once, and
// until then an abandoned writer keeps new readers out, as a patient one does.
//
// Sources: flock(2), LockFileEx in the Windows documentation, proc_locks(5).
package lockx
