package durable

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/fsops"
)

// Quarantine is a directory where things are set aside as they are before
// anything takes their place. Every entry NAME has a receipt NAME.receipt.json
// beside it.
type Quarantine struct{ d *fsx.Dir }

// OpenQuarantine uses the directory d; d stays the caller's.
func OpenQuarantine(d *fsx.Dir) *Quarantine { return &Quarantine{d: d} }

// Preserved is the receipt of one entry, and what its file holds as JSON.
type Preserved struct {
	Name     string    `json:"name"`             // below the quarantine directory
	Original string    `json:"original"`         // the name it had
	Kind     string    `json:"kind"`             // file, link, directory, other
	Reason   string    `json:"reason"`           // one line
	SHA256   string    `json:"sha256,omitempty"` // of a file that could be read
	Size     int64     `json:"size"`             // bytes, of a file
	At       time.Time `json:"at"`               // when it was set aside; its age counts from here
	Moved    bool      `json:"moved"`            // false: a copy, the original was still in place
}

const receiptExt = ".receipt.json"

// Keep stores a copy of bytes that are about to be replaced, and its receipt.
// When it returns nil, both are durable.
func (q *Quarantine) Keep(ctx context.Context, original string, data []byte, reason string, o Options) (Preserved, error) {
	sum := sha256.Sum256(data)
	p := Preserved{
		Name: quarantineName(original), Original: original, Kind: "file", Reason: reason,
		SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)), At: time.Now().UTC(),
	}
	o.Mode = 0
	receipt, err := p.receipt()
	if err != nil {
		return p, err
	}
	_, err = Sequence(ctx, []Write{
		{Dir: q.d, Name: p.Name, Data: data, Mode: 0o600, New: true},
		receipt.in(q.d),
	}, nil, o)
	return p, err
}

// Move sets the entry name of the directory from aside as it is, by a rename
// that replaces nothing: a link stays a link, a directory keeps its content, and
// nothing is read. The receipt is durable first, so that no entry lacks one; a
// receipt without an entry means that the move did not happen. Errors of the
// move are an [fsx.PublishError]; the entry is then where it was, unless the
// state says VisibleNotDurable.
func (q *Quarantine) Move(ctx context.Context, from *fsx.Dir, name, reason string, o Options) (Preserved, error) {
	info, err := from.Lstat(name)
	if err != nil {
		return Preserved{}, err
	}
	p := Preserved{
		Name: quarantineName(name), Original: name, Kind: kindName(info.Kind), Reason: reason,
		Size: info.Size, At: time.Now().UTC(), Moved: true,
	}
	receipt, err := p.receipt()
	if err != nil {
		return p, err
	}
	if _, err := Sequence(ctx, []Write{receipt.in(q.d)}, nil, o); err != nil {
		return p, err
	}
	_, err = from.MoveNew(ctx, name, q.d, p.Name, o.Retry)
	if err != nil {
		var pe *fsx.PublishError
		if errors.As(err, &pe) && pe.State == fsx.NotPublished {
			q.dropReceipt(receipt.name)
		}
		return p, fmt.Errorf("quarantine %s: %w", name, err)
	}
	return p, nil
}

// dropReceipt takes back the receipt of a move that did not happen. One that
// stays is harmless: it names an entry that isn't there.
func (q *Quarantine) dropReceipt(name string) {
	if info, err := q.d.Lstat(name); err == nil {
		_ = q.d.Remove(name, info.ID)
	}
}

type receiptFile struct {
	name string
	data []byte
}

func (r receiptFile) in(d *fsx.Dir) Write {
	return Write{Dir: d, Name: r.name, Data: r.data, Mode: 0o600, New: true}
}

func (p Preserved) receipt() (receiptFile, error) {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return receiptFile{}, fmt.Errorf("encode receipt: %w", err)
	}
	return receiptFile{name: p.Name + receiptExt, data: append(data, '\n')}, nil
}

// quarantineName is when, what, and something random. The receipt has the exact
// time; this one sorts a listing.
func quarantineName(original string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	base := original
	if len(base) > 80 {
		// The cut may fall behind a dot or space, which no name may end in.
		base = strings.TrimRight(strings.ToValidUTF8(base[:80], ""), ". ")
	}
	return time.Now().UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:]) + "-" + base
}

func kindName(k fsops.Kind) string {
	switch k {
	case fsops.Regular:
		return "file"
	case fsops.Symlink:
		return "link"
	case fsops.Dir:
		return "directory"
	}
	return "other"
}
