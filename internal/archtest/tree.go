package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A File is one parsed Go source file.
type File struct {
	Path string // slash-separated, relative to the module's root
	Dir  string // of Path; "." for the root
	Test bool   // a _test.go file
	AST  *ast.File
	fset *token.FileSet
}

// A Tree is the sources of a module.
type Tree struct {
	FS    fs.FS
	Files []File   // every Go file, whatever its build constraints
	Docs  []string // paths of the Markdown files
}

// skipped names the directories that hold no sources of the module.
var skipped = []string{".git", ".landfast", "testdata", "vendor", "dist", "node_modules"}

// Load parses the sources in a file system.
func Load(fsys fs.FS) (*Tree, error) {
	t := &Tree{FS: fsys}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains(skipped, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		switch path.Ext(p) {
		case ".md":
			t.Docs = append(t.Docs, p)
		case ".go":
			return t.add(p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load sources: %w", err)
	}
	return t, nil
}

// add parses one Go file.
func (t *Tree) add(p string) error {
	src, err := fs.ReadFile(t.FS, p)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.Files = append(t.Files, File{
		Path: p,
		Dir:  path.Dir(p),
		Test: strings.HasSuffix(p, "_test.go"),
		AST:  f,
		fset: fset,
	})
	return nil
}

// at formats a problem at a position in the file.
func (f *File) at(pos token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: ", f.Path, f.fset.Position(pos).Line) + fmt.Sprintf(format, args...)
}

// importPath returns the unquoted path of an import.
func importPath(s *ast.ImportSpec) string {
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return s.Path.Value
	}
	return p
}

// below reports whether dir is prefix or a directory below it.
func below(dir, prefix string) bool {
	return dir == prefix || strings.HasPrefix(dir, prefix+"/")
}

// belowAny reports whether dir is one of the prefixes or below one.
func belowAny(dir string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return below(dir, p) })
}
