package lockx

import (
	"context"
	"errors"
	"slices"

	"github.com/landfast/landfast/fsx"
)

// kernelWait is one goroutine blocked in the kernel for the lock of a file. The
// kernel's wait can't be cancelled without a signal, so callers attach to it and
// detach from it: one that gives up goes at once, the next one for the same file
// and mode takes over the wait, and a grant that nobody wants is released at
// once. So at most two goroutines (and threads) of a process are ever parked per
// file, whatever the number of callers and timeouts.
type kernelWait struct {
	file    *fsx.File
	seekers []chan grant // attached callers in order; guarded by registry.mu
	cancel  context.CancelFunc
}

// grant is what a kernelWait hands to a caller: the locked file, an error, or
// neither, which means "try again yourself".
type grant struct {
	file *fsx.File
	err  error
}

// seek blocks until the kernel grants the lock to t, or ctx ends. Nil means that
// t.file is locked.
func (r *registry) seek(ctx context.Context, t *ticket, openTurn func() *turnstile) error {
	for {
		g, err := r.attach(ctx, t, openTurn)
		if err != nil {
			return err
		}
		if g.err != nil {
			return g.err
		}
		if g.file != nil {
			if t.file != nil {
				_ = t.file.Close()
			}
			t.file = g.file
			return nil
		}
		// A reader next to the one that got the grant: the lock is most likely
		// free for it as well.
		tb, h := t.file.Handle()
		if ok, err := kernelTry(tb, h, t.shared); ok || err != nil {
			return err
		}
	}
}

func (r *registry) attach(ctx context.Context, t *ticket, openTurn func() *turnstile) (grant, error) {
	mode := 0
	if t.shared {
		mode = 1
	}
	turn := openTurn() // before the lock: it makes system calls
	ch := make(chan grant, 1)
	r.mu.Lock()
	w := t.q.waits[mode]
	if w == nil {
		wctx, cancel := context.WithCancel(context.Background())
		w = &kernelWait{file: t.file, cancel: cancel}
		t.file = nil // w closes it or passes it on
		t.q.waits[mode] = w
		t.q.refs++
		// The goroutine ends when the kernel grants the lock, at the latest when
		// the present holder ends.
		go r.wait(wctx, t.q, mode, w, turn)
		turn = nil
	}
	w.seekers = append(w.seekers, ch)
	r.mu.Unlock()
	turn.close()

	select {
	case g := <-ch:
		return g, nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	i := slices.Index(w.seekers, ch)
	if i >= 0 {
		w.seekers = slices.Delete(w.seekers, i, i+1)
		if len(w.seekers) == 0 {
			w.cancel() // reaches only a model's lock; the kernel's wait goes on
		}
	}
	r.mu.Unlock()
	if i < 0 { // the grant is on its way already
		if g := <-ch; g.file != nil {
			dropFile(g.file)
		}
	}
	return grant{}, ctx.Err()
}

// wait is the goroutine of w.
func (r *registry) wait(ctx context.Context, q *queue, mode int, w *kernelWait, turn *turnstile) {
	defer w.cancel()
	tb, h := w.file.Handle()
	turn.enter()
	err := kernelWaitFor(ctx, tb, h, mode == 1)
	turn.close()

	r.mu.Lock()
	q.waits[mode] = nil
	seekers := w.seekers
	w.seekers = nil
	r.unref(q)
	r.mu.Unlock()

	// A cancelled wait may have been attached to again in the last moment: those
	// callers try themselves.
	g := grant{file: w.file}
	if err != nil {
		_ = w.file.Close()
		g = grant{err: err}
		if errors.Is(err, context.Canceled) {
			g = grant{}
		}
	} else if len(seekers) == 0 {
		dropFile(w.file)
	}
	for i, ch := range seekers {
		if i > 0 && err == nil {
			g = grant{}
		}
		ch <- g
	}
}

// dropFile releases and closes a lock that nobody wants.
func dropFile(f *fsx.File) error {
	tb, h := f.Handle()
	return errors.Join(kernelUnlock(tb, h), f.Close())
}
