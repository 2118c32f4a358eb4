package archtest

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	linkPattern   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codePattern   = regexp.MustCompile("`([^`]+)`")
	pathPattern   = regexp.MustCompile(`^(\./)?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+/?$`)
	memberPattern = regexp.MustCompile(`\.[A-Z]\w*(\.\w+)*$`)
	linePattern   = regexp.MustCompile(`\.go:\d+`)
)

// sourceExts are the endings that make a path in a text a path of this tree.
var sourceExts = []string{".go", ".md", ".mod", ".txtar", ".yml"}

// MarkdownPaths checks that the paths which Markdown files mention exist: the
// targets of relative links, and names in backquotes that look like a path of
// this tree. Line numbers of sources, which age at the next commit, are refused.
func MarkdownPaths(t *Tree) []string {
	var problems []string
	for _, doc := range t.Docs {
		text, err := fs.ReadFile(t.FS, doc)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		fenced := false
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
				continue
			}
			if fenced {
				continue
			}
			for _, why := range lineFaults(t, doc, line) {
				problems = append(problems, fmt.Sprintf("%s:%d: %s", doc, n, why))
			}
		}
	}
	return problems
}

// lineFaults judges one line of running text.
func lineFaults(t *Tree, doc, line string) []string {
	var faults []string
	if m := linePattern.FindString(line); m != "" {
		faults = append(faults, "a line number of a source: "+m)
	}
	for _, m := range linkPattern.FindAllStringSubmatch(line, -1) {
		target, _, _ := strings.Cut(m[1], "#")
		if target == "" || strings.Contains(target, ":") {
			continue // an anchor, or a URL
		}
		if !exists(t.FS, path.Join(path.Dir(doc), target)) {
			faults = append(faults, "a link to nothing: "+target)
		}
	}
	for _, m := range codePattern.FindAllStringSubmatch(line, -1) {
		if p, ok := treePath(t.FS, m[1]); ok && !exists(t.FS, p) && !exists(t.FS, path.Join(path.Dir(doc), p)) {
			faults = append(faults, "no such path: "+p)
		}
	}
	return faults
}

// treePath returns the path that a text in backquotes means, if it means one of
// this tree: it ends like a source, or starts with a directory that exists.
func treePath(fsys fs.FS, text string) (string, bool) {
	text = strings.TrimSuffix(text, "/...")
	if !pathPattern.MatchString(text) {
		return "", false
	}
	p := path.Clean(text)
	if slices.Contains(sourceExts, path.Ext(p)) {
		return p, true
	}
	first, _, _ := strings.Cut(p, "/")
	if slices.Contains(skipped, first) || !exists(fsys, first) {
		return "", false
	}
	return memberPattern.ReplaceAllString(p, ""), true
}

func exists(fsys fs.FS, p string) bool {
	_, err := fs.Stat(fsys, p)
	return err == nil
}
