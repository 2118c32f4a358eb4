package archtest

import (
	"path"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	const m = modulePath + "/"
	for _, c := range []struct {
		name, file, imports, want string
	}{
		{"a lower layer is fine", "durable/a.go", m + "lockx", ""},
		{"the ground is fine", "fsx/a.go", m + "internal/fsops", ""},
		{"the standard library is fine", "internal/fsops/a.go", "io/fs", ""},
		{"a package's own sub-package is fine", "supervisor/a.go", m + "supervisor/legacy", ""},
		{"an external test imports its package", "handoff/a_test.go", m + "handoff", ""},
		{"the command meets everyone", "cmd/landfast/a.go", m + "handoff/ledger", ""},
		{"a test imports test support", "fsx/a_test.go", m + "internal/simfs", ""},

		{"upward", "fsx/a.go", m + "lockx", "fsx may not import lockx"},
		{"upward in a file for Windows", "fsx/a_windows.go", m + "durable", "fsx may not import durable"},
		{"upward in a test", "fsx/a_test.go", m + "durable", "fsx may not import durable"},
		{"the toolkit knows no domain", "durable/a.go", m + "handoff/ledger", "durable may not import handoff/ledger"},
		{"handoff knows no supervisor", "handoff/a.go", m + "supervisor", "handoff may not import supervisor"},
		{"supervisor knows no handoff", "supervisor/a.go", m + "handoff", "supervisor may not import handoff"},
		{"the domain knows no transport", "handoff/a.go", m + "handoff/mcpserver", "handoff may not import handoff/mcpserver"},
		{"the ledger's format can't write", "handoff/ledger/a.go", m + "fsx", "handoff/ledger may not import fsx"},
		{"reading git can't write", "handoff/gitinfo/a.go", m + "durable", "handoff/gitinfo may not import durable"},
		{"nobody imports the command", "handoff/a.go", m + "cmd/landfast", "handoff may not import cmd/landfast"},
		{"product code imports no test support", "durable/a.go", m + "internal/simfs", "internal/simfs is for tests"},
		{"nobody's product imports platformtests", "cmd/landfast/a.go", m + "platformtests", "platformtests is for tests"},
		{"the table stands on nothing", "internal/fsops/a.go", m + "internal/procid", "may not import"},
		{"a package without a place", "newthing/a.go", "io", "newthing has no layer"},
		{"an internal package without a place", "internal/util/a.go", "io", "internal/util has no layer"},
		{"a handoff package without a place", "handoff/newthing/a.go", "io", "handoff/newthing has no layer"},

		{"a module at its owner", "fsx/a.go", "github.com/google/renameio/v2", ""},
		{"a package of an owned module", "internal/procid/a.go", "golang.org/x/sys/windows/registry", ""},
		{"a test module in a test", "fsx/a_test.go", "pgregory.net/rapid", ""},
		{"a test module in test support", "internal/simfs/a.go", "pgregory.net/rapid", ""},
		{"a module elsewhere", "durable/a_windows.go", "github.com/gofrs/flock", "flock belongs to lockx"},
		{"an owned module in another's test", "durable/a_test.go", "github.com/gofrs/flock", "flock belongs to lockx"},
		{"system calls above the ground", "durable/a.go", "golang.org/x/sys/unix", "golang.org/x/sys belongs to"},
		{"a table that makes system calls", "internal/fsops/a.go", "golang.org/x/sys/unix", "golang.org/x/sys belongs to"},
		{"a test module in the product", "fsx/a.go", "pgregory.net/rapid", "rapid is for tests"},
		{"a module that nobody owns", "fsx/a.go", "example.com/thing", "example.com/thing has no owner"},
		{"another major version has no owner", "fsx/a.go", "github.com/google/renameio", "has no owner"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pkg := path.Base(path.Dir(c.file))
			tree := load(t, c.file, "package "+pkg+"\n\nimport _ \""+c.imports+"\"\n")
			expect(t, Imports(tree), c.want)
		})
	}
}

func TestTheRootImportsNothing(t *testing.T) {
	tree := load(t, "doc.go", "package landfast\n\nimport _ \""+modulePath+"/fsx\"\n")
	expect(t, Imports(tree), ". may not import fsx")
}

func TestPolicyNamesEachDirectoryOnce(t *testing.T) {
	seen := make(map[string]bool)
	for _, l := range layers {
		if seen[l.dir] {
			t.Errorf("layer %s twice", l.dir)
		}
		seen[l.dir] = true
	}
	for _, o := range owners {
		if seen[o.module] {
			t.Errorf("module %s twice", o.module)
		}
		seen[o.module] = true
		if !strings.Contains(o.module, ".") {
			t.Errorf("%s is no module path", o.module)
		}
	}
	for _, a := range allowances {
		if a.reason == "" {
			t.Errorf("allowance of %s gives no reason", a.dir)
		}
	}
}
