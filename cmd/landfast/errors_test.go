package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff"
)

func TestEveryKindOfErrorHasItsExitStatus(t *testing.T) {
	at := func(err error) error { return &fs.PathError{Op: "open", Path: "f", Err: err} }
	for name, c := range map[string]struct {
		err    error
		status int
		errs   string
	}{
		"nothing":            {nil, 0, ""},
		"unwell":             {&handoff.Error{Code: handoff.Unwell, Message: "m"}, 1, "error: m"},
		"usage":              {usagef("no %s", "flag"), 2, "error: no flag"},
		"conflict":           {&handoff.Error{Code: handoff.Stale, Message: "m", Hint: "h"}, 3, "hint: h"},
		"taken name":         {at(fs.ErrExist), 3, "not replaced"},
		"busy":               {&handoff.Error{Code: handoff.Busy, Message: "m"}, 4, "error: m"},
		"refused":            {&handoff.Error{Code: handoff.Refused, Message: "m"}, 5, "error: m"},
		"link":               {at(fsx.ErrLink), 5, "--symlink follow"},
		"directory":          {at(syscall.EISDIR), 5, "directory"},
		"file for a folder":  {at(syscall.ENOTDIR), 5, "directory"},
		"dangling link":      {&followError{"f", fs.ErrNotExist}, 5, "no target"},
		"unreadable link":    {&followError{"f", fs.ErrPermission}, 6, "permission"},
		"filesystem":         {&handoff.Error{Code: handoff.Filesystem, Message: "m"}, 6, "error: m"},
		"full":               {&fsx.PublishError{Path: "f", Err: syscall.ENOSPC}, 6, "the old content stands"},
		"perhaps published":  {&fsx.PublishError{Path: "f", State: fsx.VisibleNotDurable, Err: syscall.EIO}, 6, "look at the file"},
		"unmet need":         {at(fsx.ErrNeed), 6, "weaker --need"},
		"permission":         {at(fs.ErrPermission), 6, "permission"},
		"anything else":      {errors.New("odd"), 6, "error: odd"},
		"a status by itself": {fmt.Errorf("wrapped: %w", interrupted), 130, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var errs strings.Builder
			a := app{stderr: &errs}
			if got := a.report(nil, c.err); got != c.status {
				t.Errorf("exit %d, want %d", got, c.status)
			}
			if !strings.Contains(errs.String(), c.errs) || c.errs == "" && errs.Len() > 0 {
				t.Errorf("says %q, want %q in it", errs.String(), c.errs)
			}
		})
	}
}

func TestErrorsAreJSONOnlyWhereTheFlagIsOurs(t *testing.T) {
	for args, want := range map[string]bool{
		"write x --json":               true,
		"handoff record --json={}":     true,
		"write x":                      false,
		"write -- --json":              false,
		"handoff record --file --json": true, // a guess, and harmless
	} {
		if got := wantsJSON(strings.Fields(args)); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}
