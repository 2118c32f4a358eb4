package lockx

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

func TestInterlocksWithGofrs(t *testing.T) {
	t.Run("gofrs holds", func(t *testing.T) {
		d, dir := openDir(t)
		c := startChild(t, "gofrs", filepath.Join(dir, "l"))
		c.expect("locked")
		if be := expectBusy(t, d, false); be.HolderKnown {
			t.Errorf("gofrs leaves no record, got %+v", be.Holder)
		}
		expectBusy(t, d, true)
		if err := c.finish(); err != nil {
			t.Fatal(err)
		}
		release(t, acquire(t, d, Options{Timeout: -1}))
	})
	t.Run("lockx holds", func(t *testing.T) {
		d, dir := openDir(t)
		h := acquire(t, d, Options{})
		l := flock.New(filepath.Join(dir, "l"))
		defer l.Close()
		if ok, err := l.TryLock(); ok || err != nil {
			t.Errorf("gofrs TryLock = %v, %v", ok, err)
		}
		c := startChild(t, "gofrs", filepath.Join(dir, "l"))
		locked := make(chan string, 1)
		go func() { s, _ := c.out.ReadString('\n'); locked <- s }()
		select {
		case s := <-locked:
			t.Fatalf("gofrs got in: %q", s)
		case <-time.After(100 * time.Millisecond):
		}
		release(t, h)
		if s := <-locked; s == "" {
			t.Error("gofrs never got the released lock")
		}
	})
	t.Run("the record survives gofrs", func(t *testing.T) {
		d, dir := openDir(t)
		release(t, acquire(t, d, Options{Purpose: "first"}))
		l := flock.New(filepath.Join(dir, "l"))
		if ok, err := l.TryLock(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		// avibe-bot/avibe#2141: the record stays readable while the lock is held.
		info, err := Inspect(d, "l")
		if err != nil || info.State != StateHeld || info.Record.Purpose != "first" {
			t.Errorf("Inspect = %+v, %v", info, err)
		}
		if err := l.Unlock(); err != nil {
			t.Fatal(err)
		}
	})
}
