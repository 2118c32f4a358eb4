package fsx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/landfast/landfast/internal/fsops"
	"github.com/landfast/landfast/internal/testenv"
)

// makeJunction turns the empty directory at path into a junction to target,
// which takes no privilege.
func makeJunction(path, target string) error {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_OPEN_REPARSE_POINT|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	// REPARSE_DATA_BUFFER: tag, length of what follows the reserved half word,
	// offsets and lengths of two names, then the names, each with its NUL.
	subst, print := utf16.Encode([]rune(`\??\`+target)), utf16.Encode([]rune(target))
	names := append(append(append(append([]uint16{}, subst...), 0), print...), 0)
	b := []uint16{
		uint16(windows.IO_REPARSE_TAG_MOUNT_POINT & 0xffff), uint16(windows.IO_REPARSE_TAG_MOUNT_POINT >> 16),
		uint16(8 + 2*len(names)), 0,
		0, uint16(2 * len(subst)), uint16(2*len(subst) + 2), uint16(2 * len(print)),
	}
	b = append(b, names...)
	var n uint32
	return windows.DeviceIoControl(h, windows.FSCTL_SET_REPARSE_POINT, (*byte)(unsafe.Pointer(&b[0])), uint32(2*len(b)), nil, 0, &n, nil)
}

func TestWindowsLinksAreRefusedAndRemovedAsThemselves(t *testing.T) {
	for _, kind := range []struct {
		name string
		make func(link, dir string) error
	}{
		{"junction", func(link, dir string) error {
			if err := os.Mkdir(link, 0o777); err != nil {
				return err
			}
			return makeJunction(link, dir)
		}},
		{"symbolic link", func(link, dir string) error { return os.Symlink(dir, link) }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			path, root, d := windowsDir(t)
			if err := os.Mkdir(filepath.Join(path, "real"), 0o777); err != nil {
				t.Fatal(err)
			}
			kept := filepath.Join(path, "real", "kept")
			if err := os.WriteFile(kept, []byte("kept"), 0o666); err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(path, "link")
			err := kind.make(link, filepath.Join(path, "real"))
			if err == nil { // Wine 8 answers success and makes nothing
				var i os.FileInfo
				if i, err = os.Lstat(link); err == nil && i.Mode()&(os.ModeSymlink|os.ModeIrregular) == 0 {
					err = errors.New("nothing was made")
				}
			}
			if err != nil {
				testenv.NotHere(t, fmt.Sprintf("a %s can't be made here: %v", kind.name, err))
			}
			if info, err := d.Lstat("link"); err != nil || info.Kind != fsops.Symlink {
				t.Errorf("lstat: %+v, %v", info, err)
			}
			if _, err := root.Dir("link"); !errors.Is(err, ErrLink) {
				t.Errorf("opening it as directory: %v", err)
			}
			if _, err := root.Dir("link/below"); !errors.Is(err, ErrLink) {
				t.Errorf("going through it: %v", err)
			}
			if _, err := d.OpenFile("link"); !errors.Is(err, ErrLink) {
				t.Errorf("opening it as file: %v", err)
			}
			if _, err := replace(d, "link", "x", Options{}); !errors.Is(err, ErrLink) {
				t.Errorf("replacing it: %v", err)
			}
			es, err := d.List(10)
			for _, e := range es {
				if e.Name == "link" && e.Kind != fsops.Symlink {
					t.Errorf("listed as %+v", e)
				}
			}
			if err != nil {
				t.Error(err)
			}
			if err := (osTable{}).Rmdir(d.h, "link"); err != windows.ERROR_DIRECTORY {
				t.Errorf("rmdir: %v", err)
			}
			if err := (osTable{}).Unlink(d.h, "link"); err != nil {
				t.Errorf("unlink: %v", err)
			}
			mustHold(t, kept, "kept")
			mustBeAlone(t, path, "real")
		})
	}
}
