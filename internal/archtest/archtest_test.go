package archtest

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// rules are run over this module's own sources.
var rules = []struct {
	name  string
	check func(*Tree) []string
}{
	{"imports keep their direction and modules their owner", Imports},
	{"only fsx changes files", Writes},
	{"every package is documented", PackageDocs},
	{"exported names are documented", ExportedDocs},
	{"product code keeps its habits", Habits},
	{"paths in Markdown files exist", MarkdownPaths},
}

func TestThisModule(t *testing.T) {
	tree, err := Load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Files) < 20 || len(tree.Docs) == 0 {
		t.Fatalf("found %d Go files and %d Markdown files: not the module's root", len(tree.Files), len(tree.Docs))
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, p := range rule.check(tree) {
				t.Error(p)
			}
		})
	}
}

// load makes a tree from paths and contents in turn.
func load(t *testing.T, files ...string) *Tree {
	t.Helper()
	m := fstest.MapFS{}
	for i := 0; i+1 < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	tree, err := Load(m)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// expect fails unless exactly the wanted problem, or none for "", was found.
func expect(t *testing.T, got []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(got) > 0:
		t.Errorf("found %q in a tree that keeps the rule", got)
	case want != "" && (len(got) != 1 || !strings.Contains(got[0], want)):
		t.Errorf("found %q, want one problem with %q", got, want)
	}
}

func TestLoadSeesFilesOfEverySystem(t *testing.T) {
	tree := load(t,
		"fsx/a_windows.go", "//go:build windows\n\npackage fsx\n",
		"fsx/a_plan9.go", "package fsx\n",
		"fsx/testdata/x.go", "not Go at all",
	)
	if len(tree.Files) != 2 {
		t.Errorf("saw %d files, want 2", len(tree.Files))
	}
}

func TestLoadRefusesWhatDoesNotParse(t *testing.T) {
	_, err := Load(fstest.MapFS{"fsx/a.go": {Data: []byte("package")}})
	if err == nil {
		t.Error("no error")
	}
}
