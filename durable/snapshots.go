package durable

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/fsops"
)

// ErrDamaged is wrapped by the error for a snapshot whose bytes are not those
// that its name was made of.
var ErrDamaged = errors.New("does not match the digest in its name")

const snapshotExt = ".json"

// Snapshot is one stored copy, as its name and directory entry tell; only
// [Snapshots.Read] looks at the content.
type Snapshot struct {
	Name     string    // rREVISION-SHA256.json
	Revision uint64    // from the name
	Digest   string    // lower-case hex SHA-256, from the name
	Size     int64     // bytes
	SavedAt  time.Time // modification time: for people, never for order
}

// Snapshots is a directory of copies named by revision and digest. A copy is
// never overwritten and never trusted unverified. Order is by revision, then
// name; modification times lie after a restore or a copy.
type Snapshots struct{ d *fsx.Dir }

// OpenSnapshots uses the directory d for snapshots; d stays the caller's.
func OpenSnapshots(d *fsx.Dir) *Snapshots { return &Snapshots{d: d} }

// SnapshotName is the name for these bytes at this revision.
func SnapshotName(rev uint64, data []byte) string {
	sum := sha256.Sum256(data)
	return "r" + strconv.FormatUint(rev, 10) + "-" + hex.EncodeToString(sum[:]) + snapshotExt
}

// ParseSnapshotName reads a name that [SnapshotName] made. ok is false for
// anything that it would have written differently.
func ParseSnapshotName(name string) (rev uint64, digest string, ok bool) {
	s, ok := strings.CutPrefix(name, "r")
	if !ok {
		return 0, "", false
	}
	if s, ok = strings.CutSuffix(s, snapshotExt); !ok {
		return 0, "", false
	}
	num, digest, ok := strings.Cut(s, "-")
	if !ok || len(digest) != 2*sha256.Size || strings.Trim(digest, "0123456789abcdef") != "" {
		return 0, "", false
	}
	rev, err := strconv.ParseUint(num, 10, 64)
	if err != nil || strconv.FormatUint(rev, 10) != num {
		return 0, "", false
	}
	return rev, digest, true
}

// Listing is what lies in a snapshot directory.
type Listing struct {
	Found     []Snapshot // newest revision first
	Leftovers []string   // staged files of writers, alive or killed
	Foreign   []string   // anything else; never touched
}

// List names the snapshots without reading them; [fsx.ErrTooMany] beyond max
// entries.
func (s *Snapshots) List(max int) (Listing, error) {
	var l Listing
	es, err := s.d.List(max)
	if err != nil {
		return l, err
	}
	for _, e := range es {
		rev, digest, ok := ParseSnapshotName(e.Name)
		if !ok {
			if _, _, temp := fsx.ParseTempName(e.Name); temp {
				l.Leftovers = append(l.Leftovers, e.Name)
			} else {
				l.Foreign = append(l.Foreign, e.Name)
			}
			continue
		}
		info, err := s.d.Lstat(e.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // pruned meanwhile
		}
		if err != nil {
			return l, err
		}
		if info.Kind != fsops.Regular {
			l.Foreign = append(l.Foreign, e.Name)
			continue
		}
		l.Found = append(l.Found, Snapshot{Name: e.Name, Revision: rev, Digest: digest, Size: info.Size, SavedAt: info.Mtime})
	}
	sort.Slice(l.Found, func(i, j int) bool {
		a, b := l.Found[i], l.Found[j]
		if a.Revision != b.Revision {
			return a.Revision > b.Revision
		}
		return a.Name < b.Name
	})
	sort.Strings(l.Leftovers)
	sort.Strings(l.Foreign)
	return l, nil
}

// Read gives the bytes of a snapshot, verified: [ErrDamaged] if they are not
// those of its name, [fsx.ErrTooLarge] beyond max.
func (s *Snapshots) Read(name string, max int64) ([]byte, error) {
	data, _, err := s.read(name, max)
	return data, err
}

func (s *Snapshots) read(name string, max int64) ([]byte, fsx.Info, error) {
	_, digest, ok := ParseSnapshotName(name)
	if !ok {
		return nil, fsx.Info{}, fmt.Errorf("snapshot name: %w", fsx.ErrBadName)
	}
	data, info, err := s.d.ReadFileInfo(name, max)
	if err != nil {
		return nil, info, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return nil, info, fmt.Errorf("snapshot %s: %w", name, ErrDamaged)
	}
	return data, info, nil
}

// Stage is the write that stores data as a snapshot, for a [Sequence].
func (s *Snapshots) Stage(rev uint64, data []byte) Write {
	return Write{Dir: s.d, Name: SnapshotName(rev, data), Data: data, Mode: 0o600, New: true, Same: true}
}

// Put stores data durably. An identical snapshot that is already there is fine
// (its directory is synced again: whoever made it may have died before that);
// one of that name with other bytes is [ErrDamaged] and left as it is.
func (s *Snapshots) Put(ctx context.Context, rev uint64, data []byte, o Options) (string, fsx.Receipt, error) {
	w := s.Stage(rev, data)
	rec, err := Sequence(ctx, []Write{w}, nil, o)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("snapshot %s: %w", w.Name, ErrDamaged)
	}
	return w.Name, rec, err
}

// Prune removes snapshots beyond the newest keep by revision, except the names
// in protect. A copy that does not match its name, or is larger than maxBytes,
// is damage to be looked at: it stays. Removal is by identity; a copy that went
// meanwhile is no error. Nothing is synced: a pruned copy that comes back after
// power loss does no harm.
func (s *Snapshots) Prune(keep int, maxBytes int64, protect ...string) (removed []string, err error) {
	l, err := s.List(100_000)
	if err != nil {
		return nil, err
	}
	safe := map[string]bool{}
	for _, n := range protect {
		safe[n] = true
	}
	keep = max(keep, 0)
	if len(l.Found) <= keep {
		return nil, nil
	}
	var errs []error
	for _, c := range l.Found[keep:] {
		if safe[c.Name] {
			continue
		}
		_, info, err := s.read(c.Name, maxBytes)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) || errors.Is(err, fsx.ErrTooLarge) {
			continue
		}
		if err == nil {
			err = s.d.Remove(c.Name, info.ID)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody else's removal is not claimed (R3)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, c.Name)
	}
	return removed, errors.Join(errs...)
}
