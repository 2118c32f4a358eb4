package lockx

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestSharedHoldersShareAndExcludeAWriter(t *testing.T) {
	d, dir := openDir(t)
	a := acquire(t, d, Options{Shared: true})
	b := acquire(t, d, Options{Shared: true, Timeout: -1})
	c := startChild(t, "share", filepath.Join(dir, "l"))
	c.expect("locked")
	be := expectBusy(t, d, false)
	if be.HolderKnown {
		t.Errorf("shared holders leave no record, got %+v", be.Holder)
	}
	release(t, a)
	release(t, b)
	expectBusy(t, d, false) // the other process still reads
	if err := c.finish(); err != nil {
		t.Fatal(err)
	}
	w := acquire(t, d, Options{Timeout: -1})
	expectBusy(t, d, true)
	release(t, w)
}

func TestSharedHolderLeavesTheRecordAlone(t *testing.T) {
	d, dir := openDir(t)
	c := startChild(t, "hold", filepath.Join(dir, "l"))
	c.expect("locked")
	c.kill()
	for range 2 {
		h := acquire(t, d, Options{Shared: true})
		if r, ok := h.Recovered(); !ok || r.PID != c.cmd.Process.Pid {
			t.Errorf("Recovered() = %+v, %v", r, ok)
		}
		release(t, h)
	}
	h := acquire(t, d, Options{})
	if _, ok := h.Recovered(); !ok {
		t.Error("a reader hid the crash from the writer that repairs it")
	}
}

// samoylenkodmitry/Cranpose#552: writers waited 15 s and more.
func TestReadersDoNotStarveAWriter(t *testing.T) {
	d, dir := openDir(t)
	var cs []*child
	for range 2 {
		cs = append(cs, startChild(t, "readers", filepath.Join(dir, "l")))
	}
	for _, c := range cs {
		c.expect("reading")
	}
	var longest time.Duration
	for range 10 {
		start := time.Now()
		h, err := Acquire(t.Context(), d, "l", Options{Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal("the writer starved: ", err)
		}
		longest = max(longest, time.Since(start))
		expectBusy(t, d, true)
		release(t, h)
	}
	t.Log("longest wait:", longest)
	if longest > 5*time.Second {
		t.Errorf("a writer waited %v among readers of 5 ms", longest)
	}
	for _, c := range cs {
		if err := c.finish(); err != nil {
			t.Error(err)
		}
	}
}

func TestManySharedWaitersAllGetIn(t *testing.T) {
	d, dir := openDir(t)
	c := startChild(t, "hold", filepath.Join(dir, "l"))
	c.expect("locked")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			h, err := Acquire(t.Context(), d, "l", Options{Shared: true, Timeout: 20 * time.Second})
			if err != nil {
				t.Error(err)
				return
			}
			_ = h.Release()
		})
	}
	time.Sleep(50 * time.Millisecond)
	if err := c.finish(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
}

func TestAnotherProcessGetsInAgainstAHog(t *testing.T) {
	d, dir := openDir(t)
	c := startChild(t, "hog", filepath.Join(dir, "l"))
	c.expect("hogging")
	var longest time.Duration
	for range 20 {
		start := time.Now()
		h, err := Acquire(t.Context(), d, "l", Options{Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal("starved by goroutines of another process: ", err)
		}
		longest = max(longest, time.Since(start))
		release(t, h)
	}
	t.Log("longest wait:", longest)
	if err := c.finish(); err != nil {
		t.Error(err)
	}
}

func TestALinkInPlaceOfTheTurnstileIsNotFollowed(t *testing.T) {
	d, dir := openDir(t)
	target := filepath.Join(dir, "target")
	if err := symlink(target, filepath.Join(dir, "l"+turnSuffix)); err != nil {
		noLinks(t, err)
	}
	release(t, acquire(t, d, Options{Shared: true}))
	if _, err := os.Lstat(target); err == nil {
		t.Error("the turnstile was created through a link")
	}
}
