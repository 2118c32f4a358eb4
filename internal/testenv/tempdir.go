package testenv

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TempDir is [testing.T.TempDir] for tests that also run under Wine, where
// os.RemoveAll fails on every file and with it the test. There the tree is
// removed file by file.
func TempDir(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "windows" {
		return t.TempDir()
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"/\|?*`, r) {
			return '_'
		}
		return r
	}, t.Name())
	// Windows still limits some paths to 260 characters.
	if len(name) > 40 {
		name = name[:40]
	}
	dir, err := os.MkdirTemp("", name+"-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeTree(dir); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return dir
}

// removeTree removes a directory and everything in it, deepest first, without
// os.RemoveAll.
func removeTree(dir string) error {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		return err
	}
	for i := len(paths) - 1; i >= 0; i-- {
		err := os.Remove(paths[i])
		if err != nil && os.IsPermission(err) {
			// A read-only file cannot be removed on Windows.
			if os.Chmod(paths[i], 0o700) == nil {
				err = os.Remove(paths[i])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
