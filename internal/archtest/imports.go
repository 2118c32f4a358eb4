package archtest

import (
	"slices"
	"strings"
)

// Imports checks the import direction between this module's packages and that
// every third-party module is imported by its owner alone.
func Imports(t *Tree) []string {
	var problems []string
	for i := range t.Files {
		f := &t.Files[i]
		for _, spec := range f.AST.Imports {
			p := importPath(spec)
			if why := importFault(f, p); why != "" {
				problems = append(problems, f.at(spec.Pos(), "%s", why))
			}
		}
		if _, ok := layerOf(f.Dir); !ok {
			problems = append(problems, f.at(f.AST.Package, "directory %s has no layer: decide its place in the policy", f.Dir))
		}
	}
	return problems
}

// importFault says what is wrong with an import, or "".
func importFault(f *File, p string) string {
	switch {
	case p == modulePath || strings.HasPrefix(p, modulePath+"/"):
		return innerFault(f, strings.TrimPrefix(strings.TrimPrefix(p, modulePath), "/"))
	case isStandard(p):
		return ""
	default:
		return outerFault(f, p)
	}
}

// isStandard reports whether an import path belongs to the standard library:
// its first element has no dot.
func isStandard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

// innerFault judges an import within the module; dir is the imported directory.
func innerFault(f *File, dir string) string {
	forTests := f.Test || belowAny(f.Dir, support)
	if belowAny(dir, support) {
		if forTests {
			return ""
		}
		return dir + " is for tests"
	}
	if dir == f.Dir {
		return "" // an external test imports the package it tests
	}
	l, ok := layerOf(f.Dir)
	if !ok {
		return "" // reported once for the file
	}
	if !l.alone && below(dir, l.dir) {
		return ""
	}
	for _, may := range l.may {
		if prefix, wide := strings.CutSuffix(may, "/..."); dir == may || wide && below(dir, prefix) {
			return ""
		}
	}
	return l.dir + " may not import " + dir
}

// outerFault judges an import of a third-party module.
func outerFault(f *File, p string) string {
	for _, o := range owners {
		if !below(p, o.module) {
			continue
		}
		if belowAny(f.Dir, o.dirs) {
			return ""
		}
		if o.tests && (f.Test || belowAny(f.Dir, support)) {
			return ""
		}
		if len(o.dirs) == 0 {
			return o.module + " is for tests"
		}
		return o.module + " belongs to " + strings.Join(o.dirs, ", ")
	}
	return p + " has no owner: decide its place in the policy"
}

// layerOf returns the layer with the longest directory that holds dir.
func layerOf(dir string) (layer, bool) {
	best := slices.IndexFunc(layers, func(l layer) bool { return l.dir == dir })
	if best >= 0 {
		return layers[best], true
	}
	for i, l := range layers {
		if l.alone || !below(dir, l.dir) {
			continue
		}
		// internal is no layer of its own: only known test support stands there.
		if l.dir == "internal" && !belowAny(dir, support) {
			continue
		}
		if best < 0 || len(l.dir) > len(layers[best].dir) {
			best = i
		}
	}
	if best < 0 {
		return layer{}, false
	}
	return layers[best], true
}
