package lockx

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/testenv"
)

// The test binary run again is the other process. It prints one line for each
// step and goes on when it reads one, or as its name says.
const childEnv = "LANDFAST_LOCKX_CHILD"

func TestMain(m *testing.M) {
	if kind := os.Getenv(childEnv); kind != "" {
		if err := runChild(kind, os.Args[len(os.Args)-1]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func runChild(kind, path string) error {
	in := bufio.NewReader(os.Stdin)
	wait := func() { _, _ = in.ReadString('\n') }
	if kind == "gofrs" {
		l := flock.New(path)
		if err := l.Lock(); err != nil {
			return err
		}
		fmt.Println("locked")
		wait()
		return l.Unlock()
	}
	root, err := fsx.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	d, err := root.Dir(".")
	if err != nil {
		return err
	}
	ctx, name := context.Background(), filepath.Base(path)
	switch kind {
	case "hold", "share":
		h, err := Acquire(ctx, d, name, Options{Purpose: "child", Shared: kind == "share"})
		if err != nil {
			return err
		}
		fmt.Println("locked")
		wait()
		return h.Release()
	case "try":
		h, err := Acquire(ctx, d, name, Options{Timeout: -1})
		if err != nil {
			return err
		}
		return h.Release()
	case "count": // adds 1 to the number in the file beside the lock, 100 times
		for range 100 {
			h, err := Acquire(ctx, d, name, Options{})
			if err != nil {
				return err
			}
			err = increment(path + ".n")
			if err := errors.Join(err, h.Release()); err != nil {
				return err
			}
		}
		return nil
	case "readers": // a stream of overlapping readers until told to stop
		stop := make(chan struct{})
		for range 4 {
			go func() {
				for {
					h, err := Acquire(ctx, d, name, Options{Shared: true})
					if err != nil {
						fmt.Println("error:", err)
						os.Exit(1)
					}
					time.Sleep(5 * time.Millisecond)
					_ = h.Release()
				}
			}()
		}
		time.AfterFunc(100*time.Millisecond, func() { fmt.Println("reading") })
		go func() { wait(); close(stop) }()
		<-stop
		return nil
	case "hog": // goroutines that hand the lock to each other without a pause
		for range 8 {
			go func() {
				for {
					h, err := Acquire(ctx, d, name, Options{})
					if err != nil {
						os.Exit(1)
					}
					time.Sleep(100 * time.Microsecond)
					_ = h.Release()
				}
			}()
		}
		fmt.Println("hogging")
		wait()
		return nil
	}
	return fmt.Errorf("no child %q", kind)
}

func increment(path string) error {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n := 0
	_, _ = fmt.Sscan(string(data), &n)
	return os.WriteFile(path, fmt.Append(nil, n+1), 0o600)
}

type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(t *testing.T, kind, path string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0], path)}
	c.cmd.Env = append(os.Environ(), childEnv+"="+kind)
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill(); _ = c.cmd.Wait() })
	return c
}

// line reads the next line of the child.
func (c *child) line() string {
	c.t.Helper()
	s, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("child ended early: %q, %v", s, err)
	}
	return strings.TrimSpace(s)
}

func (c *child) expect(want string) {
	c.t.Helper()
	if got := c.line(); got != want {
		c.t.Fatalf("child says %q, want %q", got, want)
	}
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// finish lets the child go on to its end.
func (c *child) finish() error {
	_ = c.in.Close()
	rest, _ := io.ReadAll(c.out)
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, rest)
	}
	return nil
}

// tempDir is t.TempDir whose cleanup works under Wine: files first, deepest
// directory last, and a name in use is no failure of the test.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "lockx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var paths []string
		_ = filepath.WalkDir(dir, func(p string, _ fs.DirEntry, _ error) error {
			paths = append(paths, p)
			return nil
		})
		for i := len(paths) - 1; i >= 0; i-- {
			_ = os.Remove(paths[i])
		}
	})
	return dir
}

// symlink is os.Symlink that looks whether there is a link: Wine only says so.
func symlink(to, at string) error {
	if err := os.Symlink(to, at); err != nil {
		return err
	}
	fi, err := os.Lstat(at)
	if err == nil && fi.Mode()&fs.ModeSymlink == 0 {
		err = errors.New("the system made no link")
	}
	return err
}

// noLinks ends a test whose link could not be made.
func noLinks(t *testing.T, err error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		testenv.NotHere(t, "links need a privilege: "+err.Error())
	}
	testenv.Skip(t, testenv.Symlink, err.Error())
}

// openDir gives a temporary directory, open and by path.
func openDir(t *testing.T) (*fsx.Dir, string) {
	t.Helper()
	path := tempDir(t)
	return reopen(t, path), path
}

func reopen(t *testing.T, path string) *fsx.Dir {
	t.Helper()
	root, err := fsx.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := root.Dir(".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(); _ = root.Close() })
	return d
}

func acquire(t *testing.T, d *fsx.Dir, o Options) *Handle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	h, err := Acquire(ctx, d, "l", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Release() })
	return h
}

func release(t *testing.T, h *Handle) {
	t.Helper()
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
}

// expectBusy tries once and wants the lock held.
func expectBusy(t *testing.T, d *fsx.Dir, shared bool) *BusyError {
	t.Helper()
	h, err := Acquire(t.Context(), d, "l", Options{Timeout: -1, Shared: shared})
	if err == nil {
		_ = h.Release()
		t.Fatal("a second holder got in")
	}
	be, ok := errors.AsType[*BusyError](err)
	if !ok || !errors.Is(err, ErrBusy) {
		t.Fatalf("error is %v, want *BusyError", err)
	}
	return be
}
