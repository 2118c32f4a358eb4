package fsx

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Guarantee is what holds of a file after a call returned nil. Greater is
// stronger.
type Guarantee uint8

// The guarantees.
const (
	// None: other processes see old or new content, power loss may leave nothing
	// of either (tmpfs).
	None Guarantee = iota
	// Atomic: other processes see old or new content; nothing is known about power loss.
	Atomic
	// Ordered: after power loss the name holds the old or the new content, whole.
	Ordered
	// BestEffortDurable: every flush that the platform has was made and answered
	// success, but its vendor does not document that this makes a rename durable (NTFS).
	BestEffortDurable
	// Durable: the new content is there after power loss at any later moment.
	Durable
)

var guaranteeNames = [...]string{"none", "atomic", "ordered", "best-effort-durable", "durable"}

// String is the guarantee's name, as commands print and accept it.
func (g Guarantee) String() string {
	if int(g) < len(guaranteeNames) {
		return guaranteeNames[g]
	}
	return fmt.Sprintf("guarantee %d", uint8(g))
}

// ParseGuarantee reads the names that [Guarantee.String] writes.
func ParseGuarantee(s string) (Guarantee, error) {
	for i, n := range guaranteeNames {
		if n == s {
			return Guarantee(i), nil
		}
	}
	return None, fmt.Errorf("guarantee %q: want one of %s", s, strings.Join(guaranteeNames[:], ", "))
}

// Degradation is a step that could not be done as well as asked, in a call that
// succeeded all the same.
type Degradation struct {
	Step Step
	Err  error  // what the operating system said, or nil
	Why  string // for people
}

// String says it in one line.
func (d Degradation) String() string {
	if d.Err != nil {
		return fmt.Sprintf("%s: %s: %v", d.Step, d.Why, d.Err)
	}
	return fmt.Sprintf("%s: %s", d.Step, d.Why)
}

// Receipt is what a successful publish was worth. The zero Receipt promises
// nothing.
type Receipt struct {
	Guarantee Guarantee
	Attempts  int           // of the step that was tried most often; 1 is normal
	Waited    time.Duration // in back-off, not in system calls
	Degraded  []Degradation
}

// Merge adds the receipt of another part of the same change: the weaker
// guarantee holds, waits add up.
func (r Receipt) Merge(o Receipt) Receipt {
	r.Guarantee = min(r.Guarantee, o.Guarantee)
	r.Attempts = max(r.Attempts, o.Attempts)
	r.Waited += o.Waited
	r.Degraded = slices.Concat(r.Degraded, o.Degraded) // r is a copy that shares its array
	return r
}

// degrade caps the guarantee and notes why.
func (r *Receipt) degrade(to Guarantee, ds ...Degradation) {
	if len(ds) == 0 {
		return
	}
	r.Guarantee = min(r.Guarantee, to)
	r.Degraded = append(r.Degraded, ds...)
}
