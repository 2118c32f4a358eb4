package archtest

import (
	"go/ast"
	"maps"
	"path"
	"slices"
)

// changers lists, per package, the functions that change a filesystem, and
// those that hand out something which does.
var changers = map[string][]string{
	"os": {
		"Chmod", "Chown", "Chtimes", "CopyFS", "Create", "CreateTemp", "Lchown", "Link",
		"Mkdir", "MkdirAll", "MkdirTemp", "OpenFile", "OpenInRoot", "OpenRoot", "Remove",
		"RemoveAll", "Rename", "Symlink", "Truncate", "WriteFile",
	},
	"io/ioutil":                {"TempDir", "TempFile", "WriteFile"},
	"syscall":                  slices.Concat(unixChangers, windowsChangers),
	"golang.org/x/sys/unix":    unixChangers,
	"golang.org/x/sys/windows": windowsChangers,
}

var unixChangers = []string{
	"Creat", "Link", "Linkat", "Mkdir", "Mkdirat", "Open", "Openat", "Openat2", "Rename",
	"Renameat", "Renameat2", "RenameatxNp", "Rmdir", "Symlink", "Symlinkat", "Truncate",
	"Unlink", "Unlinkat",
}

var windowsChangers = []string{
	"CreateDirectory", "CreateFile", "CreateHardLink", "CreateSymbolicLink", "DeleteFile",
	"MoveFile", "MoveFileEx", "NtCreateFile", "RemoveDirectory", "SetFileInformationByHandle",
}

// writer is the one package that may change files.
const writer = "fsx"

// Writes finds functions that change files in product code outside fsx, where
// nothing would sync, classify or root them. Naming the function is enough: a
// function value is a call to come.
func Writes(t *Tree) []string { return writes(t, allowances) }

func writes(t *Tree, allowed []allowance) []string {
	var problems []string
	used := make(map[string]bool) // "dir func"
	for i := range t.Files {
		f := &t.Files[i]
		if f.Test || belowAny(f.Dir, support) || below(f.Dir, writer) {
			continue
		}
		names, dotted := changersOf(f)
		for _, spec := range dotted {
			problems = append(problems, f.at(spec.Pos(), "dot import of %s hides what it is used for", importPath(spec)))
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok || !slices.Contains(changers[names[x.Name]], sel.Sel.Name) {
				return true
			}
			fn := path.Base(names[x.Name]) + "." + sel.Sel.Name
			a := slices.IndexFunc(allowed, func(a allowance) bool {
				return below(f.Dir, a.dir) && slices.Contains(a.funcs, fn)
			})
			if a >= 0 {
				used[allowed[a].dir+" "+fn] = true
				return true
			}
			problems = append(problems, f.at(sel.Pos(), "%s outside %s", fn, writer))
			return true
		})
	}
	return append(problems, unused(t, allowed, used)...)
}

// changersOf maps the names under which a file imports the packages of changers
// to their paths, and returns their dot imports.
func changersOf(f *File) (names map[string]string, dotted []*ast.ImportSpec) {
	names = make(map[string]string)
	for _, spec := range f.AST.Imports {
		p := importPath(spec)
		if !slices.Contains(slices.Collect(maps.Keys(changers)), p) {
			continue
		}
		switch {
		case spec.Name == nil:
			names[path.Base(p)] = p
		case spec.Name.Name == ".":
			dotted = append(dotted, spec)
		default:
			names[spec.Name.Name] = p
		}
	}
	return names, dotted
}

// unused reports allowances that no code needs any more. Those of a directory
// that does not exist say nothing yet.
func unused(t *Tree, allowed []allowance, used map[string]bool) []string {
	var problems []string
	for _, a := range allowed {
		if !slices.ContainsFunc(t.Files, func(f File) bool { return below(f.Dir, a.dir) && !f.Test }) {
			continue
		}
		for _, fn := range a.funcs {
			if !used[a.dir+" "+fn] {
				problems = append(problems, a.dir+": nothing uses the allowance for "+fn)
			}
		}
	}
	return problems
}
