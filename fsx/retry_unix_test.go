//go:build linux || darwin

package fsx

import (
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// held answers as a filesystem where somebody holds the file for a while.
func held(until time.Time, calls *[]time.Time) func() error {
	return func() error {
		*calls = append(*calls, time.Now())
		if time.Now().Before(until) {
			return syscall.EAGAIN
		}
		return nil
	}
}

// npm/write-file-atomic#227: a scanner holds the target for 300 ms.
func TestRetryOutlastsAHolderWithinItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var calls []time.Time
		n, waited, err := Retry{}.do(t.Context(), StepRename, held(begin.Add(300*time.Millisecond), &calls))
		took := time.Since(begin)
		if err != nil || n != len(calls) || n < 3 || waited != took {
			t.Errorf("%d attempts, %d calls, waited %v of %v, %v", n, len(calls), waited, took, err)
		}
		if took > 400*time.Millisecond {
			t.Errorf("noticed only after %v", took)
		}
	})
}

func TestRetryWaitsDoubleWithJitterUpToTheLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, r := range []Retry{
			{},
			{Budget: time.Second, First: 2 * time.Millisecond, Max: 50 * time.Millisecond},
			{Budget: time.Second, First: time.Second, Max: 10 * time.Millisecond}, // the longest holds from the first
		} {
			full := r.withDefaults()
			var calls []time.Time
			_, _, err := r.do(t.Context(), StepRename, held(time.Now().Add(time.Hour), &calls))
			if err != syscall.EAGAIN {
				t.Errorf("%+v: %v", r, err)
			}
			want := min(full.First, full.Max)
			for i := 1; i < len(calls); i++ {
				gap := calls[i].Sub(calls[i-1])
				if last := i == len(calls)-1; gap > want || gap < want/2 && !last {
					t.Errorf("%+v: wait %d was %v, want %v to %v", r, i, gap, want/2, want)
				}
				want = min(2*want, full.Max)
			}
			if spent := calls[len(calls)-1].Sub(calls[0]); spent != full.Budget {
				t.Errorf("%+v: spent %v of %v", r, spent, full.Budget)
			}
		}
	})
}

func TestRetryTriesOnceWithANegativeBudgetOrAFinalError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, row := range []struct {
			name string
			r    Retry
			err  error
		}{
			{"negative budget", Retry{Budget: -1}, syscall.EAGAIN},
			{"directory in the way", Retry{}, syscall.EISDIR}, // isaacs/node-graceful-fs#98
			{"I/O error", Retry{}, syscall.EIO},
			{"full disk", Retry{}, syscall.ENOSPC},
			{"no error", Retry{}, nil},
		} {
			begin, calls := time.Now(), 0
			n, waited, err := row.r.do(t.Context(), StepRename, func() error { calls++; return row.err })
			if n != 1 || calls != 1 || waited != 0 || time.Since(begin) != 0 || err != row.err {
				t.Errorf("%s: %d attempts, %d calls, waited %v, %v", row.name, n, calls, waited, err)
			}
		}
	})
}

func TestRetryEndsWithItsContextAndReportsTheLastError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 70*time.Millisecond)
		defer cancel()
		begin := time.Now()
		var calls []time.Time
		n, waited, err := Retry{Budget: time.Hour}.do(ctx, StepRename, held(begin.Add(time.Hour), &calls))
		if took := time.Since(begin); took != 70*time.Millisecond || waited > took || n != len(calls) || err != syscall.EAGAIN {
			t.Errorf("%d attempts, waited %v of %v, %v", n, waited, took, err)
		}
	})
}
