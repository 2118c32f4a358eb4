package lockx

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/testenv"
)

// DeusData/codebase-memory-mcp#2178: a cleaner removes the held lock file.
func TestVerifyReportsThatTheFileIsNoLongerTheLock(t *testing.T) {
	tests := []struct {
		name string
		harm func(path string) error
	}{
		{"removed", os.Remove},
		{"replaced", func(path string) error {
			if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}},
		{"moved away", func(path string) error { return os.Rename(path, path+".old") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, dir := openDir(t)
			h := acquire(t, d, Options{})
			if err := h.Verify(); err != nil {
				t.Fatal(err)
			}
			before, err := d.Lstat("l")
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.harm(filepath.Join(dir, "l")); err != nil {
				if runtime.GOOS == "windows" {
					testenv.NotHere(t, "an open file resists: "+err.Error())
				}
				t.Fatal(err)
			}
			if after, err := d.Lstat("l"); runtime.GOOS == "windows" && err == nil && after.ID == before.ID {
				testenv.NotHere(t, "the name stays until the last handle is closed, and so does the lock")
			}
			if err := h.Verify(); !errors.Is(err, ErrLost) {
				t.Errorf("Verify = %v, want ErrLost", err)
			}
			release(t, h)
			next := acquire(t, d, Options{Timeout: -1})
			if err := next.Verify(); err != nil {
				t.Error(err)
			}
		})
	}
}

// tox-dev/filelock#577: waiters on a removed file and newcomers on the new one.
func TestAWaiterOnARemovedFileMovesToTheNewOne(t *testing.T) {
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
	for waiting := false; !waiting; {
		locks.mu.Lock()
		for _, q := range locks.files {
			waiting = waiting || q.waits[0] != nil
		}
		locks.mu.Unlock()
	}
	if err := os.Remove(filepath.Join(dir, "l")); err != nil {
		t.Fatal(err)
	}
	if err := c.finish(); err != nil {
		t.Fatal(err)
	}
	h := <-got
	if h == nil {
		t.FailNow()
	}
	if err := h.Verify(); err != nil {
		t.Error(err)
	}
	release(t, h)
}

func TestAcquireRefusesWhatIsNoPlainFile(t *testing.T) {
	tests := []struct {
		name string
		make func(path string) error
		want error
	}{
		{"symbolic link", func(p string) error { return symlink(p+".target", p) }, fsx.ErrLink},
		{"directory", func(p string) error { return os.Mkdir(p, 0o700) }, fsx.ErrNotRegular},
		{"hard link", func(p string) error {
			return errors.Join(os.WriteFile(p+".data", []byte("mine"), 0o600), os.Link(p+".data", p))
		}, ErrHardLinked},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, dir := openDir(t)
			path := filepath.Join(dir, "l")
			if err := tt.make(path); err != nil {
				noLinks(t, err)
			}
			h, err := Acquire(t.Context(), d, "l", Options{})
			if !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
			if h != nil {
				t.Error("got a lock")
				release(t, h)
			}
			if _, err := os.Lstat(path + ".target"); err == nil {
				t.Error("the link's target was created")
			}
			if data, err := os.ReadFile(path + ".data"); err == nil && string(data) != "mine" {
				t.Errorf("the other name's content became %q", data)
			}
		})
	}
}

// eltmon/overdeck#2623: a zero-byte lock after power loss blocked for ever.
func TestAnyContentOfTheFileIsTolerated(t *testing.T) {
	whole := append([]byte(header), encodeRecord(testRecord())...)
	tests := []struct {
		name    string
		content []byte
		damaged bool // what Inspect says
		keep    bool // foreign content is not overwritten
	}{
		{"empty", nil, false, false},
		{"header only", whole[:slotAt], false, false},
		{"cut in the header", whole[:20], false, false},
		{"cut in the record", whole[:slotAt+40], true, false},
		{"zeroed", make([]byte, fileSize), false, false},
		{"flipped bit", flip(whole, slotAt+60), true, false},
		{"mixed of two records", mix(whole), true, false},
		{"random bytes", bytes.Repeat([]byte{0x9c, 'x', 0xff}, 300), true, true},
		{"somebody's data", []byte(strings.Repeat("precious data\n", 100)), true, true},
		{"another program's pid file", []byte("4711\n"), false, true},
		{"longer than ours", append(bytes.Clone(whole), "tail"...), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, dir := openDir(t)
			path := filepath.Join(dir, "l")
			if err := os.WriteFile(path, tt.content, 0o600); err != nil {
				t.Fatal(err)
			}
			info, err := Inspect(d, "l")
			if err != nil || info.State != StateFree || info.Damaged != tt.damaged {
				t.Errorf("Inspect = %+v, %v; want free, damaged %v", info, err, tt.damaged)
			}
			h := acquire(t, d, Options{Timeout: -1, Purpose: "heal"})
			expectBusy(t, d, false)
			info, err = Inspect(d, "l")
			if err != nil || info.State != StateHeld {
				t.Errorf("Inspect while held = %+v, %v", info, err)
			}
			if !tt.keep && (!info.Recorded || info.Record.Purpose != "heal") {
				t.Errorf("no new record in the file: %+v", info)
			}
			release(t, h)
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if tt.keep && !bytes.Equal(after, tt.content) {
				t.Errorf("foreign content was changed to %q", after)
			}
			if len(after) < len(tt.content) {
				t.Error("the file was truncated")
			}
		})
	}
}

func flip(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 4
	return b
}

// mix is what a torn write leaves: the first sector of one record, the rest of another.
func mix(b []byte) []byte {
	other := testRecord()
	other.Token = strings.Repeat("b", 32)
	other.Purpose = "another purpose"
	o := append([]byte(header), encodeRecord(other)...)
	return append(bytes.Clone(b[:slotAt+100]), o[slotAt+100:]...)
}

func TestInspectCreatesNothing(t *testing.T) {
	d, dir := openDir(t)
	info, err := Inspect(d, "l")
	if err != nil || info.State != StateFree || info.Exists {
		t.Errorf("Inspect = %+v, %v", info, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "l")); err == nil {
		t.Error("Inspect created the file")
	}
}

func TestInspectTellsHeldSharedAndCrashed(t *testing.T) {
	d, dir := openDir(t)
	c := startChild(t, "hold", filepath.Join(dir, "l"))
	c.expect("locked")
	info, err := Inspect(d, "l")
	if err != nil || info.State != StateHeld || info.Shared || info.Record.PID != c.cmd.Process.Pid ||
		info.Verdict != Live || info.Crashed() || len(info.Evidence) == 0 {
		t.Errorf("held: %+v, %v", info, err)
	}
	c.kill()
	info, err = Inspect(d, "l")
	if err != nil || info.State != StateFree || !info.Crashed() || info.Verdict != Dead {
		t.Errorf("holder killed: %+v, %v", info, err)
	}
	h := acquire(t, d, Options{Shared: true})
	info, err = Inspect(d, "l")
	if err != nil || info.State != StateHeld || !info.Shared {
		t.Errorf("shared: %+v, %v", info, err)
	}
	release(t, h)
	release(t, acquire(t, d, Options{}))
	info, err = Inspect(d, "l")
	if err != nil || info.State != StateFree || info.Crashed() || info.Record.Held {
		t.Errorf("released: %+v, %v", info, err)
	}
}
