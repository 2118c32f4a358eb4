package lockx

import (
	"errors"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/landfast/landfast/fsx"
)

// turnSuffix names the turnstile beside its lock file.
const turnSuffix = ".turn"

// turnstile keeps a stream of readers from starving a writer (flock and
// LockFileEx grant a shared lock while somebody waits for the exclusive one).
// It is a second lock: a reader passes through it, a writer that has to wait
// stays in it, so that no new reader comes past.
//
// It is made by the first reader; where no shared mode is used it never exists
// and costs a waiting writer one lookup, an unhindered writer nothing. A writer
// that began to wait before the first reader ever came is not protected.
//
// The lock is gofrs/flock's, between an identity check on both sides: the file
// is created and held open through the directory, gofrs opens it by path, and
// both must be one file. A turnstile that can't be had (no permission, a link in
// its place, a directory that moved) costs fairness, never exclusion, so its
// methods work on nil and report nothing.
type turnstile struct {
	file *fsx.File
	lock *flock.Flock
}

// openTurnstile gives nil where there is none. It is the only part that uses d,
// so the rest may run after the caller has closed it.
func openTurnstile(d *fsx.Dir, name string, create bool) *turnstile {
	open := d.OpenFile
	if create {
		open = func(name string) (*fsx.File, error) { return d.OpenInPlace(name, 0o600) }
	}
	f, err := open(name + turnSuffix)
	if err != nil {
		return nil
	}
	path := filepath.Join(d.Path(), name+turnSuffix)
	return &turnstile{file: f, lock: flock.New(path, flock.SetFlag(turnFlags))}
}

// enter waits for the turnstile alone and stays in it until close.
func (t *turnstile) enter() {
	if t == nil {
		return
	}
	err := t.lock.Lock()
	for errors.Is(err, syscall.EINTR) {
		err = t.lock.Lock()
	}
	if err == nil && !t.same() {
		_ = t.lock.Unlock()
	}
}

// tryPass reports whether no writer is in the turnstile. It holds it together
// with other readers until close, so that readers don't hinder each other.
func (t *turnstile) tryPass() bool {
	if t == nil {
		return true
	}
	ok, err := t.lock.TryRLock()
	return ok || err != nil || !t.same()
}

// same reports whether gofrs opened the file that the directory has.
func (t *turnstile) same() bool {
	fi, err := t.lock.Stat()
	if err != nil {
		return false
	}
	info, err := t.file.Stat()
	return err == nil && sameFile(fi, info, t.lock.Path())
}

func (t *turnstile) close() {
	if t == nil {
		return
	}
	_ = t.lock.Close() // unlocks first
	_ = t.file.Close()
}
