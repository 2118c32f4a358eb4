//go:build linux || darwin

package fsx

import (
	"errors"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"

	"github.com/landfast/landfast/internal/fsops"
)

// writeOrdered replaces name through renameio, which syncs the file and renames
// it and never syncs the directory: just what [FlushFile] asks for. Its staged
// file goes into the target's directory through an os.Root that is checked to
// be the directory d has open; without that, renameio would stage in the
// temporary directory of the system. Without chmod, mode does not count.
func writeOrdered(d *Dir, name string, data []byte, mode fs.FileMode, chmod bool) error {
	if _, ok := d.t.(osTable); !ok {
		return errors.ErrUnsupported
	}
	mine, err := d.Stat()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	defer root.Close()
	opened, err := root.Open(".")
	if err != nil {
		return err
	}
	info, err := osTable{}.Stat(fsops.Handle(opened.Fd()))
	_ = opened.Close()
	if err != nil {
		return err
	}
	if info.ID != mine.ID {
		return pathError(StepOpen, d.path, ErrChanged)
	}
	perm := fs.FileMode(0o666)
	if chmod {
		perm = 0o600
	}
	// The mode is set here and not by an option: where an option's chmod fails,
	// renameio v2.0.2 leaves its file behind.
	f, err := renameio.NewPendingFile(name, renameio.WithRoot(root), renameio.WithPermissions(perm))
	if err != nil {
		return err
	}
	if chmod {
		err = f.Chmod(mode)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.CloseAtomicallyReplace()
	}
	return errors.Join(err, f.Cleanup())
}
