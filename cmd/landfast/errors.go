package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff"
)

// usageError is a wrong call.
type usageError struct{ msg, hint string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error {
	return &usageError{msg: fmt.Sprintf(format, args...), hint: "add -h for help"}
}

// followError is a link that leads nowhere, or in a circle.
type followError struct {
	path string
	err  error
}

func (e *followError) Error() string { return fmt.Sprintf("follow %s: %v", e.path, e.err) }
func (e *followError) Unwrap() error { return e.err }

// statusError ends with an exit status whose reason was already printed.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// interrupted: a signal asked to stop before anything was published.
const interrupted = statusError(130)

// failure is an error as it is shown.
type failure struct {
	Code    handoff.Code `json:"code"`
	Message string       `json:"message"`
	Hint    string       `json:"hint"`
}

// explain turns any error into code, message and hint.
func explain(err error) failure {
	var he *handoff.Error
	if errors.As(err, &he) {
		return failure{he.Code, he.Message, he.Hint}
	}
	var ue *usageError
	if errors.As(err, &ue) {
		return failure{handoff.Usage, ue.msg, ue.hint}
	}
	f := failure{Code: handoff.Filesystem, Message: err.Error()}
	var follow *followError
	switch {
	case errors.Is(err, fs.ErrPermission): // says nothing about what the target is
	case errors.As(err, &follow):
		f.Code, f.Hint = handoff.Refused, "the link has no target to write to; --symlink replace puts a file in its place"
	case errors.Is(err, fs.ErrExist):
		f.Code, f.Hint = handoff.Stale, "it was not replaced; choose another name, or leave out --new"
	case errors.Is(err, fsx.ErrNeed):
		f.Hint = "nothing was written; choose another place, or a weaker --need"
	case errors.Is(err, fsx.ErrLink):
		f.Code, f.Hint = handoff.Refused, "--symlink follow writes to the file behind the link, --symlink replace puts a file in its place"
	case errors.Is(err, fsx.ErrNotRegular), errors.Is(err, fsx.ErrNotDir), errors.Is(err, fsx.ErrBadName), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		f.Code = handoff.Refused
	}
	var pe *fsx.PublishError
	if errors.As(err, &pe) && f.Hint == "" {
		switch {
		case pe.State != fsx.NotPublished:
			f.Hint = "look at the file before you repeat it"
		case errors.Is(err, syscall.ENOSPC):
			f.Hint = "free some space; the old content stands"
		default:
			f.Hint = "the old content stands"
		}
	}
	return f
}

// report prints an error and gives the exit status.
func (a *app) report(args []string, err error) int {
	if err == nil {
		return 0
	}
	var status statusError
	if errors.As(err, &status) {
		return int(status)
	}
	f := explain(err)
	if wantsJSON(args) {
		b, jerr := json.Marshal(map[string]failure{"error": f})
		if jerr == nil {
			fmt.Fprintf(a.stderr, "%s\n", b)
			return f.Code.Exit()
		}
	}
	fmt.Fprintf(a.stderr, "landfast: error: %s\n", visible(f.Message))
	if f.Hint != "" {
		fmt.Fprintf(a.stderr, "landfast: hint: %s\n", visible(f.Hint))
	}
	return f.Code.Exit()
}

// visible keeps what a path or an argument holds from steering a terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '?'
		}
		return r
	}, s)
}

// wantsJSON looks at the bare arguments, because an error of the parser has no
// parsed flags. What stands behind "--" is not ours.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.ContainsFunc(args, func(s string) bool { return s == "--json" || strings.HasPrefix(s, "--json=") })
}

// printJSON writes a result for scripts.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
