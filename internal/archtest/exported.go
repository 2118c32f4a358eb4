package archtest

import (
	"go/ast"
	"go/token"
	"slices"
)

// conventional names the methods whose meaning the standard library defines: a
// comment would repeat it.
var conventional = []string{
	"As", "Error", "Is", "MarshalJSON", "MarshalText", "String", "UnmarshalJSON", "UnmarshalText", "Unwrap",
}

// ExportedDocs checks that exported functions, methods of exported types, types,
// constants and variables have a comment. In a group of constants or variables
// the group's comment serves for all. Test support is exempt: most of its
// methods implement an interface that says what they do.
func ExportedDocs(t *Tree) []string {
	var problems []string
	for i := range t.Files {
		f := &t.Files[i]
		if f.Test || f.AST.Name.Name == "main" || belowAny(f.Dir, support) {
			continue
		}
		for _, d := range f.AST.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && slices.Contains(conventional, d.Name.Name) {
					continue
				}
				if d.Doc == nil && d.Name.IsExported() && receiverExported(d) {
					problems = append(problems, f.at(d.Pos(), "exported %s has no comment", d.Name.Name))
				}
			case *ast.GenDecl:
				for _, name := range undocumented(d) {
					problems = append(problems, f.at(name.Pos(), "exported %s has no comment", name.Name))
				}
			}
		}
	}
	return problems
}

// receiverExported reports whether a function is no method, or one that the
// package's users can see by its type's name.
func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	exported := true
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			exported = id.IsExported()
			return false // what follows are type parameters
		}
		return exported
	})
	return exported
}

// undocumented returns the exported names of a declaration without a comment.
func undocumented(d *ast.GenDecl) []*ast.Ident {
	if d.Tok == token.IMPORT || d.Doc != nil {
		return nil
	}
	var names []*ast.Ident
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Doc == nil && s.Name.IsExported() {
				names = append(names, s.Name)
			}
		case *ast.ValueSpec:
			if s.Doc != nil || s.Comment != nil {
				continue
			}
			for _, name := range s.Names {
				if name.IsExported() {
					names = append(names, name)
				}
			}
		}
	}
	return names
}
