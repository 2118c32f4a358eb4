package fsx

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/internal/procid"
)

// Flush says how much a publish flushes. The zero value is everything.
type Flush uint8

// The flush levels.
const (
	FlushAll  Flush = iota // file and directory: [Durable] where the filesystem can
	FlushFile              // file only: [Ordered]; the new name may be lost to power loss, its content may not be torn
	FlushNone              // nothing: [Atomic] between processes; for previews that can be made again
)

// Options say how a name is written. The zero value keeps the mode of an
// existing file, refuses a link and flushes everything.
type Options struct {
	// Mode is the exact mode of the published file. 0 keeps an existing file's
	// and gives a new one 0666 less the umask.
	Mode fs.FileMode
	// ReplaceLink lets the publish replace a symbolic link itself (it is never
	// followed). Without it a link under the name is refused with [ErrLink].
	ReplaceLink bool
	// Need refuses with [ErrNeed], before anything is touched, where the
	// filesystem is known not to give this guarantee. The zero value takes what
	// comes and reports it in the receipt.
	Need Guarantee
	// Flush is how much is flushed.
	Flush Flush
	// Retry bounds the waiting for files that somebody holds on Windows.
	Retry Retry
}

// Temp is a staged file in the directory of its target. It has one life:
// written, perhaps synced, then ended by Replace, PublishNew or Abort,
// whichever comes first; whatever the outcome, nothing is left behind but what
// a [PublishError] names. A Temp is for one goroutine.
type Temp struct {
	d      *Dir
	h      fsops.Handle
	tmp    string // name of the staged file
	target string
	o      Options
	mode   fs.FileMode // to set before the sync, where chmod says so
	chmod  bool        // apart from mode: 0 is a mode that a file can have
	off    int64
	synced bool
	ds     []Degradation // of the sync
	err    error         // poison: the first failed write or sync
	ended  bool
}

var errEnded = errors.New("the staged file was already published or aborted")

// CreateTemp stages a file that is to become target. It looks at the target
// first, for its mode and the link policy: errors are [ErrLink], EISDIR,
// [ErrNotRegular] (a device or FIFO is never replaced), [ErrNeed], all as a
// [PublishError] with NotPublished. The staged file is never more readable than
// the published one will be.
func (d *Dir) CreateTemp(target string, o Options) (*Temp, error) {
	fail := func(step Step, err error) (*Temp, error) {
		return nil, &PublishError{Stage: step, Path: d.join(quoteName(target)), Err: err}
	}
	if err := CheckName(target); err != nil {
		return fail(StepOpen, ErrBadName)
	}
	t := &Temp{d: d, target: target, o: o}
	perm := fs.FileMode(0o666)
	info, err := d.lstat(target, o.Retry)
	switch {
	case err == nil && info.Kind == fsops.Dir:
		return fail(StepCreate, syscall.EISDIR)
	case err == nil && info.Kind == fsops.Symlink && o.ReplaceLink:
	case err == nil && info.Kind != fsops.Regular:
		return fail(StepCreate, wrongKind(info.Kind, fsops.Regular))
	case err == nil:
		t.mode, t.chmod = permOnly(info.Mode), true
	case Classify(StepStat, err) != NotFound:
		return fail(StepStat, err)
	}
	if o.Mode != 0 {
		t.mode, t.chmod = permOnly(o.Mode), true
	}
	if t.chmod {
		// The chmod follows before the sync, when the content is complete. The
		// open handle can write whatever the mode says, 0 included.
		perm = 0o600 & t.mode
	}
	if err := d.checkNeed(o); err != nil {
		return fail(StepSyncDir, err)
	}
	for range 100 { // a collision of 80 random bits is a broken random source, not bad luck
		t.tmp = tempName(target)
		_, _, err = o.Retry.do(context.Background(), StepCreate, func() (err error) {
			t.h, err = d.t.CreateExcl(d.h, t.tmp, perm)
			return err
		})
		if err == nil || Classify(StepCreate, err) != Exists {
			break
		}
	}
	if err != nil {
		return fail(StepCreate, err)
	}
	return t, nil
}

// checkNeed refuses a guarantee that can't be had. Whether a directory can be
// synced shows only by doing it; a need for durability pays that extra flush.
func (d *Dir) checkNeed(o Options) error {
	if o.Need == None {
		return nil
	}
	if g := min(d.Guarantee(), o.Flush.limit()); g < o.Need {
		return &needError{need: o.Need, have: g, fsType: d.FSType()}
	}
	if o.Need > Ordered {
		if ds, err := d.Sync(); err != nil {
			return err
		} else if len(ds) > 0 {
			return &needError{need: o.Need, have: Ordered, fsType: d.FSType(), err: ds[0].Err}
		}
	}
	return nil
}

// limit is the most that a flush level can reach.
func (f Flush) limit() Guarantee {
	switch f {
	case FlushAll:
		return Durable
	case FlushFile:
		return Ordered
	}
	return Atomic
}

type needError struct {
	need, have Guarantee
	fsType     string
	err        error
}

func (e *needError) Error() string {
	fsType := e.fsType
	if fsType == "" {
		fsType = "unknown"
	}
	return "need " + e.need.String() + ", but filesystem " + fsType + " gives " + e.have.String()
}

func (e *needError) Unwrap() []error {
	if e.err == nil {
		return []error{ErrNeed}
	}
	return []error{ErrNeed, e.err}
}

// Write appends to the staged file. After an error every later call fails with
// it, Replace and PublishNew included.
func (t *Temp) Write(p []byte) (int, error) {
	if err := t.check(); err != nil {
		return 0, err
	}
	n, err := writeAll(t.d.t, t.h, p, t.off)
	t.off += int64(n)
	t.synced = false
	if err != nil {
		t.err = t.fail(StepWrite, err)
		return n, t.err
	}
	return n, nil
}

// Sync sets the mode and makes the staged content durable, once: an error
// poisons the file (D4).
func (t *Temp) Sync() error {
	if err := t.check(); err != nil || t.synced {
		return err
	}
	if t.chmod {
		// Before the sync: a mode set after it can be lost on btrfs.
		if err := t.d.t.Chmod(t.h, t.mode); err != nil {
			t.err = t.fail(StepChmod, err)
			return t.err
		}
		t.chmod = false
	}
	if t.o.Flush != FlushNone {
		ds, err := syncFile(t.d.t, t.h)
		if err != nil {
			t.err = t.fail(StepSync, err)
			return t.err
		}
		t.ds = ds
	}
	t.synced = true
	return nil
}

// Replace syncs what is not yet synced, puts the staged file under its name,
// replacing what is there, and syncs the directory. State on nil error: the
// new content, with the receipt's guarantee. On error: as the [PublishError]
// says. After power loss at any moment: the old or the new content, whole (D2),
// where the filesystem is at least [Ordered].
func (t *Temp) Replace(ctx context.Context) (Receipt, error) {
	return t.publish(ctx, func(rec *Receipt) ([]Degradation, error) {
		d := t.d
		n, waited, err := t.o.Retry.do(ctx, StepRename, func() error {
			return d.t.Rename(t.h, d.h, t.tmp, d.h, t.target)
		})
		rec.Attempts, rec.Waited = n, waited
		if err == nil || d.happened(t.h, t.target) {
			return nil, nil
		}
		return nil, &PublishError{Stage: StepRename, State: d.stateAfter(err), Path: d.join(t.target), Err: err}
	})
}

// PublishNew is Replace that never replaces: errors.Is(err, fs.ErrExist) where
// the name is taken, also in a race (D5). Where the filesystem has neither a
// no-replace rename nor links, the error is errors.ErrUnsupported, and nothing
// was published.
func (t *Temp) PublishNew(ctx context.Context) (Receipt, error) {
	return t.publish(ctx, func(rec *Receipt) ([]Degradation, error) {
		return publishNew(ctx, t.d, t.h, t.tmp, t.d, t.target, t.o.Retry, rec)
	})
}

// publish is what Replace and PublishNew share: sync, put in place, sync the
// directory, end the staged file's life.
func (t *Temp) publish(ctx context.Context, place func(*Receipt) ([]Degradation, error)) (Receipt, error) {
	if t.ended {
		return Receipt{}, t.fail(StepRename, errEnded)
	}
	err := ctx.Err()
	if err != nil {
		err = t.fail(StepRename, err)
	} else {
		err = t.Sync()
	}
	if err != nil {
		return Receipt{}, t.drop(err)
	}
	rec := Receipt{Guarantee: min(t.d.Guarantee(), t.o.Flush.limit())}
	rec.degrade(Ordered, t.ds...)
	ds, err := place(&rec)
	if err != nil {
		return Receipt{}, t.drop(err)
	}
	rec.Degraded = append(rec.Degraded, ds...)
	t.ended = true
	if t.o.Flush == FlushAll {
		ds, err := t.d.Sync()
		if err != nil {
			_ = t.d.t.Close(t.h)
			return Receipt{}, &PublishError{Stage: StepSyncDir, State: VisibleNotDurable, Path: t.d.join(t.target), Err: errors.Unwrap(err)}
		}
		rec.degrade(Ordered, ds...)
	}
	// After a successful sync, close has nothing left to report that could
	// unmake the content; an error here must not pass for a failed write.
	_ = t.d.t.Close(t.h)
	return rec, nil
}

// publishNew moves from to a name that must not exist, by a no-replace rename
// or, where the filesystem has none, by a link and the removal of the old name
// (before the directory sync, so that both become durable together).
func publishNew(ctx context.Context, from *Dir, h fsops.Handle, name string, to *Dir, newName string, r Retry, rec *Receipt) ([]Degradation, error) {
	path := to.join(newName)
	n, waited, err := r.do(ctx, StepRename, func() error {
		return to.t.RenameNew(h, from.h, name, to.h, newName)
	})
	rec.Attempts, rec.Waited = n, waited
	if err == nil {
		return nil, nil
	}
	if Classify(StepRename, err) != Unsupported {
		if h != fsops.None && to.happened(h, newName) {
			return nil, nil
		}
		return nil, &PublishError{Stage: StepRename, State: to.stateAfter(err), Path: path, Err: err}
	}
	n, waited, err = r.do(ctx, StepLink, func() error { return to.t.Link(from.h, name, to.h, newName) })
	rec.Attempts, rec.Waited = max(rec.Attempts, n), rec.Waited+waited
	if err != nil && !(h != fsops.None && to.happened(h, newName)) {
		if Classify(StepLink, err) == Unsupported {
			err = errors.Join(errors.ErrUnsupported, err)
		}
		return nil, &PublishError{Stage: StepLink, State: to.stateAfter(err), Path: path, Err: err}
	}
	if err := from.t.Unlink(from.h, name); err != nil {
		return []Degradation{{StepUnlink, err, "the old name " + from.join(name) + " stays beside the new one"}}, nil
	}
	return nil, nil
}

// remote reports whether a failed answer of this filesystem may hide a success:
// the reply was lost, the server did it (rename(2), BUGS).
func (d *Dir) remote() bool {
	switch d.FSType() {
	case "nfs", "cifs", "smb", "smb2", "smbfs", "9p", "fuse", "afpfs", "webdav":
		return true
	}
	return false
}

// happened reports whether, on a remote filesystem, the name is the open file
// after all.
func (d *Dir) happened(h fsops.Handle, name string) bool {
	if !d.remote() {
		return false
	}
	mine, err := d.t.Stat(h)
	if err != nil {
		return false
	}
	there, err := d.t.Lstat(d.h, name)
	return err == nil && there.ID == mine.ID
}

// stateAfter is the state that a failed rename or link leaves.
func (d *Dir) stateAfter(err error) State {
	if d.remote() && !errors.Is(err, fs.ErrExist) {
		return StateUnknown
	}
	return NotPublished
}

// Abort drops the staged file. After Replace or PublishNew it does nothing, so
// it can be deferred.
func (t *Temp) Abort() error {
	if t.ended {
		return nil
	}
	return t.drop(nil)
}

// drop ends the life of the staged file and adds to err what it could not remove.
func (t *Temp) drop(err error) error {
	t.ended = true
	_ = t.d.t.Close(t.h)
	uerr := t.d.t.Unlink(t.d.h, t.tmp)
	if uerr == nil || Classify(StepUnlink, uerr) == NotFound {
		return err
	}
	var pe *PublishError
	if errors.As(err, &pe) {
		pe.Tmp = t.d.join(t.tmp)
		return err
	}
	return pathError(StepUnlink, t.d.join(t.tmp), uerr)
}

func (t *Temp) check() error {
	if t.ended {
		return t.fail(StepWrite, errEnded)
	}
	return t.err
}

func (t *Temp) fail(step Step, err error) error {
	return &PublishError{Stage: step, Path: t.d.join(t.target), Err: err}
}

const (
	tempPrefix = ".lf-"
	tempSuffix = ".tmp"
	tempSep    = "~"
)

// tempName is hidden, says what it was to become and who made it (so that a
// sweeper can tell whether that process still lives, also across pid
// namespaces, odysseus-dev/odysseus#5596), and is random besides.
func tempName(target string) string {
	if len(target) > 80 {
		target = strings.ToValidUTF8(target[:80], "")
	}
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return tempPrefix + target + tempSep + procid.Self().Tag() + tempSep + hex.EncodeToString(b[:]) + tempSuffix
}

// ParseTempName reports what a staged file of this package was to become
// (shortened to 80 bytes) and the process that made it. ok is false for any
// other name.
func ParseTempName(name string) (target string, owner procid.ID, ok bool) {
	s, ok := strings.CutPrefix(name, tempPrefix)
	if !ok {
		return "", owner, false
	}
	if s, ok = strings.CutSuffix(s, tempSuffix); !ok {
		return "", owner, false
	}
	i := strings.LastIndex(s, tempSep)
	if i < 0 {
		return "", owner, false
	}
	j := strings.LastIndex(s[:i], tempSep)
	if j <= 0 {
		return "", owner, false
	}
	owner, ok = procid.ParseTag(s[j+1 : i])
	return s[:j], owner, ok
}
