package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
)

type writeRoot struct {
	globals `embed:""`
	Write   writeCmd `cmd:"" help:"Write standard input to PATH: the old content or the new, never a mixture, and the new for good once this returns."`
}

func (r *writeRoot) common() globals       { return r.globals }
func (r *writeRoot) chosen(string) command { return &r.Write }

type writeCmd struct {
	Path    string `arg:"" help:"The file."`
	New     bool   `help:"Refuse to replace an existing file (exit 3)."`
	Mode    string `help:"Exact mode in octal, as 0640; default: that of the existing file, else 0666 less the umask." placeholder:"MODE"`
	Symlink string `help:"A symbolic link under the name: refuse it, follow it, or replace it." enum:"refuse,follow,replace" default:"refuse"`
	Need    string `help:"Refuse beforehand (exit 6) where this can't be promised: durable, ordered or atomic." enum:"durable,ordered,atomic,none" default:"none"`
	JSON    bool   `name:"json" help:"Print the receipt as JSON."`
}

// receiptJSON is a receipt for scripts.
type receiptJSON struct {
	Guarantee string   `json:"guarantee"`
	Attempts  int      `json:"attempts"`
	WaitedMS  int64    `json:"waited_ms"`
	Degraded  []string `json:"degraded"`
}

func newReceiptJSON(r fsx.Receipt) receiptJSON {
	out := receiptJSON{Guarantee: r.Guarantee.String(), Attempts: r.Attempts, WaitedMS: r.Waited.Milliseconds(), Degraded: []string{}}
	for _, d := range r.Degraded {
		out.Degraded = append(out.Degraded, d.String())
	}
	return out
}

func (c *writeCmd) run(a *app) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	if closedInput(a.stdin) {
		return usagef("standard input is closed: there is nothing to write")
	}
	path := c.Path
	if c.Symlink == "follow" {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			path = real
		} else if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &followError{path, err}
		}
	}
	if _, err := os.Lstat(path); c.New && err == nil {
		// The commit decides; this only spares reading all of the input for nothing.
		return &fsx.PublishError{Stage: fsx.StepCreate, Path: path, Err: syscall.EEXIST}
	}
	dir, name := filepath.Split(path)
	if name == "" {
		return usagef("%q names no file", c.Path)
	}
	if dir == "" {
		dir = "."
	}
	root, err := fsx.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	// A signal takes the staged file away before the process ends.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	f, err := durable.Create(root, name, o)
	if err != nil {
		return err
	}
	if err := copyUntil(ctx, f, a.stdin); err != nil {
		return errors.Join(err, f.Abort())
	}
	commit := f.Commit
	if c.New {
		commit = f.CommitNew
	}
	receipt, err := commit(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return interrupted
		}
		return err
	}
	return a.committed(func() error { return c.show(a, receipt) })
}

func (c *writeCmd) show(a *app, r fsx.Receipt) error {
	if c.JSON {
		return a.printJSON(newReceiptJSON(r))
	}
	if a.Quiet {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", c.Path, r.Guarantee)
	for _, d := range r.Degraded {
		fmt.Fprintf(&b, "  %s\n", d)
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

func (c *writeCmd) options() (fsx.Options, error) {
	o := fsx.Options{ReplaceLink: c.Symlink == "replace"}
	if c.Mode != "" {
		m, err := strconv.ParseUint(c.Mode, 8, 32)
		if err != nil || m == 0 || m > 0o777 {
			return o, usagef("--mode %q is not an octal mode from 1 to 0777", c.Mode)
		}
		o.Mode = fs.FileMode(m)
	}
	var err error
	o.Need, err = fsx.ParseGuarantee(c.Need)
	return o, err
}

// copyUntil copies src until its end or until ctx ends. A read from a terminal or
// a pipe can't be interrupted, so it is left behind in its goroutine; the process
// is about to end then.
func copyUntil(ctx context.Context, dst io.Writer, src io.Reader) error {
	type chunk struct {
		data []byte
		err  error
	}
	chunks, again := make(chan chunk), make(chan struct{})
	go func() { // ends with src, or with the process
		buf := make([]byte, 64<<10)
		for {
			n, err := src.Read(buf)
			chunks <- chunk{buf[:n], err}
			if err != nil {
				return
			}
			<-again
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return interrupted
		case c := <-chunks:
			if len(c.data) > 0 {
				if _, err := dst.Write(c.data); err != nil {
					return err
				}
			}
			if c.err == io.EOF {
				return nil
			}
			if c.err != nil {
				return fmt.Errorf("read standard input: %w", c.err)
			}
			again <- struct{}{}
		}
	}
}
