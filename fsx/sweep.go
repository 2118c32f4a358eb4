package fsx

import (
	"time"

	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/internal/procid"
)

// SweepOptions bound a [Dir.Sweep].
type SweepOptions struct {
	// MinAge keeps staged files younger than this by their modification time;
	// default 0. A file dated in the future is young.
	MinAge time.Duration
	// Match, if set, limits the sweep to staged files whose target it accepts.
	Match func(target string) bool
	// OwnersGone is the caller's word that no writer of a matching file can be
	// alive, because the caller holds the lock that all of them need. Without it
	// a file goes only if its process is proven dead.
	OwnersGone bool
	// Max is how many entries of the directory are looked at; default 10,000.
	Max int
}

// Swept is what a sweep did.
type Swept struct {
	Removed []string          // names that are gone
	Kept    map[string]string // staged files that stay, and why
}

// Sweep removes the staged files that killed writers left in this directory. It
// touches nothing but names that [ParseTempName] understands, keeps whatever it
// is not sure about, and removes only the file it looked at. An entry that
// can't be removed is kept with the reason; only a directory that can't be
// listed is an error.
func (d *Dir) Sweep(o SweepOptions) (Swept, error) {
	if o.Max == 0 {
		o.Max = 10_000
	}
	s := Swept{Kept: map[string]string{}}
	es, err := d.List(o.Max)
	if err != nil {
		return s, err
	}
	for _, e := range es {
		target, owner, ok := ParseTempName(e.Name)
		if !ok || o.Match != nil && !o.Match(target) {
			continue
		}
		info, err := d.Lstat(e.Name)
		switch {
		case err != nil:
			if Classify(StepStat, err) != NotFound {
				s.Kept[e.Name] = err.Error()
			}
			continue
		case info.Kind != fsops.Regular:
			s.Kept[e.Name] = wrongKind(info.Kind, fsops.Regular).Error()
			continue
		case time.Since(info.Mtime) < o.MinAge:
			s.Kept[e.Name] = "younger than " + o.MinAge.String()
			continue
		}
		if !o.OwnersGone {
			if v, why := procid.Judge(owner); v != procid.Dead {
				s.Kept[e.Name] = why
				continue
			}
		}
		if err := d.Remove(e.Name, info.ID); err != nil {
			s.Kept[e.Name] = err.Error()
			continue
		}
		s.Removed = append(s.Removed, e.Name)
	}
	return s, nil
}
