package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/landfast/landfast/durable"
	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/handoff"
	"github.com/landfast/landfast/handoff/ledger"
)

type demoRoot struct {
	globals `embed:""`
	Demo    demoCmd `cmd:"" help:"Watch real files survive, in a temporary folder: durable writes, a killed writer, a sweep, a locked ledger, damage, doctor, recovery. Every step checks what it claims; exit 1 if a claim does not hold."`
}

func (r *demoRoot) common() globals       { return r.globals }
func (r *demoRoot) chosen(string) command { return &r.Demo }

type demoCmd struct {
	Keep bool `help:"Leave the folder and say where it is."`
	JSON bool `name:"json" help:"Print the steps as JSON."`
}

// demoStep is one thing that the demo did and found true.
type demoStep struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// demoJSON is the whole run for scripts.
type demoJSON struct {
	Steps []demoStep `json:"steps"`
	Kept  string     `json:"kept,omitempty"` // the folder, with --keep
}

// demo is one run.
type demo struct {
	dir     string // the temporary folder
	root    *fsx.Root
	project *handoff.Project
	expect  string // fingerprint of the preview
	damaged []byte // what the damaged ledger holds
}

const demoKills = 25

func (c *demoCmd) run(a *app) error {
	dir, err := os.MkdirTemp("", "landfast-demo-")
	if err != nil {
		return err
	}
	// A signal, or a reader that went away, ends the play between two steps, so
	// that the folder goes all the same.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	out := &noted{w: a.stdout}
	a.stdout = out
	d := &demo{dir: dir}
	steps, err := d.play(ctx, a, c.JSON)
	d.close()
	if c.Keep {
		if !c.JSON {
			fmt.Fprintf(a.stdout, "\nkept: %s\n", dir)
		}
	} else if rerr := os.RemoveAll(dir); rerr != nil {
		err = errors.Join(err, rerr)
	}
	if c.JSON {
		result := demoJSON{Steps: steps}
		if c.Keep {
			result.Kept = dir
		}
		if jerr := a.printJSON(result); jerr != nil {
			return jerr
		}
	}
	if errors.Is(err, interrupted) {
		return err
	}
	if err != nil {
		return &handoff.Error{Code: handoff.Unwell, Message: "demo: " + err.Error(), Err: err}
	}
	if !c.JSON {
		fmt.Fprintf(a.stdout, "\nAll %d claims held on real files.\n", len(steps))
	}
	return out.err
}

// noted remembers the first failed write: a demo that nobody could read has not
// shown anything.
type noted struct {
	w   io.Writer
	err error
}

func (n *noted) Write(p []byte) (int, error) {
	k, err := n.w.Write(p)
	if n.err == nil {
		n.err = err
	}
	return k, err
}

// play runs the steps in order and stops at the first claim that does not hold.
func (d *demo) play(ctx context.Context, a *app, quiet bool) ([]demoStep, error) {
	var done []demoStep
	for _, s := range []struct {
		name string
		f    func() (string, error)
	}{
		{"durable write", d.write},
		{"never replaced", d.publishNew},
		{"killed writer", d.killWriter},
		{"sweep", d.sweep},
		{"ledger", d.record},
		{"locked ledger", d.lock},
		{"damage", d.damage},
		{"doctor", d.doctor},
		{"preview", d.preview},
		{"wrong fingerprint", d.wrongFingerprint},
		{"recovery", d.recovery},
		{"stale writer", d.staleWriter},
	} {
		detail, err := s.f()
		if ctx.Err() != nil { // the children got the signal too, so what the step found proves nothing
			return done, interrupted
		}
		step := demoStep{Name: s.name, OK: err == nil, Detail: detail}
		if err != nil {
			step.Detail = err.Error()
		}
		done = append(done, step)
		if !quiet {
			mark := "ok  "
			if err != nil {
				mark = "FAIL"
			}
			fmt.Fprintf(a.stdout, "%s %-18s %s\n", mark, step.Name, step.Detail)
		}
		if err != nil {
			return done, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return done, nil
}

func (d *demo) close() {
	if d.project != nil {
		_ = d.project.Close()
	}
	if d.root != nil {
		_ = d.root.Close()
	}
}

const demoFile = "state.txt"

func (d *demo) write() (string, error) {
	var err error
	if d.root, err = fsx.OpenRoot(d.dir); err != nil {
		return "", err
	}
	r, err := durable.WriteFile(context.Background(), d.root, demoFile, demoContent(0), durable.Options{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("wrote %d bytes; file and directory were flushed; this filesystem's guarantee is %q", len(demoContent(0)), r.Guarantee), nil
}

func (d *demo) publishNew() (string, error) {
	_, err := durable.Publish(context.Background(), d.root, demoFile, []byte("mine now"), durable.Options{})
	if !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("publish-new over an existing file gave %v", err)
	}
	if v, err := d.version(); err != nil {
		return "", err
	} else if v != 0 {
		return "", fmt.Errorf("the refused publish left version %d", v)
	}
	return "publish-new refused to replace it, and it still holds what it held", nil
}

// version reads the demo file and checks that it is whole.
func (d *demo) version() (int, error) {
	dir, err := d.root.Dir(".")
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	data, err := dir.ReadFile(demoFile, 1<<20)
	if err != nil {
		return 0, err
	}
	return checkDemoContent(data)
}

func (d *demo) killWriter() (string, error) {
	last, moved := 0, 0
	for i := range demoKills {
		child, err := startChild("writer", d.dir, fmt.Sprint(last))
		if err != nil {
			return "", err
		}
		time.Sleep(time.Duration(1+i%7) * time.Millisecond)
		child.kill()
		v, err := d.version()
		if err != nil {
			return "", fmt.Errorf("after kill %d: %w", i+1, err)
		}
		if v < last {
			return "", fmt.Errorf("after kill %d: version %d came back after %d", i+1, v, last)
		}
		if v > last {
			moved++
		}
		last = v
	}
	if moved == 0 {
		return "", errors.New("no killed writer had published anything: nothing was tested")
	}
	return fmt.Sprintf("killed %d writers in the middle of their work, %d versions later; the file was whole each time", demoKills, last), nil
}

func (d *demo) sweep() (string, error) {
	dir, err := d.root.Dir(".")
	if err != nil {
		return "", err
	}
	defer dir.Close()
	s, err := dir.Sweep(fsx.SweepOptions{})
	if err != nil {
		return "", err
	}
	for name, why := range s.Kept {
		return "", fmt.Errorf("%s was kept: %s", name, why)
	}
	es, err := dir.List(100)
	if err != nil {
		return "", err
	}
	if len(es) != 1 {
		return "", fmt.Errorf("%d files are left, want 1", len(es))
	}
	return fmt.Sprintf("removed the %d staged files that they left behind, each proven to belong to a dead process", len(s.Removed)), nil
}

func (d *demo) record() (string, error) {
	made, _, err := d.root.MkdirAll("project", 0o700)
	if err != nil {
		return "", err
	}
	_ = made.Close()
	if d.project, err = handoff.Open(made.Path(), handoff.Options{LockTimeout: 200 * time.Millisecond}); err != nil {
		return "", err
	}
	for _, text := range []string{"Ship 1.0 without losing a file", "Keep snapshots by revision and digest"} {
		in := ledger.RecordInput{ID: fmt.Sprintf("r%d", len(text)), Kind: ledger.KindDecision, Text: text, Source: "landfast demo"}
		if _, err := d.project.Record(context.Background(), in); err != nil {
			return "", err
		}
	}
	h, err := d.project.Doctor(context.Background())
	if err != nil {
		return "", err
	}
	if !h.Healthy || h.Revision != 2 || len(h.Snapshots) != 2 {
		return "", fmt.Errorf("doctor is not content: %+v", h)
	}
	return "recorded two decisions; each is kept with a verified snapshot of it and of the one before", nil
}

func (d *demo) lock() (string, error) {
	holder, err := startChild("holder", d.project.Root(), "")
	if err != nil {
		return "", err
	}
	defer holder.kill()
	in := ledger.RecordInput{ID: "while-locked", Kind: ledger.KindGoal, Text: "Wait for nobody", Source: "landfast demo"}
	_, err = d.project.Record(context.Background(), in)
	var he *handoff.Error
	if !errors.As(err, &he) || he.Code != handoff.Busy || !strings.Contains(he.Message, fmt.Sprint(holder.pid())) {
		return "", fmt.Errorf("recording while process %d holds the lock gave %v", holder.pid(), err)
	}
	holder.kill()
	begin := time.Now()
	if _, err := d.project.Record(context.Background(), in); err != nil {
		return "", fmt.Errorf("after the holder was killed: %w", err)
	}
	return fmt.Sprintf("process %d held the lock: refused as busy, naming it; it was killed, and the next record went through at once (%d ms)", holder.pid(), time.Since(begin).Milliseconds()), nil
}

func (d *demo) ledgerPath() string {
	return filepath.Join(d.project.Root(), ".landfast", "ledger.json")
}

// cutLedger leaves half a ledger under the name, as a careless writer would.
func (d *demo) cutLedger() error {
	const rel = "project/.landfast"
	dir, err := d.root.Dir(rel)
	if err != nil {
		return err
	}
	defer dir.Close()
	data, err := dir.ReadFile("ledger.json", ledger.MaxBytes)
	if err != nil {
		return err
	}
	d.damaged = data[:len(data)/2]
	_, err = durable.WriteFile(context.Background(), d.root, rel+"/ledger.json", d.damaged, durable.Options{})
	return err
}

// holdsDamage checks that a file holds the damaged bytes and nothing else.
func (d *demo) holdsDamage(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(data, d.damaged) {
		return fmt.Errorf("%s holds %d bytes that are not the %d damaged ones", filepath.Base(path), len(data), len(d.damaged))
	}
	return nil
}

func (d *demo) damage() (string, error) {
	if err := d.cutLedger(); err != nil {
		return "", err
	}
	_, err := d.project.Resume(context.Background())
	var he *handoff.Error
	if !errors.As(err, &he) || he.Code != handoff.Refused {
		return "", fmt.Errorf("resume of a truncated ledger gave %v", err)
	}
	_, err = d.project.Record(context.Background(), ledger.RecordInput{ID: "x", Kind: ledger.KindGoal, Text: "x", Source: "x"})
	if !errors.As(err, &he) || he.Code != handoff.Refused {
		return "", fmt.Errorf("record on a truncated ledger gave %v", err)
	}
	if err := d.holdsDamage(d.ledgerPath()); err != nil {
		return "", err
	}
	return fmt.Sprintf("cut the ledger to %d bytes; resume and record refuse and leave it as it is", len(d.damaged)), nil
}

func (d *demo) doctor() (string, error) {
	h, err := d.project.Doctor(context.Background())
	if err != nil {
		return "", err
	}
	if h.Healthy || len(h.Findings) == 0 || h.Findings[0].Code != "ledger-truncated" {
		return "", fmt.Errorf("doctor did not notice: %+v", h)
	}
	return "doctor says: " + h.Findings[0].Message, nil
}

func (d *demo) preview() (string, error) {
	r, err := d.project.Recover(context.Background(), handoff.RecoverOptions{})
	if err != nil {
		return "", err
	}
	if r.RestoreRevision != 3 || r.Records != 3 || r.Applied {
		return "", fmt.Errorf("the preview offers %+v", r)
	}
	d.expect = r.Expect
	return fmt.Sprintf("recover offers revision %d with all %d records, under fingerprint %s…", r.RestoreRevision, r.Records, r.Expect[:12]), nil
}

func (d *demo) wrongFingerprint() (string, error) {
	_, err := d.project.Recover(context.Background(), handoff.RecoverOptions{Apply: true, Expect: strings.Repeat("0", 64)})
	var he *handoff.Error
	if !errors.As(err, &he) || he.Code != handoff.Stale {
		return "", fmt.Errorf("a wrong fingerprint gave %v", err)
	}
	if err := d.holdsDamage(d.ledgerPath()); err != nil {
		return "", err
	}
	return "a wrong fingerprint is refused and changes nothing", nil
}

func (d *demo) recovery() (string, error) {
	r, err := d.project.Recover(context.Background(), handoff.RecoverOptions{Apply: true, Expect: d.expect})
	if err != nil {
		return "", err
	}
	if r.Preserved == nil {
		return "", errors.New("the damaged bytes were not preserved")
	}
	if err := d.holdsDamage(filepath.Join(d.project.Root(), filepath.FromSlash(*r.Preserved))); err != nil {
		return "", fmt.Errorf("quarantine: %w", err)
	}
	v, err := d.project.Resume(context.Background())
	if err != nil {
		return "", err
	}
	if len(v.Records) != 3 || v.RecoveryID != r.RecoveryID {
		return "", fmt.Errorf("resume shows %d records", len(v.Records))
	}
	return fmt.Sprintf("restored; resume shows all 3 records, and the %d damaged bytes lie in quarantine", len(d.damaged)), nil
}

func (d *demo) staleWriter() (string, error) {
	in := ledger.RecordInput{ID: "late", Kind: ledger.KindGoal, Text: "Decided before the recovery", Source: "landfast demo"}
	_, err := d.project.Record(context.Background(), in)
	var he *handoff.Error
	if !errors.As(err, &he) || he.Code != handoff.Stale {
		return "", fmt.Errorf("a writer from before the recovery gave %v", err)
	}
	return "a writer that does not know of the recovery is asked to look again", nil
}

// child is this program started again as a victim.
type child struct {
	cmd *exec.Cmd
	in  io.Closer
}

// startChild waits until the child says that it is at work.
func startChild(role string, args ...string) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, append([]string{demoChild, role}, args...)...)
	in, err := cmd.StdinPipe() // its end tells an orphan to go
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var problem strings.Builder
	cmd.Stderr = &problem
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, in: in}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		c.kill()
		return nil, fmt.Errorf("the %s did not start: %s", role, problem.String())
	}
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// kill ends it without warning; a second call does nothing.
func (c *child) kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		_ = c.in.Close()
	}
}
