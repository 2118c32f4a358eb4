// Package golden compares what a test got with a file under testdata.
//
// `go test PKG -update` writes the files instead of comparing. Line ends are
// compared as LF, so that a checkout on Windows that turned them into CRLF does
// not fail; what varies from run to run (paths, times) is for the caller to
// normalise first.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Updating reports whether golden files are to be written: a test that keeps
// expectations in another form updates them under the same flag.
func Updating() bool { return *update }

// Cmp fails the test if got differs from testdata/name, or writes the file
// under -update. The name is slash-separated.
func Cmp(t testing.TB, name string, got []byte) {
	t.Helper()
	compare(t, filepath.Join("testdata", filepath.FromSlash(name)), got, *update)
}

func compare(t testing.TB, path string, got []byte, write bool) {
	t.Helper()
	got = unixLines(got)
	if write {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v\n(run the test with -update to write it); got:\n%s", err, got)
	}
	want = unixLines(want)
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (run the test with -update if the change is meant):\n%s", path, diff(want, got))
	}
}

// unixLines turns CRLF into LF.
func unixLines(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }

// diff shows the lines that differ, with what both texts start and end with
// left out: enough to see a golden's change without a diff algorithm.
func diff(want, got []byte) string {
	w := strings.SplitAfter(string(want), "\n")
	g := strings.SplitAfter(string(got), "\n")
	start := 0
	for start < len(w) && start < len(g) && w[start] == g[start] {
		start++
	}
	endW, endG := len(w), len(g)
	for endW > start && endG > start && w[endW-1] == g[endG-1] {
		endW--
		endG--
	}
	var b strings.Builder
	put := func(sign string, lines []string) {
		for _, line := range lines {
			b.WriteString(sign)
			b.WriteString(strings.TrimSuffix(line, "\n"))
			if !strings.HasSuffix(line, "\n") {
				b.WriteString(" (no line end)")
			}
			b.WriteByte('\n')
		}
	}
	put("  ", w[max(0, start-2):start])
	put("- ", w[start:endW])
	put("+ ", g[start:endG])
	put("  ", w[endW:min(len(w), endW+2)])
	return b.String()
}
