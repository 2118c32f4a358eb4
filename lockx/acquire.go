package lockx

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/internal/procid"
)

// maxReopens bounds how often Acquire begins again because the file it locked
// was no longer the one under the name.
const maxReopens = 16

// Acquire takes the lock name in d, creating its file (mode 0600) where it is
// missing. d must stay open until Release.
//
// Errors: [ErrBusy] (as *BusyError) after Options.Timeout; the context's error,
// wrapped, after that ended; fsx.ErrLink, fsx.ErrNotRegular or [ErrHardLinked]
// for a file that must not be locked; [ErrUnstable]; the operating system's
// error otherwise, such as fs.ErrPermission or EROFS where the file can't be
// opened for writing. A lock is not reentrant: a second Acquire in the same
// goroutine waits for the first.
func Acquire(ctx context.Context, d *fsx.Dir, name string, o Options) (*Handle, error) {
	if err := ctx.Err(); err != nil {
		return nil, lockError("lock", d, name, err)
	}
	a := attempt{ctx: ctx, d: d, name: name, o: o}
	if o.Timeout > 0 {
		c, cancel := context.WithTimeout(ctx, o.Timeout)
		defer cancel()
		a.ctx = c
	}
	h, err := a.run()
	switch {
	case err == nil:
		return h, nil
	case ctx.Err() != nil && errors.Is(err, a.ctx.Err()):
		return nil, lockError("lock", d, name, ctx.Err())
	case errors.Is(err, ErrBusy), a.ctx.Err() != nil && errors.Is(err, a.ctx.Err()):
		return nil, busy(d, name)
	}
	return nil, lockError("lock", d, name, err)
}

// attempt is one call of Acquire.
type attempt struct {
	ctx  context.Context // for the length of the call
	d    *fsx.Dir
	name string
	o    Options
}

func (a *attempt) run() (*Handle, error) {
	for range maxReopens {
		f, err := a.d.OpenInPlace(a.name, 0o600)
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && info.Nlink > 1 {
			err = ErrHardLinked
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		tb, _ := f.Handle()
		t := locks.enter(fileKey{tb, info.ID}, f, a.o.Shared)
		locked, err := a.lock(t)
		if err == nil {
			err = identity(a.d, a.name, t.file)
		}
		var anc *anchor
		if err == nil && a.o.Anchored && !a.o.Shared {
			anc, err = takeAnchor(a.ctx, a.d, a.o.Timeout < 0)
		}
		if err == nil {
			h := a.handle(t)
			h.anchor = anc
			return h, nil
		}
		if locked {
			_ = dropFile(t.file)
		} else if t.file != nil {
			_ = t.file.Close()
		}
		locks.leave(t)
		if !errors.Is(err, ErrLost) {
			return nil, err
		}
	}
	return nil, ErrUnstable
}

// lock waits for admission within the process and then for the kernel.
func (a *attempt) lock(t *ticket) (locked bool, err error) {
	if a.o.Timeout < 0 && !t.isAdmitted() {
		return false, ErrBusy
	}
	if !t.isAdmitted() {
		if err := a.queueUp(t); err != nil {
			return false, err
		}
	}
	ok, err := a.try(t)
	if ok || err != nil {
		return ok, err
	}
	if a.o.Timeout < 0 {
		return false, ErrBusy
	}
	err = locks.seek(a.ctx, t, func() *turnstile { return a.turnstile(t.q.key.table) })
	return err == nil, err
}

// queueUp waits in line without a descriptor: a thousand goroutines waiting for
// one lock must not exhaust them. So the file is opened again at the end; if the
// name then leads to another file, this is the wrong line.
func (a *attempt) queueUp(t *ticket) error {
	err := t.file.Close()
	t.file = nil
	if err != nil {
		return err
	}
	select {
	case <-t.admitted:
	case <-a.ctx.Done():
		return a.ctx.Err()
	}
	if t.file, err = a.d.OpenInPlace(a.name, 0o600); err != nil {
		return err
	}
	info, err := t.file.Stat()
	if err == nil && info.ID != t.q.key.id {
		err = ErrLost
	}
	return err
}

// try asks the kernel once. A reader doesn't pass a waiting writer.
func (a *attempt) try(t *ticket) (bool, error) {
	if a.o.Shared {
		turn := a.turnstile(t.q.key.table)
		defer turn.close()
		if !turn.tryPass() {
			return false, nil
		}
	}
	tb, h := t.file.Handle()
	return kernelTry(tb, h, a.o.Shared)
}

// turnstile opens the turnstile, which a reader makes where it is missing. A
// model's files are not the operating system's: gofrs/flock can't open them.
func (a *attempt) turnstile(tb fsops.Table) *turnstile {
	if _, ok := tb.(fsops.Locker); ok {
		return nil
	}
	return openTurnstile(a.d, a.name, a.o.Shared)
}

// identity reports with ErrLost that the name leads to another file than f: the
// lock on f is then worth nothing, because others lock what the name leads to.
func identity(d *fsx.Dir, name string, f *fsx.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Nlink == 0 {
		return ErrLost
	}
	at, err := d.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrLost
	case err != nil:
		return err
	case at.ID != info.ID:
		return ErrLost
	case info.Nlink > 1:
		return ErrHardLinked
	}
	return nil
}

// handle reads what the predecessor left and, for an exclusive lock, introduces
// the new holder. A record that can't be written (a full disk) is no reason not
// to hold the lock: it is for people.
func (a *attempt) handle(t *ticket) *Handle {
	h := &Handle{d: a.d, name: a.name, t: t}
	content := make([]byte, fileSize)
	n, err := t.file.ReadAt(content, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return h
	}
	content = content[:n]
	ours := isOurs(content)
	var old Record
	if ours && n > slotAt {
		if gen, ok := releasedGeneration(content[slotAt:]); ok {
			old.Generation = gen
		} else if old, err = decodeRecord(content[slotAt:]); err == nil && old.Held {
			h.recovered = &old
		}
	}
	if a.o.Shared || !ours {
		return h
	}
	h.rec = newRecord(a.o.Purpose, old.Generation+1)
	out, off := encodeRecord(h.rec), int64(slotAt)
	if n < slotAt || content[0] != header[0] {
		out, off = append([]byte(header), out...), 0
	}
	_, err = t.file.WriteAt(out, off)
	h.written = err == nil
	return h
}

// isOurs reports whether the content may be overwritten: a lock file of ours, an
// empty one, or one that power loss zeroed. A caller who names a file with
// other content locks it, and it keeps its content.
func isOurs(content []byte) bool {
	head := content[:min(len(content), slotAt)]
	return strings.HasPrefix(header, string(head)) || len(bytes.Trim(head, "\x00")) == 0
}

func newRecord(purpose string, generation uint64) Record {
	var token [16]byte
	_, _ = rand.Read(token[:]) // never fails
	me := procid.Self()
	exe := ""
	if len(os.Args) > 0 {
		exe = filepath.Base(os.Args[0])
	}
	return Record{
		Generation: generation, Token: hex.EncodeToString(token[:]), Held: true,
		PID: me.PID, Start: me.Start, Boot: me.Boot, PIDNS: me.PIDNS, Machine: me.Machine, Host: me.Host,
		Exe: exe, Purpose: purpose, Acquired: time.Now(),
	}
}

// busy makes the error, with the holder if the file names one that may be alive.
func busy(d *fsx.Dir, name string) *BusyError {
	e := &BusyError{Path: filepath.Join(d.Path(), name)}
	r, err := readRecord(d, name)
	if err != nil || !r.Held {
		return e
	}
	if v, _ := r.Judge(); v != Dead {
		e.Holder, e.HolderKnown = r, true
	}
	return e
}

// readRecord reads the record of a lock file that others may hold.
func readRecord(d *fsx.Dir, name string) (Record, error) {
	f, err := d.OpenFile(name)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	return recordOf(f)
}

// recordOf never reads byte 0, which Windows refuses while the lock is held.
func recordOf(f *fsx.File) (Record, error) {
	slot := make([]byte, slotSize)
	n, err := f.ReadAt(slot, slotAt)
	if err != nil && !errors.Is(err, io.EOF) {
		return Record{}, err
	}
	return decodeRecord(slot[:n])
}
