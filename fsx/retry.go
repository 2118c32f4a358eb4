package fsx

import (
	"context"
	"math/rand/v2"
	"time"
)

// Retry bounds the waiting for a [Transient] error, which is how Windows
// answers while a virus scanner or a reader holds the file. The zero value is
// the default: 2 s in all, starting at 1 ms, doubling with jitter up to 100 ms.
// A negative Budget means one try.
type Retry struct {
	Budget time.Duration // total time spent waiting; default 2 s
	First  time.Duration // first wait; default 1 ms
	Max    time.Duration // longest single wait; default 100 ms
}

func (r Retry) withDefaults() Retry {
	if r.Budget == 0 {
		r.Budget = 2 * time.Second
	}
	if r.First <= 0 {
		r.First = time.Millisecond
	}
	if r.Max <= 0 {
		r.Max = 100 * time.Millisecond
	}
	return r
}

// do calls f until it answers something that is not Transient, or budget or
// ctx ends; then f's last error stands. It reports how often it called and how
// long it waited. A final error comes back at once: retrying those is how
// others hang for a minute on a directory in the way (isaacs/node-graceful-fs#98).
func (r Retry) do(ctx context.Context, step Step, f func() error) (attempts int, waited time.Duration, err error) {
	r = r.withDefaults()
	wait := min(r.First, r.Max)
	for {
		attempts++
		err = f()
		if err == nil || Classify(step, err) != Transient || waited >= r.Budget {
			return attempts, waited, err
		}
		d := min(wait/2+rand.N(wait/2+1), r.Budget-waited)
		t := time.NewTimer(d)
		select {
		case <-ctx.Done():
			t.Stop()
			return attempts, waited, err
		case <-t.C:
		}
		waited += d
		wait = min(2*wait, r.Max)
	}
}
