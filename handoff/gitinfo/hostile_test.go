package gitinfo

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/landfast/landfast/internal/testenv"
)

func TestBranchNamesThatCannotBeShown(t *testing.T) {
	dir := repo(t)
	head := filepath.Join(dir, ".git", "HEAD")
	for name, branch := range map[string]string{
		"escape": "a\x1b[31m", "CSI": "a\u009bb", "DEL": "a\x7f", "tab": "a\tb", "right-to-left": "a\u202eb", "isolate": "a\u2066b",
		"zero width": "a\u200bb", "line separator": "a\u2028b", "byte order mark": "a\ufeffb", "tag": "a\U000E0041b", "soft hyphen": "a\u00adb",
		"filler": "a\u3164b", "vowel separator": "a\u180eb", "annotation": "a\ufff9b", "invalid UTF-8": "a\xffb", "NUL": "a\x00b",
		"1025 characters": strings.Repeat("ä", 1025), "two lines": "a\nb",
		"variation selector after a letter": "a\ufe01b", "a run of them": "❤\ufe0f\ufe0f", "supplementary selector": "葛\U000E0100",
	} {
		writeFile(t, head, "ref: refs/heads/"+branch+"\n")
		i := Read(context.Background(), dir)
		if i.State != Unreadable || i.Branch != nil || i.Head != nil {
			t.Errorf("%s: %+v", name, i)
		}
		if i.Reason != "HEAD: "+errFormat.Error() {
			t.Errorf("%s: the reason is %q", name, i.Reason)
		}
	}
	for _, branch := range []string{"fix-❤\ufe0f", "1\ufe0f\u20e3-first", "café"} {
		writeFile(t, head, "ref: refs/heads/"+branch+"\n")
		if i := Read(context.Background(), dir); i.State != Unborn || deref(i.Branch) != branch {
			t.Errorf("%+q: %+v", branch, i)
		}
	}
	long := strings.Repeat("ä", 1024)
	writeFile(t, head, "ref: refs/heads/"+long+"\n")
	// No filesystem holds such a file, so it can't be read whether it is there.
	if i := Read(context.Background(), dir); i.State == OK || i.Head != nil {
		t.Errorf("1024 characters: %+v", i)
	}
}

func TestPackedRefsThatLie(t *testing.T) {
	id := strings.Repeat("a", 40)
	for name, row := range map[string]struct {
		packed string
		state  State
	}{
		"garbage":                  {"hello\nworld\n", Unborn},
		"id of the wrong length":   {id + "a refs/heads/main\n", Unreadable},
		"id in upper case":         {strings.ToUpper(id) + " refs/heads/main\n", Unreadable},
		"in a comment":             {"# refs/heads/main\n", Unborn},
		"a peeled line":            {"^" + id + "\n", Unborn},
		"longer name":              {id + " refs/heads/main2\n", Unborn},
		"shorter name":             {id + " refs/heads/mai\n", Unborn},
		"other case":               {id + " refs/heads/MAIN\n", Unborn},
		"a line of 1 MiB":          {strings.Repeat("x", 1<<20) + "\n" + id + " refs/heads/main\n", Unreadable},
		"the last line has no end": {id + " refs/heads/other\n" + id + " refs/heads/main", OK},
		"CRLF":                     {id + " refs/heads/main\r\n", OK},
	} {
		dir := repo(t)
		git(t, dir, "update-ref", "-d", "refs/heads/main")
		writeFile(t, filepath.Join(dir, ".git", "packed-refs"), row.packed)
		i := Read(context.Background(), dir)
		if i.State != row.state || (i.Head != nil) != (row.state == OK) {
			t.Errorf("%s: %+v, want %s", name, i, row.state)
		}
		if strings.Contains(i.Reason, "hello") || strings.Contains(i.Reason, "aaaa") {
			t.Errorf("%s: the reason quotes the file: %q", name, i.Reason)
		}
	}
}

func TestPackedRefsBeyondTheLimitAreNotTakenForAbsent(t *testing.T) {
	id := strings.Repeat("a", 40)
	line := id + " refs/heads/main\n"
	for name, row := range map[string]struct {
		text string
		max  int
		want string
		err  error
	}{
		"found at the limit":     {line, len(line), id, nil},
		"absent at the limit":    {line, len(line), "", fs.ErrNotExist},
		"absent beyond it":       {line + line, len(line), "", errFormat},
		"absent one byte beyond": {line + "x", len(line), "", errFormat},
	} {
		ref := "refs/heads/main"
		if row.want == "" {
			ref = "refs/heads/other"
		}
		got, err := findPacked(strings.NewReader(row.text), int64(row.max), ref)
		if got != row.want || !errors.Is(err, row.err) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestSymbolicRefsThatGoInCirclesEnd(t *testing.T) {
	dir := repo(t)
	heads := filepath.Join(dir, ".git", "refs", "heads")
	writeFile(t, filepath.Join(heads, "main"), "ref: refs/heads/other\n")
	writeFile(t, filepath.Join(heads, "other"), "ref: refs/heads/main\n")
	if i := soon(t, dir); i.State != Unreadable || i.Reason == "" {
		t.Errorf("%+v", i)
	}
	writeFile(t, filepath.Join(heads, "main"), "ref: refs/heads/../../../out\n")
	writeFile(t, filepath.Join(dir, "out"), strings.Repeat("b", 40)+"\n")
	if i := soon(t, dir); i.State != Unreadable || i.Head != nil {
		t.Errorf("a ref led out of the repository: %+v", i)
	}
}

// FuzzRead reads a repository whose HEAD and packed-refs hold anything.
func FuzzRead(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add("ref: refs/heads/main\n", id+" refs/heads/main\n")
	f.Add("ref: refs/heads/a/b", "# pack-refs with: peeled fully-peeled sorted \n"+id+" refs/tags/v1\n^"+id+"\n")
	f.Add(id+"\n", "")
	f.Add("ref: refs/heads/../x\n", "\x00")
	dir := testenv.TempDir(f)
	f.Fuzz(func(t *testing.T, head, packed string) {
		if strings.TrimSpace(head) == "ref: refs/heads/.invalid" {
			return // would ask git
		}
		writeFile(t, filepath.Join(dir, ".git", "HEAD"), head)
		writeFile(t, filepath.Join(dir, ".git", "packed-refs"), packed)
		i := Read(context.Background(), dir)
		if i.Branch != nil && (!plainBranch(*i.Branch) || !strings.Contains(head, *i.Branch)) {
			t.Errorf("branch %q of HEAD %q", *i.Branch, head)
		}
		if i.Head != nil && (!isID(*i.Head) || !strings.Contains(head+packed, *i.Head)) {
			t.Errorf("head %q is from nowhere", *i.Head)
		}
		want := map[State][2]bool{OK: {true, true}, Unborn: {true, false}, Detached: {false, true}, Unreadable: {false, false}}
		if has, ok := want[i.State]; !ok || has != [2]bool{i.Branch != nil, i.Head != nil} {
			t.Errorf("%+v", i)
		}
		if (i.State == Unreadable) != (i.Reason != "") || strings.ContainsAny(i.Reason, "\n\x1b") {
			t.Errorf("reason %q in state %s", i.Reason, i.State)
		}
	})
}
