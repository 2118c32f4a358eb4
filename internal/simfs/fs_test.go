package simfs

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/landfast/landfast/internal/fsops"
)

func openRoot(t *testing.T, f fsops.Table) fsops.Handle {
	t.Helper()
	h, err := f.OpenRoot("/")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The model must answer as a kernel does, or it proves the wrong thing.
func TestAnswersAreThoseOfAKernel(t *testing.T) {
	f := New(Weak)
	f.WriteFile("/file", []byte("x"), 0o644)
	f.WriteFile("/full/child", nil, 0o644)
	f.MkdirAll("/empty")
	f.Symlink("/link", "full")
	d := openRoot(t, f)
	for name, c := range map[string]struct {
		got  error
		want error
	}{
		"open missing":             {second(f.OpenFile(d, "missing", fsops.Read, 0)), syscall.ENOENT},
		"open link":                {second(f.OpenFile(d, "link", fsops.Read, 0)), syscall.ELOOP},
		"open dir for writing":     {second(f.OpenFile(d, "full", fsops.ReadWrite, 0)), syscall.EISDIR},
		"open dir through a link":  {second(f.OpenDir(d, "link")), syscall.ELOOP},
		"open dir through a file":  {second(f.OpenDir(d, "file/x")), syscall.ENOTDIR},
		"create over":              {second(f.CreateExcl(d, "file", 0)), syscall.EEXIST},
		"mkdir over":               {f.Mkdir(d, "file", 0), syscall.EEXIST},
		"unlink dir":               {f.Unlink(d, "full"), syscall.EISDIR},
		"unlink missing":           {f.Unlink(d, "missing"), syscall.ENOENT},
		"rmdir full":               {f.Rmdir(d, "full"), syscall.ENOTEMPTY},
		"rmdir file":               {f.Rmdir(d, "file"), syscall.ENOTDIR},
		"rename missing":           {f.Rename(fsops.None, d, "missing", d, "x"), syscall.ENOENT},
		"rename file over dir":     {f.Rename(fsops.None, d, "file", d, "empty"), syscall.EISDIR},
		"rename dir over file":     {f.Rename(fsops.None, d, "empty", d, "file"), syscall.ENOTDIR},
		"rename dir over full dir": {f.Rename(fsops.None, d, "empty", d, "full"), syscall.ENOTEMPTY},
		"rename new over":          {f.RenameNew(fsops.None, d, "file", d, "link"), syscall.EEXIST},
		"link over":                {f.Link(d, "file", d, "link"), syscall.EEXIST},
		"link a dir":               {f.Link(d, "full", d, "new"), syscall.EPERM},
		"read a dir":               {second(f.ReadAt(d, make([]byte, 1), 0)), syscall.EISDIR},
		"bad handle":               {f.Sync(12345, fsops.SyncFull), syscall.EBADF},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// states collects the trees that a power cut may leave.
func states(f *FS) map[string]bool {
	m := map[string]bool{}
	f.Crashes(10_000, func(after *FS) bool {
		m[after.Tree()] = true
		return true
	})
	return m
}

func TestUnsyncedContentMayBeMissingTornOrZeros(t *testing.T) {
	f := New(Weak)
	f.WriteFile("/f", nil, 0o600)
	d := openRoot(t, f)
	h, err := f.OpenFile(d, "f", fsops.ReadWrite, 0)
	if err != nil {
		t.Fatal(err)
	}
	data := strings.Repeat("a", block) + "b"
	if _, err := f.WriteAt(h, []byte(data), 0); err != nil {
		t.Fatal(err)
	}
	found := states(f)
	for name, content := range map[string]string{
		"nothing": "", "all": data, "first block": data[:block], "hole and last": strings.Repeat("\x00", block) + "b", "zeros": strings.Repeat("\x00", block+1),
	} {
		g := New(Weak)
		g.WriteFile("/f", []byte(content), 0o600)
		if !found[g.Tree()] {
			t.Errorf("%s is no possible state", name)
		}
	}
	if err := f.Sync(h, fsops.SyncFull); err != nil {
		t.Fatal(err)
	}
	if n := len(states(f)); n != 1 {
		t.Errorf("%d states after the sync, want 1", n)
	}
}

func TestUnsyncedNamesMayBeMissing(t *testing.T) {
	for _, m := range []Model{Weak, Weakest} {
		f := New(m)
		f.WriteFile("/old", []byte("x"), 0o600)
		d := openRoot(t, f)
		if err := f.Rename(fsops.None, d, "old", d, "new"); err != nil {
			t.Fatal(err)
		}
		want := 2
		if m.SplitRename {
			want = 3 // both names
		}
		if n := len(states(f)); n != want {
			t.Errorf("%s: %d states after a rename, want %d", m.Name, n, want)
		}
		if err := f.SyncDir(d); err != nil {
			t.Fatal(err)
		}
		if n := len(states(f)); n != 1 {
			t.Errorf("%s: %d states after the sync, want 1", m.Name, n)
		}
	}
}

// After a failed sync the next one succeeds and the data is lost all the same.
func TestFailedSyncLosesTheDataAndTheNextSyncSucceeds(t *testing.T) {
	f := New(Weak)
	f.WriteFile("/f", []byte("old"), 0o600)
	d := openRoot(t, f)
	h, err := f.OpenFile(d, "f", fsops.ReadWrite, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(h, []byte("new"), 0); err != nil {
		t.Fatal(err)
	}
	f.SyncError = func() error { f.SyncError = nil; return syscall.EIO }
	if err := f.Sync(h, fsops.SyncFull); err != syscall.EIO {
		t.Fatalf("first sync: %v", err)
	}
	if err := f.Sync(h, fsops.SyncFull); err != nil {
		t.Fatalf("second sync: %v", err)
	}
	if live, _ := f.ReadFile("/f"); string(live) != "new" {
		t.Errorf("reads show %q", live)
	}
	f.Crashes(10, func(after *FS) bool {
		if data, _ := after.ReadFile("/f"); string(data) != "old" {
			t.Errorf("after the cut: %q", data)
		}
		return true
	})
}

func TestFullDiskWritesShortThenNothing(t *testing.T) {
	f := New(Weak)
	d := openRoot(t, f)
	h, err := f.CreateExcl(d, "f", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.SetSpace(3)
	if n, err := f.WriteAt(h, []byte("12345"), 0); n != 3 || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	if n, err := f.WriteAt(h, []byte("45"), 3); n != 0 || err != syscall.ENOSPC {
		t.Errorf("wrote %d, %v", n, err)
	}
}
