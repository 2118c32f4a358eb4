package fsx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/landfast/landfast/internal/testenv"
)

// rust-lang/rust#137499, #137971: volumes answer 1, 50 or 87 to a form of rename
// that they don't know. Each is asked once, not at every rename.
func TestWindowsRenameFormsAreTriedOnceAVolume(t *testing.T) {
	for _, unknown := range []syscall.Errno{1, 50, 87} {
		for _, c := range []struct {
			knows   renameForm
			sameDir bool
			first   []renameForm // asked by the first rename
			later   []renameForm // by every other
		}{
			{posixRename, true, []renameForm{posixRename}, []renameForm{posixRename}},
			{plainRename, true, []renameForm{posixRename, plainRename}, []renameForm{plainRename}},
			{plainRename, false, []renameForm{posixRename, plainRename}, []renameForm{plainRename}},
			{bareRename, true, []renameForm{posixRename, plainRename, bareRename}, []renameForm{bareRename}},
		} {
			var f renameForms
			rename := func(volume uint32) (asked []renameForm, err error) {
				form, err := f.rename(volume, c.sameDir, func(form renameForm) error {
					asked = append(asked, form)
					if form < c.knows {
						return unknown
					}
					return windows.ERROR_SHARING_VIOLATION // known, and an answer of its own
				})
				if form != c.knows {
					t.Errorf("errno %d, knows %d: form %d", unknown, c.knows, form)
				}
				return asked, err
			}
			for i, want := range [][]renameForm{c.first, c.later, c.later} {
				asked, err := rename(1)
				if err != windows.ERROR_SHARING_VIOLATION || !slices.Equal(asked, want) {
					t.Errorf("errno %d, knows %d, rename %d: asked %v, %v; want %v", unknown, c.knows, i, asked, err, want)
				}
			}
			if asked, _ := rename(2); !slices.Equal(asked, c.first) {
				t.Errorf("another volume was asked %v, want %v", asked, c.first)
			}
		}
	}
}

// A rename into another directory can't do without a handle of it.
func TestWindowsBareRenameNeverLeavesItsDirectory(t *testing.T) {
	var f renameForms
	knowsBare := func(form renameForm) error {
		if form == bareRename {
			return nil
		}
		return windows.ERROR_INVALID_PARAMETER
	}
	for range 2 {
		if form, err := f.rename(1, false, knowsBare); form != plainRename || err != windows.ERROR_INVALID_PARAMETER {
			t.Errorf("across directories: form %d, %v", form, err)
		}
		if form, err := f.rename(1, true, knowsBare); form != bareRename || err != nil {
			t.Errorf("in one directory: form %d, %v", form, err)
		}
	}
}

func TestWindowsRealVolumeIsRememberedByItsAnswer(t *testing.T) {
	_, _, d := windowsDir(t)
	for range 3 {
		if _, err := replace(d, "f", "x", Options{}); err != nil {
			t.Fatal(err)
		}
	}
	i, err := byHandle(d.h)
	if err != nil {
		t.Fatal(err)
	}
	h, err := osTable{}.CreateExcl(d.h, "asks", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer windows.CloseHandle(windows.Handle(h))
	answer := setName(h, fileRenameInformationEx, windows.FILE_RENAME_POSIX_SEMANTICS|windows.FILE_RENAME_IGNORE_READONLY_ATTRIBUTE, d.h, "asked")
	form, _ := volumeForms.known.Load(i.VolumeSerialNumber)
	if unknownRequest(answer) != (form == plainRename) {
		t.Errorf("the volume answers %v, remembered: %v", answer, form)
	}
}

// npm/write-file-atomic#28: many writers of one name.
func TestWindowsManyWritersOfOneNameAllSucceed(t *testing.T) {
	path, _, d := windowsDir(t)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for range 25 {
				if _, err := replace(d, "f", fmt.Sprint("writer ", w), Options{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(filepath.Join(path, "f"))
	if err != nil || len(got) != len("writer 0") {
		t.Errorf("%q, %v", got, err)
	}
	mustBeAlone(t, path, "f")
}

func TestWindowsFailedReplaceLeavesNoReadOnlyStagedFile(t *testing.T) {
	path, _, d := windowsDir(t)
	if _, err := replace(d, "f", "old", Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(path, "f")) // shares no deletion
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = replace(d, "f", "new", Options{Mode: 0o444, Retry: Retry{Budget: -1}})
	var pe *PublishError
	if !errors.As(err, &pe) || pe.State != NotPublished || pe.Tmp != "" {
		t.Errorf("got %+v", err)
	}
	mustBeAlone(t, path, "f")
}

// Our own readers don't starve our own writers where the volume knows the POSIX
// rename.
func TestWindowsReaderOfOursDoesNotHoldUpAReplace(t *testing.T) {
	path, _, d := windowsDir(t)
	if _, err := replace(d, "f", "old", Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := d.OpenFile("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tmp, err := d.CreateTemp("f", Options{Retry: Retry{Budget: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tmp.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	_, err = tmp.Replace(context.Background())
	i, ierr := byHandle(d.h)
	if ierr != nil {
		t.Fatal(ierr)
	}
	if form, ok := volumeForms.known.Load(i.VolumeSerialNumber); ok && form != posixRename {
		if Classify(StepRename, err) != Transient {
			t.Errorf("got %v", err)
		}
		mustHold(t, filepath.Join(path, "f"), "old")
		testenv.NotHere(t, "this volume has no POSIX rename: a reader is in the way for a while, and the old content stayed")
	}
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, filepath.Join(path, "f"), "new")
	buf := make([]byte, 3)
	if _, err := f.ReadAt(buf, 0); err != nil || string(buf) != "old" {
		t.Errorf("the reader sees %q, %v", buf, err)
	}
}
