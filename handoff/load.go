package handoff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff/ledger"
	"github.com/landfast/landfast/internal/fsops"
)

// State is what there is of a ledger.
type State string

// The states.
const (
	Empty   State = "empty"   // never set up, or nothing recorded
	Missing State = "missing" // no ledger, but snapshots of one
	Healthy State = "healthy"
	Damaged State = "damaged"
)

// maxPreserve bounds how large a damaged ledger is copied byte by byte; a
// larger one is moved aside as it is.
const maxPreserve = 16 << 20

// maxSnapshotEntries bounds what is listed of the snapshot directory.
const maxSnapshotEntries = 10_000

// loaded is what lies in the ledger's place.
type loaded struct {
	state  State
	raw    []byte         // exact bytes, when they could be read
	l      *ledger.Ledger // when healthy; a new one when empty
	info   fsx.Info       // of the entry, when there is one
	exists bool           // an entry of any kind lies in the ledger's place
	code   string         // finding code, when missing or damaged
	why    string         // the same for people, never file content
	err    error          // the cause
}

// refusal is the error of a read or write on a ledger that is not well.
func (ld *loaded) refusal() error {
	if ld.state == Healthy || ld.state == Empty {
		return nil
	}
	e := &Error{Code: Refused, Message: stateDir + "/" + ledgerName + " " + ld.why, Hint: hintDoctor, Err: ld.err}
	if ld.code == codeUnreadable {
		e.Code = Filesystem
	}
	if ld.code == codeNewer {
		e.Hint = hintNewer
	}
	return e
}

// Finding codes of what can be wrong with the ledger itself.
const (
	codeMissing    = "ledger-missing"
	codeLink       = "ledger-is-link"
	codeDirectory  = "ledger-is-directory"
	codeSpecial    = "ledger-is-special-file"
	codeUnreadable = "ledger-unreadable"
	codeZeroed     = "ledger-zeroed"
	codeEmptyFile  = "ledger-empty-file"
	codeTruncated  = "ledger-truncated"
	codeTooLarge   = "ledger-too-large"
	codeNewer      = "ledger-newer-format"
	codeInvalid    = "ledger-invalid"
	codeStateDir   = "state-directory-unsafe"
)

// load looks at the ledger in dir (nil where .landfast does not exist). Only
// an unexpected failure of the filesystem is an error; everything that can be
// wrong with the file is a state.
func (p *Project) load(dir *fsx.Dir) (*loaded, error) {
	if dir == nil {
		return &loaded{state: Empty, l: ledger.New(newUUID())}, nil
	}
	raw, info, err := dir.ReadFileInfo(ledgerName, maxPreserve)
	if errors.Is(err, fs.ErrNotExist) {
		return p.loadMissing()
	}
	ld := &loaded{state: Damaged, raw: raw, info: info, exists: true, err: err}
	if err != nil {
		if i, lerr := dir.Lstat(ledgerName); lerr == nil {
			ld.info = i
		}
		ld.code, ld.why = wrongPlace(ld.info.Kind, err)
		return ld, nil
	}
	ld.l, err = ledger.Parse(raw)
	if err == nil {
		ld.state = Healthy
		return ld, nil
	}
	ld.err = err
	ld.code, ld.why = wrongContent(raw, err)
	return ld, nil
}

// loadMissing tells an empty project from one whose ledger is gone.
func (p *Project) loadMissing() (*loaded, error) {
	snaps, err := p.openSub(snapshotsDir)
	if err != nil {
		return nil, err
	}
	if snaps != nil {
		defer snaps.Close()
		list, err := durable.OpenSnapshots(snaps).List(maxSnapshotEntries)
		if err != nil {
			return nil, err
		}
		if len(list.Found) > 0 {
			return &loaded{state: Missing, code: codeMissing, why: fmt.Sprintf("is gone, but %d snapshots of it are there", len(list.Found))}, nil
		}
	}
	return &loaded{state: Empty, l: ledger.New(newUUID())}, nil
}

// wrongPlace names what lies in the ledger's place and is no readable file.
func wrongPlace(kind fsops.Kind, err error) (code, why string) {
	switch {
	case errors.Is(err, fsx.ErrTooLarge):
		return codeTooLarge, fmt.Sprintf("is larger than %d bytes", maxPreserve)
	case kind == fsops.Symlink:
		return codeLink, "is a symbolic link, which is never followed"
	case kind == fsops.Dir:
		return codeDirectory, "is a directory"
	case kind == fsops.Other:
		return codeSpecial, "is neither a file nor a directory"
	}
	return codeUnreadable, "can't be read: " + cause(err).Error()
}

// wrongContent names the damage that crashes and tools leave, before the
// reader's own finding. It never quotes the content.
func wrongContent(raw []byte, err error) (code, why string) {
	var le *ledger.Error
	if errors.As(err, &le) && le.Kind == ledger.Newer {
		return codeNewer, "has a newer format: " + le.Error()
	}
	switch {
	case len(raw) == 0:
		return codeEmptyFile, "is empty (0 bytes)"
	case len(bytes.Trim(raw, "\x00")) == 0:
		return codeZeroed, fmt.Sprintf("holds %d zero bytes, as a power loss leaves behind careless writers", len(raw))
	case errors.As(err, &le) && le.Kind == ledger.TooLarge:
		return codeTooLarge, le.Error()
	case raw[0] == '{' && !bytes.HasSuffix(raw, []byte("}\n")) && !bytes.HasSuffix(bytes.TrimSpace(raw), []byte("}")):
		return codeTruncated, fmt.Sprintf("ends early, after %d bytes", len(raw))
	}
	return codeInvalid, "is not a valid ledger: " + err.Error()
}

// fingerprint identifies what lies in the ledger's place, whatever it is.
func (ld *loaded) fingerprint() string {
	switch {
	case !ld.exists:
		return "missing"
	case ld.raw != nil:
		sum := sha256.Sum256(ld.raw)
		return hex.EncodeToString(sum[:])
	}
	i := ld.info
	return fmt.Sprintf("%d:%d:%d:%d:%d:%d", i.Kind, i.ID.Dev, i.ID.Ino[0], i.ID.Ino[1], i.Size, i.Mtime.UnixNano())
}
