package fsx

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/internal/testenv"
)

func mustClose(t *testing.T, h fsops.Handle) {
	t.Helper()
	if err := (osTable{}).Close(h); err != nil {
		t.Error(err)
	}
}

// mustWrite makes a file through the table and leaves it closed.
func mustWrite(t *testing.T, d *Dir, name, content string) {
	t.Helper()
	h, err := osTable{}.CreateExcl(d.h, name, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, h)
	if n, err := (osTable{}).WriteAt(h, []byte(content), 0); err != nil || n != len(content) {
		t.Fatal(n, err)
	}
}

func TestWindowsStagedFileIsForItsWriterAlone(t *testing.T) {
	path, _, d := windowsDir(t)
	h, err := osTable{}.CreateExcl(d.h, "f", 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, h)
	if _, err := (osTable{}).CreateExcl(d.h, "F", 0o666); Classify(StepCreate, err) != Exists || !errors.Is(err, fs.ErrExist) {
		t.Errorf("creating it again, in capitals: %v", err)
	}
	if _, err := os.OpenFile(filepath.Join(path, "f"), os.O_WRONLY, 0); !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		t.Errorf("another writer: %v", err)
	}
	if _, err := (osTable{}).OpenFile(d.h, "f", fsops.ReadWrite, 0); Classify(StepOpen, err) != Transient {
		t.Errorf("another writer of ours: %v", err)
	}
}

func TestWindowsReadAndWriteAtOffsets(t *testing.T) {
	_, _, d := windowsDir(t)
	tb := osTable{}
	if _, err := tb.OpenFile(d.h, "f", fsops.ReadWrite, 0); Classify(StepOpen, err) != NotFound {
		t.Errorf("opening what is not there: %v", err)
	}
	h, err := tb.OpenFile(d.h, "f", fsops.CreateReadWrite, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, h)
	const far = 5<<30 + 1 // beyond 32 bits
	for _, w := range []struct {
		off int64
		s   string
	}{{0, "abc"}, {1, "XY"}} {
		if n, err := tb.WriteAt(h, []byte(w.s), w.off); err != nil || n != len(w.s) {
			t.Fatal(n, err)
		}
	}
	for _, r := range []struct {
		off  int64
		want string
	}{{0, "aXY"}, {2, "Y"}, {3, ""}, {far, ""}} {
		buf := make([]byte, 10)
		n, err := tb.ReadAt(h, buf, r.off)
		if err != nil || string(buf[:n]) != r.want {
			t.Errorf("read at %d: %q, %v; want %q", r.off, buf[:n], err, r.want)
		}
	}
	if info, err := tb.Stat(h); err != nil || info.Size != 3 {
		t.Errorf("%+v, %v", info, err)
	}
	// Opening it once more to create it leaves the content.
	again, err := tb.OpenFile(d.h, "f", fsops.CreateReadWrite, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, again)
	buf := make([]byte, 10)
	if n, err := tb.ReadAt(again, buf, 0); err != nil || string(buf[:n]) != "aXY" {
		t.Errorf("%q, %v", buf[:n], err)
	}
}

func TestWindowsStatTellsKindIdentityTimeAndLinks(t *testing.T) {
	_, _, d := windowsDir(t)
	tb := osTable{}
	before := time.Now().Add(-2 * time.Second)
	mustWrite(t, d, "f", "four")
	mustWrite(t, d, "g", "")
	f, err := tb.Lstat(d.h, "f")
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind != fsops.Regular || f.Size != 4 || f.Nlink != 1 || f.Mode != 0o666 || f.Mtime.Before(before) || f.Mtime.After(time.Now().Add(2*time.Second)) {
		t.Errorf("%+v", f)
	}
	if err := tb.Link(d.h, "f", d.h, "f2"); err != nil {
		t.Fatal(err)
	}
	if err := tb.Link(d.h, "f", d.h, "g"); Classify(StepLink, err) != Exists {
		t.Errorf("linking over a file: %v", err)
	}
	f2, err := tb.Lstat(d.h, "f2")
	if err != nil || f2.ID != f.ID || f2.Nlink != 2 {
		t.Errorf("%+v, %v: want the identity of %+v", f2, err, f)
	}
	if g, err := tb.Lstat(d.h, "g"); err != nil || g.ID == f.ID || g.ID.Dev != f.ID.Dev {
		t.Errorf("two files with one identity: %+v, %v", g, err)
	}
	h, err := tb.OpenFile(d.h, "f", fsops.Read, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, h)
	if open, err := tb.Stat(h); err != nil || open.ID != f.ID {
		t.Errorf("opened %+v, %v", open, err)
	}
	if dir, err := tb.Stat(d.h); err != nil || dir.Kind != fsops.Dir || dir.Mode != 0o777 {
		t.Errorf("directory: %+v, %v", dir, err)
	}
	if _, err := tb.Lstat(d.h, "none"); Classify(StepStat, err) != NotFound {
		t.Errorf("missing: %v", err)
	}
	if s, err := tb.FSType(d.h); err != nil || s == "" || s != strings.ToLower(s) {
		t.Errorf("filesystem %q, %v", s, err)
	}
}

func TestWindowsChmodTurnsOneBitAndLeavesTheOtherAttributes(t *testing.T) {
	_, _, d := windowsDir(t)
	tb := osTable{}
	h, err := tb.CreateExcl(d.h, "f", 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, h)
	fresh, err := byHandle(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o444, 0o666, 0o400, 0o600} {
		if err := tb.Chmod(h, mode); err != nil {
			t.Fatal(err)
		}
		i, err := byHandle(h)
		if err != nil {
			t.Fatal(err)
		}
		want := fresh.FileAttributes
		if mode&0o200 == 0 {
			want |= windows.FILE_ATTRIBUTE_READONLY
		}
		if i.FileAttributes != want {
			t.Errorf("chmod %v: attributes %#x, want %#x", mode, i.FileAttributes, want)
		}
	}
}

func TestWindowsListStartsAtTheBeginningAndStopsBehindMax(t *testing.T) {
	_, _, d := windowsDir(t)
	tb := osTable{}
	if es, err := tb.List(d.h, 10); err != nil || len(es) != 0 {
		t.Errorf("empty: %v, %v", es, err)
	}
	var want []string
	for i := range 600 { // more than one buffer holds
		name := strings.Repeat("long name ", 9) + string(rune('a'+i/26)) + string(rune('a'+i%26))
		mustWrite(t, d, name, "")
		want = append(want, name)
	}
	for range 2 {
		es, err := tb.List(d.h, 1000)
		var got []string
		for _, e := range es {
			got = append(got, e.Name)
			if e.Kind != fsops.Regular {
				t.Fatalf("%+v", e)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d names, %v; want %d", len(got), err, len(want))
		}
	}
	if es, err := tb.List(d.h, 7); err != nil || len(es) != 8 {
		t.Errorf("%d names, %v; want one more than 7", len(es), err)
	}
}

func TestWindowsUnlinkAndRmdirKeepToTheirKind(t *testing.T) {
	_, _, d := windowsDir(t)
	tb := osTable{}
	mustWrite(t, d, "f", "x")
	for _, name := range []string{"dir", "full"} {
		if err := tb.Mkdir(d.h, name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := tb.Mkdir(d.h, "dir", 0o777); Classify(StepMkdir, err) != Exists {
		t.Errorf("making it twice: %v", err)
	}
	full, err := tb.OpenDir(d.h, "full")
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, &Dir{h: full}, "child", "")
	mustClose(t, full)
	if err := tb.Unlink(d.h, "dir"); err != syscall.EISDIR {
		t.Errorf("unlinking a directory: %v", err)
	}
	if err := tb.Rmdir(d.h, "f"); err != windows.ERROR_DIRECTORY {
		t.Errorf("rmdir of a file: %v", err)
	}
	if err := tb.Rmdir(d.h, "full"); err != windows.ERROR_DIR_NOT_EMPTY {
		t.Errorf("rmdir of a full directory: %v", err)
	}
	if err := tb.Rmdir(d.h, "dir"); err != nil {
		t.Error(err)
	}
	if err := tb.Unlink(d.h, "f"); err != nil {
		t.Error(err)
	}
	if err := tb.Unlink(d.h, "f"); Classify(StepUnlink, err) != NotFound {
		t.Errorf("unlinking it twice: %v", err)
	}
}

func TestWindowsReadOnlyFileIsRemoved(t *testing.T) {
	path, _, d := windowsDir(t)
	tb := osTable{}
	mustWrite(t, d, "f", "x")
	if err := os.Chmod(filepath.Join(path, "f"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := tb.Unlink(d.h, "f"); err != nil {
		t.Error(err)
	}
	mustBeAlone(t, path)
}

// Win32 folds a pending deletion into access denied; here it keeps its errno.
func TestWindowsPendingDeletionIsTransient(t *testing.T) {
	_, _, d := windowsDir(t)
	mustWrite(t, d, "f", "x")
	h, err := ntOpen(d.h, "f", windows.DELETE|windows.SYNCHRONIZE, shareAll, windows.FILE_OPEN, openOptions)
	if err != nil {
		t.Fatal(err)
	}
	var iosb windows.IO_STATUS_BLOCK
	yes := byte(1)
	if err := windows.NtSetInformationFile(windows.Handle(h), &iosb, &yes, 1, fileDispositionInformation); err != nil {
		t.Fatal(err)
	}
	if got, err := (osTable{}).OpenFile(d.h, "f", fsops.Read, 0); err == nil {
		mustClose(t, got)
		mustClose(t, h)
		testenv.NotHere(t, "Wine 8 opens a file whose deletion is pending")
	} else if err != errDeletePending || Classify(StepOpen, err) != Transient {
		t.Errorf("while it is pending: %v", err)
	}
	mustClose(t, h)
	if _, err := (osTable{}).Lstat(d.h, "f"); Classify(StepStat, err) != NotFound {
		t.Errorf("after that: %v", err)
	}
}

func TestWindowsStatusBecomesTheErrnoThatTellsMost(t *testing.T) {
	for _, c := range []struct {
		status windows.NTStatus
		want   syscall.Errno
	}{
		{windows.STATUS_DELETE_PENDING, 303},                 // Win32: 5
		{windows.STATUS_FILE_IS_A_DIRECTORY, syscall.EISDIR}, // Win32: 5
		{windows.STATUS_ACCESS_DENIED, 5},
		{windows.STATUS_SHARING_VIOLATION, 32},
		{windows.STATUS_OBJECT_NAME_COLLISION, 183},
		{windows.STATUS_OBJECT_NAME_NOT_FOUND, 2},
		{windows.STATUS_OBJECT_PATH_NOT_FOUND, 3},
		{windows.STATUS_NOT_A_DIRECTORY, 267},
		{windows.STATUS_NOT_IMPLEMENTED, 1}, // Wine's answer to a form it does not know
		{windows.STATUS_INVALID_INFO_CLASS, 87},
		{windows.STATUS_NOT_SUPPORTED, 50},
		{windows.STATUS_NOT_SAME_DEVICE, 17},
		{windows.STATUS_DISK_FULL, 112},
	} {
		if got := errno(c.status); got != error(c.want) {
			t.Errorf("status %#x: %v, want errno %d", uint32(c.status), got, uint32(c.want))
		}
	}
}

func TestWindowsFlushesTakeEffectOrSayThatTheyCannot(t *testing.T) {
	_, _, d := windowsDir(t)
	tb := osTable{}
	h, err := tb.CreateExcl(d.h, "f", 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, h)
	for _, mode := range []fsops.SyncMode{fsops.SyncFull, fsops.SyncPlain} {
		if err := tb.Sync(h, mode); err != nil {
			t.Errorf("sync %d: %v", mode, err)
		}
	}
	if err := tb.Sync(h, fsops.SyncBarrier); Classify(StepSync, err) != Unsupported {
		t.Errorf("barrier: %v", err)
	}
	if err := tb.SyncDir(d.h); err != nil {
		t.Errorf("directory: %v", err)
	}
}

// hashicorp/consul#3409: a directory that can only be read can't be flushed, and
// that must degrade the promise, not fail the write.
func TestWindowsReadOnlyDirectoryHandleDegradesTheFlush(t *testing.T) {
	path, _, d := windowsDir(t)
	h, err := ntOpen(d.h, "", dirAccess, shareAll, windows.FILE_OPEN, openOptions|windows.FILE_DIRECTORY_FILE)
	if err != nil {
		t.Fatal(err)
	}
	readOnly := &Dir{t: osTable{}, h: h, path: path}
	defer readOnly.Close()
	r, err := replace(readOnly, "f", "x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Degraded) != 1 || r.Degraded[0].Step != StepSyncDir || r.Guarantee > Ordered {
		t.Errorf("%+v", r)
	}
	mustBeAlone(t, path, "f")
}

func TestWindowsLongRootPathOpens(t *testing.T) {
	path := testenv.TempDir(t)
	root, err := OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	rel := strings.Repeat("0123456789abcdef/", 16) + "end"
	d, _, err := root.MkdirAll(rel, 0o777)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	long := filepath.Join(path, filepath.FromSlash(rel))
	deep, err := OpenRoot(long)
	if err != nil {
		t.Fatalf("%d characters: %v", len(long), err)
	}
	defer deep.Close()
	a, err := osTable{}.Stat(deep.h)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := (osTable{}).Stat(d.h); err != nil || a.ID != b.ID {
		t.Errorf("another directory: %+v, %+v, %v", a, b, err)
	}
}

func TestWindowsNamesThatWindowsWouldChangeAreRefused(t *testing.T) {
	path, _, d := windowsDir(t)
	for _, name := range []string{"a.", "a ", "a:b", "NUL", "nul.txt", "COM1", `a\b`, "..", ""} {
		if _, err := d.CreateTemp(name, Options{}); !errors.Is(err, ErrBadName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	mustBeAlone(t, path)
}

func TestWindowsOpenDirGoesDownElementByElement(t *testing.T) {
	path, root, d := windowsDir(t)
	if err := os.MkdirAll(filepath.Join(path, "a", "b", "c"), 0o777); err != nil {
		t.Fatal(err)
	}
	c, err := root.Dir("a/b/c")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	mustWrite(t, c, "f", "deep")
	mustHold(t, filepath.Join(path, "a", "b", "c", "f"), "deep")
	if err := (osTable{}).SyncDir(c.h); err != nil {
		t.Errorf("flush: %v", err)
	}
	for _, rel := range []string{"a/c", "a/b/c/f/x", "a/none/c"} {
		if h, err := (osTable{}).OpenDir(d.h, rel); err == nil {
			t.Errorf("opened %s", rel)
			mustClose(t, h)
		}
	}
}
