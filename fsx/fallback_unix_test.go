//go:build linux || darwin

package fsx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/landfast/landfast/internal/fsops"
)

// lacking is the operating system on a filesystem that has no no-replace
// rename, and perhaps no links either.
type lacking struct {
	osTable
	rename, link, unlink error
}

func (l lacking) RenameNew(fsops.Handle, fsops.Handle, string, fsops.Handle, string) error {
	return l.rename
}

func (l lacking) Link(fd fsops.Handle, from string, td fsops.Handle, to string) error {
	if l.link != nil {
		return l.link
	}
	return l.osTable.Link(fd, from, td, to)
}

func (l lacking) Unlink(d fsops.Handle, name string) error {
	if l.unlink != nil {
		return l.unlink
	}
	return l.osTable.Unlink(d, name)
}

func openOn(t *testing.T, table fsops.Table, path string) (*Root, *Dir) {
	t.Helper()
	root, err := OpenRootOn(table, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	d, err := root.Dir(".")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return root, d
}

func putNew(d *Dir, name, content string) (Receipt, error) {
	t, err := d.CreateTemp(name, Options{})
	if err != nil {
		return Receipt{}, err
	}
	if _, err := t.Write([]byte(content)); err != nil {
		return Receipt{}, errors.Join(err, t.Abort())
	}
	return t.PublishNew(context.Background())
}

func TestPublishNewByLinkHasOneWinnerAndLeavesOneName(t *testing.T) {
	for _, missing := range []unix.Errno{unix.EINVAL, unix.ENOSYS, unix.ENOTSUP} {
		dir := t.TempDir()
		_, d := openOn(t, lacking{rename: missing}, dir)
		const rounds, writers = 20, 8
		for round := range rounds {
			name := fmt.Sprint("f", round)
			var wg sync.WaitGroup
			var mu sync.Mutex
			var won []int
			for i := range writers {
				wg.Go(func() {
					switch _, err := putNew(d, name, fmt.Sprint(i)); {
					case err == nil:
						mu.Lock()
						won = append(won, i)
						mu.Unlock()
					case !errors.Is(err, fs.ErrExist):
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if len(won) != 1 || contentOf(t, filepath.Join(dir, name)) != fmt.Sprint(won[0]) {
				t.Fatalf("%v: %v won", missing, won)
			}
			if info, err := d.Lstat(name); err != nil || info.Nlink != 1 {
				t.Errorf("%v: %d names, %v", missing, info.Nlink, err)
			}
		}
		if es, err := os.ReadDir(dir); err != nil || len(es) != rounds {
			t.Errorf("%v: %d entries, %v", missing, len(es), err)
		}
	}
}

// FAT and exFAT have neither; publishing there by anything weaker could replace.
func TestPublishNewWithoutRenameAndLinkIsUnsupportedAndPublishesNothing(t *testing.T) {
	for _, no := range []unix.Errno{unix.EPERM, unix.ENOTSUP, unix.EMLINK} {
		dir := t.TempDir()
		_, d := openOn(t, lacking{rename: unix.EINVAL, link: no}, dir)
		_, err := putNew(d, "f", "x")
		var pe *PublishError
		if !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, no) || !errors.As(err, &pe) || pe.State != NotPublished || pe.Stage != StepLink {
			t.Errorf("%v: %v", no, err)
		}
		if es, err := os.ReadDir(dir); err != nil || len(es) != 0 {
			t.Errorf("left %v, %v", es, err)
		}
	}
}

// The content is in its place, so it is a success; the second name must be told.
func TestPublishNewByLinkTellsOfTheNameItCouldNotRemove(t *testing.T) {
	dir := t.TempDir()
	_, d := openOn(t, lacking{rename: unix.EINVAL, unlink: unix.EIO}, dir)
	r, err := putNew(d, "f", "x")
	if err != nil || len(r.Degraded) != 1 || r.Degraded[0].Step != StepUnlink || !errors.Is(r.Degraded[0].Err, unix.EIO) {
		t.Errorf("%+v, %v", r, err)
	}
	if es, err := os.ReadDir(dir); err != nil || len(es) != 2 {
		t.Errorf("%v, %v", es, err)
	}
}

func TestAFileThatCannotBeRemovedIsNamed(t *testing.T) {
	dir := t.TempDir()
	_, d := openOn(t, lacking{rename: unix.EIO, unlink: unix.EACCES}, dir)
	tmp, err := d.CreateTemp("f", Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tmp.PublishNew(context.Background())
	var pe *PublishError
	if !errors.Is(err, unix.EIO) || !errors.As(err, &pe) || pe.Tmp != filepath.Join(dir, tmp.tmp) {
		t.Errorf("%v", err)
	}
	if tmp, err = d.CreateTemp("f", Options{}); err != nil {
		t.Fatal(err)
	}
	if err := tmp.Abort(); !errors.Is(err, unix.EACCES) {
		t.Errorf("abort: %v", err)
	}
}

func TestMoveNewWithoutNoReplaceRenameMovesFilesOnly(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600), os.WriteFile(filepath.Join(dir, "taken"), []byte("y"), 0o600),
		os.MkdirAll(filepath.Join(dir, "tree/sub"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, d := openOn(t, lacking{rename: unix.EINVAL}, dir)
	if _, err := d.MoveNew(context.Background(), "file", d, "taken", Retry{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an existing one: %v", err)
	}
	if got := contentOf(t, filepath.Join(dir, "taken")); got != "y" {
		t.Errorf("holds %q", got)
	}
	if _, err := d.MoveNew(context.Background(), "file", d, "moved", Retry{}); err != nil {
		t.Error(err)
	}
	if _, err := d.Lstat("file"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old name: %v", err)
	}
	if _, err := d.MoveNew(context.Background(), "tree", d, "tree2", Retry{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a directory: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "tree/sub")); err != nil || !info.IsDir() {
		t.Errorf("the tree: %v", err)
	}
}

// remoteTable is the operating system as a network filesystem: every renaming
// is done, or not, and its reply is lost.
type remoteTable struct {
	osTable
	does   bool
	answer error
}

func (r remoteTable) FSType(fsops.Handle) (string, error) { return "nfs", nil }

func (r remoteTable) Rename(h, fd fsops.Handle, from string, td fsops.Handle, to string) error {
	if r.does {
		if err := r.osTable.Rename(h, fd, from, td, to); err != nil {
			return err
		}
	}
	return r.answer
}

func (r remoteTable) RenameNew(fsops.Handle, fsops.Handle, string, fsops.Handle, string) error {
	return unix.EINVAL // as NFS answers
}

func (r remoteTable) Link(fd fsops.Handle, from string, td fsops.Handle, to string) error {
	if r.does {
		if err := r.osTable.Link(fd, from, td, to); err != nil {
			return err
		}
	}
	return r.answer
}

// rename(2), link(2), BUGS: a server that did it and answers the repeated
// request says that the source is gone, or the name taken.
func TestALostReplyIsJudgedByWhatIsUnderTheName(t *testing.T) {
	for _, row := range []struct {
		verb   string
		write  func(*Dir) (Receipt, error)
		does   bool
		answer unix.Errno
		state  State // of a failure
	}{
		{"replace", func(d *Dir) (Receipt, error) { return put(d, "f", "new", Options{}) }, true, unix.ENOENT, 0},
		{"replace", func(d *Dir) (Receipt, error) { return put(d, "f", "new", Options{}) }, true, unix.EIO, 0},
		{"replace", func(d *Dir) (Receipt, error) { return put(d, "f", "new", Options{}) }, false, unix.EIO, StateUnknown},
		{"publish", func(d *Dir) (Receipt, error) { return putNew(d, "g", "new") }, true, unix.EEXIST, 0},
		{"publish", func(d *Dir) (Receipt, error) { return putNew(d, "g", "new") }, false, unix.EEXIST, NotPublished},
		{"publish", func(d *Dir) (Receipt, error) { return putNew(d, "g", "new") }, false, unix.EIO, StateUnknown},
	} {
		t.Run(fmt.Sprintf("%s/%v/%v", row.verb, row.does, row.answer), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, d := openOn(t, remoteTable{does: row.does, answer: row.answer}, dir)
			_, err := row.write(d)
			var pe *PublishError
			switch {
			case row.does && err != nil:
				t.Errorf("it happened: %v", err)
			case !row.does && (!errors.As(err, &pe) || pe.State != row.state || !errors.Is(err, row.answer)):
				t.Errorf("%v, want state %v", err, row.state)
			}
			want := map[string]string{"f": "old"}
			if row.does {
				want[map[string]string{"replace": "f", "publish": "g"}[row.verb]] = "new"
			}
			es, err := os.ReadDir(dir)
			if err != nil || len(es) != len(want) {
				t.Errorf("there are %v, %v", es, err)
			}
			for name, content := range want {
				if got := contentOf(t, filepath.Join(dir, name)); got != content {
					t.Errorf("%s holds %q", name, got)
				}
			}
		})
	}
}
