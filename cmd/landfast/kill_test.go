package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/landfast/landfast/fsx"
	"github.com/landfast/landfast/internal/testenv"
)

// A writer is killed at random moments, hundreds of times: the file is whole
// each time and never older than before, and a sweep removes what was left.
// This proves process death, not power loss.
func TestKilledWritersLeaveOldOrNewContentAndOnlySweepableFiles(t *testing.T) {
	kills := testenv.Pick(300, 3000)
	dir := testenv.TempDir(t)
	path := filepath.Join(dir, demoFile)
	if err := os.WriteFile(path, demoContent(0), 0o600); err != nil {
		t.Fatal(err)
	}
	last, moved := 0, 0
	for i := range kills {
		startAndKill(t, dir, fmt.Sprint(last), time.Duration(i%11)*400*time.Microsecond)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("after kill %d: %v", i+1, err)
		}
		v, err := checkDemoContent(data)
		if err != nil {
			t.Fatalf("after kill %d: %v", i+1, err)
		}
		if v < last {
			t.Fatalf("after kill %d: version %d after %d", i+1, v, last)
		}
		if v > last {
			moved++
		}
		last = v
	}
	if moved < kills/10 {
		t.Errorf("only %d of %d writers got as far as publishing: too little was tested", moved, kills)
	}
	root, err := fsx.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := root.Dir(".")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	swept, err := d.Sweep(fsx.SweepOptions{})
	if err != nil || len(swept.Kept) > 0 {
		t.Errorf("kept %v, %v", swept.Kept, err)
	}
	es, err := os.ReadDir(dir)
	if err != nil || len(es) != 1 {
		t.Errorf("%d files after the sweep, %v; want 1", len(es), err)
	}
	t.Logf("%d kills, %d versions, %d leftovers swept", kills, last, len(swept.Removed))
}

func startAndKill(t *testing.T, dir, version string, after time.Duration) {
	t.Helper()
	cmd := landfast(t, dir, demoChild, "writer", dir, version)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the writer did not start: %q %v", line, err)
	}
	time.Sleep(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
