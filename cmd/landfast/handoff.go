package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff"
	"github.com/landfast/landfast/handoff/ledger"
)

type handoffRoot struct {
	globals `embed:""`
	Handoff struct {
		Resume  resumeCmd  `cmd:"" help:"Show what is known on this branch."`
		Record  recordCmd  `cmd:"" help:"Append a goal, answer, decision or next action; prints it as stored."`
		Retract retractCmd `cmd:"" help:"Hide the newest version of a record or check; history keeps it."`
		Doctor  doctorCmd  `cmd:"" help:"Look at everything and change nothing; exit 1 if something is not well."`
		Backup  backupCmd  `cmd:"" help:"Make sure that a verified snapshot of the present state exists."`
		Recover recoverCmd `cmd:"" help:"Preview the restoring of a snapshot, or apply exactly what was previewed."`
	} `cmd:"" help:"The project ledger."`
}

func (r *handoffRoot) common() globals { return r.globals }

func (r *handoffRoot) chosen(path string) command {
	h := &r.Handoff
	switch word := strings.Fields(path); word[1] {
	case "resume":
		return &h.Resume
	case "record":
		return &h.Record
	case "retract":
		return &h.Retract
	case "doctor":
		return &h.Doctor
	case "backup":
		return &h.Backup
	}
	return &h.Recover
}

// project finds and opens the project.
func (a *app) project() (*handoff.Project, error) {
	root, how, err := handoff.Find(handoff.FindOptions{Project: a.Project, Getenv: a.getenv})
	if err != nil {
		return nil, err
	}
	if a.Verbose {
		fmt.Fprintf(a.stderr, "project %s (%s)\n", visible(root), how)
	}
	if above := handoff.LedgerAbove(root); above != "" && !a.Quiet {
		fmt.Fprintf(a.stderr, "landfast: note: %s has no ledger of its own, but %s above it has one\n", visible(root), visible(above))
	}
	return handoff.Open(root, handoff.Options{})
}

type resumeCmd struct {
	JSON bool `name:"json" help:"Print as JSON instead of Markdown."`
}

func (c *resumeCmd) run(a *app) error {
	p, err := a.project()
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := p.Resume(context.Background())
	if err != nil {
		return err
	}
	if c.JSON {
		return a.printJSON(r)
	}
	if r.Git != "" && !a.Quiet {
		fmt.Fprintf(a.stderr, "landfast: note: git: %s\n", r.Git)
	}
	_, err = a.stdout.Write(ledger.Markdown(r.View, ledger.MarkdownOptions{}))
	return err
}

type recordCmd struct {
	JSON     string `name:"json" help:"The record as JSON text." placeholder:"TEXT" xor:"input" required:""`
	File     string `help:"A file with the record, relative to the project; - is standard input." placeholder:"PATH" xor:"input" required:""`
	Recovery string `help:"Recovery id that resume shows; default: LANDFAST_RECOVERY." placeholder:"ID"`
}

func (c *recordCmd) run(a *app) error {
	p, err := a.project()
	if err != nil {
		return err
	}
	defer p.Close()
	data, err := c.input(a, p.Root())
	if err != nil {
		return err
	}
	in, err := ledger.ParseRecordInput(data)
	if err != nil {
		return &handoff.Error{Code: handoff.Refused, Message: "record: " + err.Error(), Err: err}
	}
	recovery := a.recovery(c.Recovery)
	if in.ExpectedRecovery == "" {
		in.ExpectedRecovery = recovery
	} else if c.Recovery != "" && !strings.EqualFold(in.ExpectedRecovery, c.Recovery) {
		return usagef("--recovery and expected_recovery differ")
	}
	r, err := p.Record(context.Background(), in)
	if err != nil {
		return err
	}
	return a.committed(func() error { return a.printJSON(r) })
}

// input reads the record's JSON, never more than its limit.
func (c *recordCmd) input(a *app, rootPath string) ([]byte, error) {
	switch c.File {
	case "":
		return []byte(c.JSON), nil
	case "-":
		data, err := io.ReadAll(io.LimitReader(a.stdin, ledger.MaxInputBytes+1))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return data, nil
	}
	root, err := fsx.OpenRoot(rootPath)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rel := strings.ReplaceAll(c.File, "\\", "/")
	dir, err := root.Dir(path.Dir(rel))
	if err != nil {
		return nil, inputError(c.File, err)
	}
	defer dir.Close()
	data, err := dir.ReadFile(path.Base(rel), ledger.MaxInputBytes)
	return data, inputError(c.File, err)
}

func inputError(name string, err error) error {
	if err == nil {
		return nil
	}
	e := &handoff.Error{Code: handoff.Refused, Message: "record: --file: " + err.Error(), Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Message = handoff.Usage, fmt.Sprintf("record: --file %q does not exist below the project", name)
	case errors.Is(err, fs.ErrPermission):
		e.Code = handoff.Filesystem
	case errors.Is(err, fsx.ErrTooLarge):
		e.Message = fmt.Sprintf("record: --file %q is larger than %d bytes", name, ledger.MaxInputBytes)
	case errors.Is(err, fsx.ErrBadName):
		e.Message = fmt.Sprintf("record: --file %q is not a path relative to the project", name)
	}
	return e
}

func (a *app) recovery(flag string) string {
	if flag != "" {
		return flag
	}
	return a.getenv("LANDFAST_RECOVERY")
}

type retractCmd struct {
	ID       string `arg:"" help:"The record or check."`
	Revision uint64 `required:"" help:"Its revision, as resume shows it." placeholder:"N"`
	Category string `help:"record or check." enum:"record,check" default:"record"`
	Recovery string `help:"Recovery id that resume shows; default: LANDFAST_RECOVERY." placeholder:"ID"`
	JSON     bool   `name:"json" help:"Errors as JSON too; the result is JSON anyway."`
}

func (c *retractCmd) run(a *app) error {
	p, err := a.project()
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := p.Retract(context.Background(), ledger.RetractInput{
		ID: c.ID, Category: c.Category, ExpectedRevision: c.Revision, ExpectedRecovery: a.recovery(c.Recovery),
	})
	if err != nil {
		return err
	}
	return a.committed(func() error { return a.printJSON(r) })
}

type doctorCmd struct {
	JSON bool `name:"json" help:"Print as JSON."`
}

func (c *doctorCmd) run(a *app) error {
	p, err := a.project()
	if err != nil {
		return err
	}
	defer p.Close()
	h, err := p.Doctor(context.Background())
	if err != nil {
		return err
	}
	if c.JSON {
		err = a.printJSON(h)
	} else {
		err = printHealth(a.stdout, h)
	}
	if err == nil && !h.Healthy && h.State != handoff.Empty {
		err = statusError(handoff.Unwell.Exit())
	}
	return err
}

func printHealth(w io.Writer, h handoff.Health) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "state\t%s\n", h.State)
	fmt.Fprintf(t, "healthy\t%s\n", yesNo(h.Healthy))
	fmt.Fprintf(t, "revision\t%d\n", h.Revision)
	if h.RecoveryID != nil {
		fmt.Fprintf(t, "recovery id\t%s\n", *h.RecoveryID)
	}
	fmt.Fprintf(t, "protected\t%s\n", yesNo(h.Protected))
	fmt.Fprintf(t, "snapshots\t%d good, %d damaged\n", len(h.Snapshots), len(h.InvalidSnapshots))
	for _, f := range h.Findings {
		fmt.Fprintf(t, "%s\t%s: %s\n", f.Severity, f.Code, f.Message)
		if f.Path != "" {
			fmt.Fprintf(t, "\tat %s\n", f.Path)
		}
		if f.Hint != "" {
			fmt.Fprintf(t, "\thint: %s\n", f.Hint)
		}
	}
	fmt.Fprintf(t, "next\t%s\n", h.Next)
	return t.Flush()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

type backupCmd struct {
	JSON bool `name:"json" help:"Print as JSON."`
}

func (c *backupCmd) run(a *app) error {
	p, err := a.project()
	if err != nil {
		return err
	}
	defer p.Close()
	b, err := p.Backup(context.Background())
	if err != nil {
		return err
	}
	if b.CleanupWarning != nil {
		fmt.Fprintf(a.stderr, "landfast: warning: %s\n", *b.CleanupWarning)
	}
	if c.JSON {
		return a.printJSON(b)
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n%s\n", b.Snapshot, b.Message)
	return err
}

type recoverCmd struct {
	Snapshot string `arg:"" optional:"" help:"Snapshot to restore, by name; default: the newest valid one."`
	Apply    bool   `help:"Do it. Needs --expect."`
	Expect   string `help:"The fingerprint that the preview printed." placeholder:"FP"`
	JSON     bool   `name:"json" help:"Print as JSON."`
}

func (c *recoverCmd) run(a *app) error {
	if c.Expect != "" && !c.Apply {
		return usagef("--expect is of use only with --apply")
	}
	p, err := a.project()
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := p.Recover(context.Background(), handoff.RecoverOptions{Snapshot: c.Snapshot, Apply: c.Apply, Expect: c.Expect})
	if err != nil {
		return err
	}
	show := func() error {
		if c.JSON {
			return a.printJSON(r)
		}
		return printRecovery(a.stdout, r)
	}
	if r.Applied {
		return a.committed(show)
	}
	return show()
}

// committed prints the answer of a change that was made, and keeps the change
// from passing for one that was not: that its answer could not be printed is a
// warning and no failure. A pipe without a reader must not kill the process
// either, as SIGPIPE does by default, or a caller would take 141 for the fate
// of the change.
func (a *app) committed(print func() error) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // not Ignore: children would inherit that
	if err := print(); err != nil {
		fmt.Fprintf(a.stderr, "landfast: warning: the change was made, but its answer could not be printed: %v\n", err)
	}
	return nil
}

func printRecovery(w io.Writer, r handoff.Recovery) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	now := string(r.CurrentState)
	if r.CurrentRevision != nil {
		now += fmt.Sprintf(", revision %d", *r.CurrentRevision)
	}
	fmt.Fprintf(t, "now\t%s\n", now)
	fmt.Fprintf(t, "source\t%s\n", r.Source)
	fmt.Fprintf(t, "restores\trevision %d: %d records, %d checks\n", r.RestoreRevision, r.Records, r.Checks)
	if len(r.Branches) > 0 {
		fmt.Fprintf(t, "branches\t%s\n", strings.Join(r.Branches, ", "))
	}
	if r.Applied {
		if r.Preserved != nil {
			fmt.Fprintf(t, "preserved\t%s\n", *r.Preserved)
		}
		fmt.Fprintf(t, "recovery id\t%s\n", r.RecoveryID)
	} else {
		fmt.Fprintf(t, "fingerprint\t%s\n", r.Expect)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", r.Message)
	if err == nil && !r.Applied {
		_, err = fmt.Fprintln(w, "To apply it, pass --apply and this fingerprint as --expect.")
	}
	return err
}
