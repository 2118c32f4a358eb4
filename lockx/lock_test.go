package lockx

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// gofrs/flock#58: one lock used by 2,000 goroutines excluded nobody.
func TestOneGoroutineAtATime(t *testing.T) {
	d, _ := openDir(t)
	var inside, most, done atomic.Int32
	var wg sync.WaitGroup
	for range 2000 {
		wg.Go(func() {
			h, err := Acquire(t.Context(), d, "l", Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n > 1 {
				most.Store(n)
			}
			inside.Add(-1)
			done.Add(1)
			if err := h.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 0 || done.Load() != 2000 {
		t.Errorf("%d goroutines inside at once, %d of 2000 came in", most.Load(), done.Load())
	}
	if n := len(locks.files); n != 0 {
		t.Errorf("%d queues left in the registry", n)
	}
}

func TestGoroutinesAreServedInTurn(t *testing.T) {
	d, _ := openDir(t)
	h := acquire(t, d, Options{})
	key := h.t.q.key
	var order []int
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			h, err := Acquire(t.Context(), d, "l", Options{})
			if err != nil {
				t.Error(err)
				return
			}
			order = append(order, i) // the lock guards it
			_ = h.Release()
		})
		for lineLength(key) != i+1 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	release(t, h)
	wg.Wait()
	for i, n := range order {
		if i != n {
			t.Fatalf("served in the order %v", order)
		}
	}
}

func lineLength(key fileKey) int {
	locks.mu.Lock()
	defer locks.mu.Unlock()
	return len(locks.files[key].line)
}

func TestProcessesExcludeEachOther(t *testing.T) {
	_, dir := openDir(t)
	path := filepath.Join(dir, "l")
	var cs []*child
	for range 4 {
		cs = append(cs, startChild(t, "count", path))
	}
	for _, c := range cs {
		if err := c.finish(); err != nil {
			t.Error(err)
		}
	}
	data, err := os.ReadFile(path + ".n")
	if err != nil || string(data) != "400" {
		t.Errorf("counter is %q, %v; want 400", data, err)
	}
}

func TestBusyNamesTheHolder(t *testing.T) {
	d, dir := openDir(t)
	c := startChild(t, "hold", filepath.Join(dir, "l"))
	c.expect("locked")
	be := expectBusy(t, d, false)
	if !be.HolderKnown || be.Holder.PID != c.cmd.Process.Pid || be.Holder.Purpose != "child" {
		t.Errorf("holder is %+v, want process %d", be.Holder, c.cmd.Process.Pid)
	}
	if !strings.Contains(be.Error(), "(child)") {
		t.Errorf("message %q does not say the purpose", be.Error())
	}
	if err := c.finish(); err != nil {
		t.Fatal(err)
	}
	release(t, acquire(t, d, Options{Timeout: -1}))
}

func TestKilledHolderFreesTheLockAndIsReported(t *testing.T) {
	d, dir := openDir(t)
	c := startChild(t, "hold", filepath.Join(dir, "l"))
	c.expect("locked")
	got := make(chan *Handle)
	go func() {
		h, err := Acquire(t.Context(), d, "l", Options{})
		if err != nil {
			t.Error(err)
		}
		got <- h
	}()
	time.Sleep(50 * time.Millisecond)
	killed := time.Now()
	c.kill()
	h := <-got
	if h == nil {
		t.FailNow()
	}
	if took := time.Since(killed); took > 2*time.Second {
		t.Errorf("took %v after the kill", took)
	}
	r, ok := h.Recovered()
	if !ok || r.PID != c.cmd.Process.Pid || !r.Held {
		t.Errorf("Recovered() = %+v, %v; want process %d", r, ok, c.cmd.Process.Pid)
	}
	if v, why := r.Judge(); v != Dead {
		t.Errorf("predecessor is judged %v: %s", v, why)
	}
	if h.Record().Generation != r.Generation+1 {
		t.Errorf("generation %d follows %d", h.Record().Generation, r.Generation)
	}
	release(t, h)
	h = acquire(t, d, Options{})
	if r, ok := h.Recovered(); ok {
		t.Errorf("after an orderly release Recovered() = %+v", r)
	}
}

func TestTimeoutEndsTheWait(t *testing.T) {
	d, dir := openDir(t)
	for name, hold := range map[string]func(t *testing.T){
		"held in this process": func(t *testing.T) { acquire(t, d, Options{}) },
		"held by another": func(t *testing.T) {
			startChild(t, "hold", filepath.Join(dir, "l")).expect("locked")
		},
	} {
		t.Run(name, func(t *testing.T) {
			hold(t)
			start := time.Now()
			_, err := Acquire(t.Context(), d, "l", Options{Timeout: 50 * time.Millisecond})
			if !errors.Is(err, ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error is %v", err)
			}
			if took := time.Since(start); took < 50*time.Millisecond || took > 5*time.Second {
				t.Errorf("waited %v", took)
			}
		})
	}
}

func TestCancelledWaitLeavesNoHolderBehind(t *testing.T) {
	d, dir := openDir(t)
	c := startChild(t, "hold", filepath.Join(dir, "l"))
	c.expect("locked")
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		errc := make(chan error, 1)
		go func() {
			_, err := Acquire(ctx, d, "l", Options{Shared: i%2 == 1})
			errc <- err
		}()
		time.Sleep(5 * time.Millisecond)
		cancelled := time.Now()
		cancel()
		if err := <-errc; !errors.Is(err, context.Canceled) {
			t.Fatalf("error is %v", err)
		}
		if took := time.Since(cancelled); took > time.Second {
			t.Errorf("the cancelled call took %v to return", took)
		}
	}
	waits := func() (n int) {
		locks.mu.Lock()
		defer locks.mu.Unlock()
		for _, q := range locks.files {
			for _, w := range q.waits {
				if w != nil {
					n++
				}
			}
		}
		return n
	}
	if n := waits(); n > 2 {
		t.Errorf("%d goroutines are parked for one file", n)
	}
	if err := c.finish(); err != nil {
		t.Fatal(err)
	}
	for i := 0; waits() > 0; i++ { // they get the lock, and let go
		if i > 5000 {
			t.Fatal("a grant that nobody wants is kept")
		}
		time.Sleep(time.Millisecond)
	}
	release(t, acquire(t, d, Options{Timeout: -1}))
	if len(locks.files) != 0 {
		t.Error("queues left in the registry")
	}
}

func TestAnAbandonedWaitIsTakenOver(t *testing.T) {
	d, dir := openDir(t)
	c := startChild(t, "hold", filepath.Join(dir, "l"))
	c.expect("locked")
	if _, err := Acquire(t.Context(), d, "l", Options{Timeout: 20 * time.Millisecond}); !errors.Is(err, ErrBusy) {
		t.Fatal(err)
	}
	got := make(chan *Handle)
	go func() {
		h, err := Acquire(t.Context(), d, "l", Options{})
		if err != nil {
			t.Error(err)
		}
		got <- h
	}()
	time.Sleep(50 * time.Millisecond)
	if err := c.finish(); err != nil {
		t.Fatal(err)
	}
	if h := <-got; h != nil {
		expectBusy(t, d, false)
		release(t, h)
	}
}

func TestEndedContextAcquiresNothing(t *testing.T) {
	d, dir := openDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Acquire(ctx, d, "l", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "l")); err == nil {
		t.Error("a lock file was made")
	}
}

func TestReleaseTwiceDoesNotReleaseTheSuccessor(t *testing.T) {
	d, _ := openDir(t)
	first := acquire(t, d, Options{})
	release(t, first)
	second := acquire(t, d, Options{})
	release(t, first)
	expectBusy(t, d, false)
	if err := first.Verify(); !errors.Is(err, ErrReleased) {
		t.Errorf("Verify after Release: %v", err)
	}
	if err := second.Verify(); err != nil {
		t.Errorf("Verify of the holder: %v", err)
	}
}

func TestReleaseKeepsTheFile(t *testing.T) {
	d, dir := openDir(t)
	release(t, acquire(t, d, Options{}))
	if _, err := os.Lstat(filepath.Join(dir, "l")); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "l"+turnSuffix)); err == nil {
		t.Error("an exclusive lock made a turnstile")
	}
}
