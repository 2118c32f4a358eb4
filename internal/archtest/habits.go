package archtest

import (
	"go/ast"
	"strings"
)

// Habits finds what product code never does: import testing, which brings its
// flags and its weight into programs, or have an init function, which acts
// before anyone asked.
func Habits(t *Tree) []string {
	var problems []string
	for i := range t.Files {
		f := &t.Files[i]
		if f.Test || belowAny(f.Dir, support) {
			continue
		}
		for _, spec := range f.AST.Imports {
			p := importPath(spec)
			if p == "testing" || strings.HasPrefix(p, "testing/") || strings.HasSuffix(p, "/httptest") {
				problems = append(problems, f.at(spec.Pos(), "product code imports %s", p))
			}
		}
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				problems = append(problems, f.at(fn.Pos(), "init function"))
			}
		}
	}
	return problems
}
