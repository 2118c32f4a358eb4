package archtest

import "testing"

func TestWrites(t *testing.T) {
	demo := []allowance{{dir: "cmd/landfast", funcs: []string{"os.MkdirTemp"}, reason: "a test"}}
	for _, c := range []struct {
		name, file, src, want string
	}{
		{"fsx writes", "fsx/a.go", `import "os"; var f = os.Rename`, ""},
		{"tests write", "durable/a_test.go", `import "os"; var f = os.Rename`, ""},
		{"test support writes", "internal/golden/a.go", `import "os"; var f = os.WriteFile`, ""},
		{"reading is free", "durable/a.go", `import "os"; var f = os.ReadFile`, ""},
		{"another package's name is free", "durable/a.go", `import os "path"; var f = os.Join`, ""},
		{"an allowance lets pass", "cmd/landfast/a.go", `import "os"; var f = os.MkdirTemp`, ""},

		{"a rename", "durable/a.go", `import "os"; func f() { os.Rename("a", "b") }`, "os.Rename outside fsx"},
		{"a removal in a file for Windows", "lockx/a_windows.go", `import "os"; func f() { os.Remove("a") }`, "os.Remove outside fsx"},
		{"a function value", "durable/a.go", `import "os"; var f = os.WriteFile`, "os.WriteFile outside fsx"},
		{"an open for who knows what", "handoff/a.go", `import "os"; var f = os.OpenFile`, "os.OpenFile outside fsx"},
		{"under another name", "durable/a.go", `import sys "os"; var f = sys.Mkdir`, "os.Mkdir outside fsx"},
		{"by a dot import", "durable/a.go", `import . "os"; var f = Remove`, "dot import of os"},
		{"by a root", "durable/a.go", `import "os"; var f = os.OpenRoot`, "os.OpenRoot outside fsx"},
		{"by a system call", "lockx/a.go", `import "golang.org/x/sys/unix"; var f = unix.Unlinkat`, "unix.Unlinkat outside fsx"},
		{"by the old way to system calls", "lockx/a_windows.go", `import "syscall"; var f = syscall.MoveFile`, "syscall.MoveFile outside fsx"},
		{"by the old package", "durable/a.go", `import "io/ioutil"; var f = ioutil.WriteFile`, "ioutil.WriteFile outside fsx"},
		{"in a directory that starts alike", "fsxtra/a.go", `import "os"; var f = os.Link`, "os.Link outside fsx"},
		{"another function than the allowed", "cmd/landfast/a.go", `import "os"; var g = os.MkdirTemp; var f = os.Create`, "os.Create outside fsx"},
		{"an allowance that nothing uses", "cmd/landfast/a.go", `import "os"; var f = os.ReadFile`, "nothing uses the allowance for os.MkdirTemp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, writes(load(t, c.file, "package p; "+c.src), demo), c.want)
		})
	}
}

func TestPackageDocs(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"one comment", []string{"fsx/a.go", "// Package fsx does.\npackage fsx\n", "fsx/b.go", "package fsx\n"}, ""},
		{"a command", []string{"cmd/landfast/a.go", "// Command landfast does.\npackage main\n"}, ""},
		{"below a build constraint", []string{"fsx/a.go", "//go:build linux\n\n// Package fsx does.\npackage fsx\n"}, ""},
		{"tests alone need none", []string{"x/a_test.go", "package x\n"}, ""},

		{"none", []string{"fsx/a.go", "package fsx\n"}, "fsx: no package comment"},
		{"only in a test", []string{"fsx/a.go", "package fsx\n", "fsx/a_test.go", "// Package fsx does.\npackage fsx\n"}, "fsx: no package comment"},
		{"a directive is no comment", []string{"fsx/a.go", "//go:debug x=1\npackage fsx\n"}, "fsx: no package comment"},
		{"a wrong start", []string{"fsx/a.go", "// This package does.\npackage fsx\n"}, `does not start with "Package fsx "`},
		{"another package's name", []string{"fsx/a.go", "// Package fs does.\npackage fsx\n"}, `does not start with "Package fsx "`},
		{"lower case", []string{"fsx/a.go", "// package fsx does.\npackage fsx\n"}, "does not start with"},
		{"a command that says package", []string{"cmd/landfast/a.go", "// Package main does.\npackage main\n"}, `"Command landfast "`},
		{"two", []string{"fsx/a.go", "// Package fsx a.\npackage fsx\n", "fsx/b.go", "// Package fsx b.\npackage fsx\n"}, "several package comments"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, PackageDocs(load(t, c.files...)), c.want)
		})
	}
}

func TestPackageDocsFindsADetachedComment(t *testing.T) {
	got := PackageDocs(load(t, "fsx/a.go", "// Package fsx does.\n\npackage fsx\n"))
	if len(got) != 2 {
		t.Fatalf("found %q, want the detached comment and the missing one", got)
	}
	expect(t, got[:1], "a blank line detaches")
	expect(t, got[1:], "no package comment")
}

func TestExportedDocs(t *testing.T) {
	for _, c := range []struct{ name, file, src, want string }{
		{"a comment", "fsx/a.go", "// F does.\nfunc F() {}", ""},
		{"nobody sees it", "fsx/a.go", "func f() {}\ntype t int\nfunc (t) M() {}", ""},
		{"a group's comment serves for all", "fsx/a.go", "// The kinds.\nconst (\n\tA = 1\n\tB = 2\n)", ""},
		{"a comment at the end of the line", "fsx/a.go", "const (\n\tA = 1 // one\n)", ""},
		{"a method that everyone knows", "fsx/a.go", "// E is.\ntype E int\nfunc (e *E) Error() string { return \"\" }", ""},
		{"test support", "internal/simfs/a.go", "func F() {}", ""},

		{"a function", "fsx/a_windows.go", "func F() {}", "exported F has no comment"},
		{"a method", "fsx/a.go", "// T is.\ntype T[E any] int\nfunc (t *T[E]) M() {}", "exported M has no comment"},
		{"a type", "fsx/a.go", "type T int", "exported T has no comment"},
		{"a constant", "fsx/a.go", "const (\n\tA = 1\n)", "exported A has no comment"},
		{"a comment that a function put between took", "fsx/a.go", "// F does.\nfunc G() {}\nfunc F() {}", "exported F has no comment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, ExportedDocs(load(t, c.file, "package p\n\n"+c.src+"\n")), c.want)
		})
	}
}

func TestHabits(t *testing.T) {
	for _, c := range []struct{ name, file, src, want string }{
		{"a test imports testing", "fsx/a_test.go", `import _ "testing"`, ""},
		{"test support imports testing", "internal/testenv/a.go", `import _ "testing"`, ""},
		{"a method may be called init", "fsx/a.go", `type t int; func (t) init() {}`, ""},
		{"testing in the product", "fsx/a_windows.go", `import _ "testing"`, "imports testing"},
		{"a part of testing", "fsx/a.go", `import _ "testing/fstest"`, "imports testing/fstest"},
		{"an init function", "fsx/a_darwin.go", `func init() {}`, "init function"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, Habits(load(t, c.file, "package p; "+c.src)), c.want)
		})
	}
}

func TestMarkdownPaths(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a link that leads somewhere", "see [it](b.md) and [that](../fsx/a.go)", ""},
		{"a link to a part of a file", "see [it](b.md#part)", ""},
		{"a link within the file", "see [it](#part)", ""},
		{"a link to elsewhere", "see [it](https://example.com/x)", ""},
		{"a file", "see `fsx/a.go`", ""},
		{"a directory", "see `fsx/sub/`", ""},
		{"a name of a package", "see `fsx/sub.Table` and `fsx/sub.T.Method`", ""},
		{"a pattern of packages", "see `./fsx/sub/...`", ""},
		{"a path of another tree", "see `.landfast/ledger.json` and `go-json-experiment/json`", ""},
		{"a command", "run `go test ./fsx/nothing`", ""},
		{"in a fence", "```\n`fsx/nothing.go`\n```", ""},

		{"a link to nothing", "see [it](c.md)", "a link to nothing: c.md"},
		{"a file that is gone", "see `fsx/b.go`", "no such path: fsx/b.go"},
		{"a directory that is gone", "see `old/b.go`", "no such path: old/b.go"},
		{"a package that is gone", "see `fsx/gone`", "no such path: fsx/gone"},
		{"a name of a package that is gone", "see `fsx/gone.Table`", "no such path: fsx/gone"},
		{"after a fence", "```\n```\n`fsx/b.go`", "no such path: fsx/b.go"},
		{"a line number", "see fsx/a.go:12", "a line number of a source"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := load(t,
				"docs/a.md", c.text,
				"docs/b.md", "",
				"fsx/a.go", "package fsx",
				"fsx/sub/a.go", "package sub",
			)
			expect(t, MarkdownPaths(tree), c.want)
		})
	}
}
