package fsx

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/landfast/landfast/internal/fsops"
)

// WriteOrdered replaces name with data, syncing the file and not the directory:
// the receipt says [Ordered] at most. It is for files that may be lost to power
// loss as long as they are never torn (a preview, a metrics file). mode 0 keeps
// an existing file's mode and gives a new one 0666 less the umask. Errors are a
// [PublishError]; a link under the name is refused.
func (d *Dir) WriteOrdered(ctx context.Context, name string, data []byte, mode fs.FileMode) (Receipt, error) {
	fail := func(step Step, err error) (Receipt, error) {
		return Receipt{}, &PublishError{Stage: step, Path: d.join(quoteName(name)), Err: err}
	}
	if err := CheckName(name); err != nil {
		return fail(StepOpen, ErrBadName)
	}
	info, err := d.lstat(name, Retry{})
	chmod := mode != 0 // apart from mode: 0 is a mode that an existing file can have
	switch {
	case err == nil && info.Kind == fsops.Dir:
		return fail(StepCreate, syscall.EISDIR)
	case err == nil && info.Kind != fsops.Regular:
		return fail(StepCreate, wrongKind(info.Kind, fsops.Regular))
	case err == nil && mode == 0:
		mode, chmod = permOnly(info.Mode), true
	case err != nil && Classify(StepStat, err) != NotFound:
		return fail(StepStat, err)
	}
	err = writeOrdered(d, name, data, mode, chmod)
	if err == nil {
		return Receipt{Guarantee: min(d.Guarantee(), Ordered), Attempts: 1}, nil
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return fail(StepRename, err)
	}
	t, err := d.CreateTemp(name, Options{Mode: mode, Flush: FlushFile})
	if err != nil {
		return Receipt{}, err
	}
	if _, err := t.Write(data); err != nil {
		return Receipt{}, errors.Join(err, t.Abort())
	}
	return t.Replace(ctx)
}
