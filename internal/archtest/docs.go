package archtest

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
)

// PackageDocs checks that every package has one package comment, that it starts
// as go doc expects, and that no blank line detaches it from the clause.
func PackageDocs(t *Tree) []string {
	var problems []string
	documented := make(map[string][]string) // directory to the files with a comment
	for i := range t.Files {
		f := &t.Files[i]
		if f.Test {
			continue
		}
		if _, ok := documented[f.Dir]; !ok {
			documented[f.Dir] = nil
		}
		want := "Package " + f.AST.Name.Name + " "
		if f.AST.Name.Name == "main" {
			want = "Command " + path.Base(f.Dir) + " "
		}
		if f.AST.Doc != nil && f.AST.Doc.Text() != "" {
			documented[f.Dir] = append(documented[f.Dir], f.Path)
			if !strings.HasPrefix(f.AST.Doc.Text(), want) {
				problems = append(problems, f.at(f.AST.Doc.Pos(), "the package comment does not start with %q", want))
			}
		}
		if c := detached(f.AST); c != nil {
			problems = append(problems, f.at(c.Pos(), "a blank line detaches the package comment"))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		switch files := documented[dir]; len(files) {
		case 1:
		case 0:
			problems = append(problems, dir+": no package comment")
		default:
			problems = append(problems, dir+": several package comments: "+strings.Join(files, ", "))
		}
	}
	return problems
}

// detached returns a comment before the package clause that reads like a
// package comment and is none.
func detached(f *ast.File) *ast.CommentGroup {
	for _, c := range f.Comments {
		if c.Pos() > f.Package {
			return nil
		}
		text := strings.ToLower(c.Text())
		if c != f.Doc && (strings.HasPrefix(text, "package "+strings.ToLower(f.Name.Name)) || strings.HasPrefix(text, "command ")) {
			return c
		}
	}
	return nil
}
