package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/landfast/landfast/internal/testenv"
)

// complaints collects what a comparison says in place of failing the test.
type complaints struct {
	testing.TB
	said []string
}

func (c *complaints) Helper() {}
func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

func (c *complaints) Fatalf(format string, args ...any) {
	c.Errorf(format, args...)
	runtime.Goexit()
}

// complain returns what comparing got with a file holding want says.
func complain(t *testing.T, want *string, got string) []string {
	t.Helper()
	path := filepath.Join(testenv.TempDir(t), "g.txt")
	if want != nil {
		if err := os.WriteFile(path, []byte(*want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c := &complaints{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		compare(c, path, []byte(got), false)
	}()
	<-done
	return c.said
}

func TestCompare(t *testing.T) {
	file := func(s string) *string { return &s }
	for _, c := range []struct {
		name string
		want *string
		got  string
		say  string // empty: the comparison passes
	}{
		{"equal texts pass", file("a\nb\n"), "a\nb\n", ""},
		{"a checkout with CRLF passes", file("a\r\nb\r\n"), "a\nb\n", ""},
		{"output with CRLF passes", file("a\nb\n"), "a\r\nb\r\n", ""},
		{"a changed line is shown", file("a\nb\nc\n"), "a\nx\nc\n", "- b\n+ x\n"},
		{"an added line is shown", file("a\nc\n"), "a\nb\nc\n", "+ b\n"},
		{"a lost final line end is shown", file("a\n"), "a", "+ a (no line end)"},
		{"a missing file says how to write it", nil, "a\n", "-update"},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := complain(t, c.want, c.got)
			if c.say == "" {
				if len(said) > 0 {
					t.Errorf("complained: %q", said)
				}
				return
			}
			if len(said) != 1 || !strings.Contains(said[0], c.say) {
				t.Errorf("said %q, want %q in it", said, c.say)
			}
		})
	}
}

func TestUpdateWritesWithUnixLines(t *testing.T) {
	path := filepath.Join(testenv.TempDir(t), "sub", "g.txt")
	compare(t, path, []byte("a\r\nb\n"), true)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != "a\nb\n" {
		t.Errorf("wrote %q", b)
	}
	compare(t, path, []byte("a\nb\n"), false)
}

func TestCmpReadsTestdata(t *testing.T) {
	Cmp(t, "sample.txt", []byte("one line\n"))
}
