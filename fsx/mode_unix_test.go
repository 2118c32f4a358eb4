//go:build linux || darwin

package fsx

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// 0 in Options means "keep", so a file whose mode is 0 needs care: taken for
// "no mode to set", it would come out as readable as the umask allows.
func TestEveryModeOfAnExistingFileIsKept(t *testing.T) {
	for _, mode := range []fs.FileMode{0, 0o040, 0o200, 0o400, 0o600, 0o644, 0o666, 0o755} {
		for verb, write := range map[string]func(*Dir) (Receipt, error){
			"replace":       func(d *Dir) (Receipt, error) { return put(d, "f", "new", Options{}) },
			"write-ordered": func(d *Dir) (Receipt, error) { return d.WriteOrdered(context.Background(), "f", []byte("new"), 0) },
		} {
			t.Run(fmt.Sprintf("%s/%04o", verb, mode), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "f")
				_, d := openDir(t, filepath.Dir(path))
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
				if _, err := write(d); err != nil {
					t.Fatal(err)
				}
				info, err := os.Stat(path)
				if err != nil || info.Mode().Perm() != mode || info.Size() != 3 {
					t.Errorf("%v, %v; want %v", info.Mode(), err, mode)
				}
			})
		}
	}
}
