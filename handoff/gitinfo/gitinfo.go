package gitinfo

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// State says how far branch and head could be told.
type State string

// The states.
const (
	OK         State = "ok"         // on a branch, which has a commit
	None       State = "none"       // no repository
	Unborn     State = "unborn"     // on a branch that has no commit yet: Branch is set, Head is nil
	Detached   State = "detached"   // on a commit and no branch: Head is set, Branch is nil
	Foreign    State = "foreign"    // as OK, Unborn or Detached, but the repository belongs to another user, so git itself would refuse it
	Unreadable State = "unreadable" // there is one and it can't be read; Reason says why
)

// Info is what a repository says of where its work tree stands.
type Info struct {
	State     State
	Branch    *string // short name, as in "main"
	Head      *string // commit id, 40 or 64 lower-case hex digits
	TopLevel  string  // root of the work tree
	GitDir    string  // of this work tree
	CommonDir string  // shared by all work trees of the repository
	Reason    string  // one line, for Foreign and Unreadable
}

const (
	maxSmallFile  = 64 << 10 // HEAD, .git files, loose refs
	maxPackedRefs = 64 << 20
	maxBranch     = 1024 // characters
	maxSymbolic   = 5    // a ref that points to a ref that points to …, as git allows
)

var (
	errFormat  = errors.New("not in a form this reader knows")
	errForeign = errors.New("the repository belongs to another user; git itself would refuse it")
)

// TopLevel is the root of the work tree that dir lies in, or "".
func TopLevel(dir string) string {
	top, _ := findTop(dir)
	return top
}

func findTop(dir string) (top string, dotGit fs.FileInfo) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", nil
	}
	for {
		info, err := os.Stat(filepath.Join(dir, ".git"))
		if err == nil && (!info.IsDir() || isGitDir(filepath.Join(dir, ".git"))) {
			return dir, info
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}

// isGitDir passes over a stray directory called .git, as git does. One that
// can't be looked into is not passed over: the repository around it would lend
// its branch to records that are not its own.
func isGitDir(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return !errors.Is(err, fs.ErrNotExist)
}

// Read tells about the repository that dir lies in.
func Read(ctx context.Context, dir string) Info {
	top, dotGit := findTop(dir)
	if top == "" {
		return Info{State: None}
	}
	i := Info{TopLevel: top}
	gitDir, err := resolveGitDir(top, dotGit)
	if err != nil {
		return i.unreadable("the .git file", err)
	}
	i.GitDir, i.CommonDir = gitDir, gitDir
	if common, err := readSmall(filepath.Join(gitDir, "commondir")); err == nil {
		i.CommonDir = against(gitDir, strings.TrimSpace(common))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return i.unreadable("commondir", err)
	}
	ref, head, err := readHead(i.GitDir)
	if err != nil {
		return i.unreadable("HEAD", err)
	}
	if ref == "refs/heads/.invalid" { // git's mark that refs are kept elsewhere (reftable)
		return i.ask(ctx)
	}
	if ref == "" {
		i.State, i.Head = Detached, &head
		return i.owned()
	}
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok || !plainBranch(branch) {
		return i.unreadable("HEAD", errFormat)
	}
	i.Branch = &branch
	head, err = resolveRef(i.CommonDir, ref)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		i.State = Unborn
	case err != nil:
		return i.unreadable("the branch's ref", err)
	default:
		i.State, i.Head = OK, &head
	}
	return i.owned()
}

// owned notes a repository of another user.
func (i Info) owned() Info {
	if foreignOwner(i.TopLevel) || foreignOwner(i.GitDir) {
		i.State = Foreign
		i.Reason = errForeign.Error()
	}
	return i
}

func (i Info) unreadable(what string, err error) Info {
	i.State, i.Branch, i.Head = Unreadable, nil, nil
	i.Reason = what + ": " + innermost(err).Error()
	return i
}

// innermost drops paths: the reason is printed beside records, and a path may
// hold anything.
func innermost(err error) error {
	for {
		u := errors.Unwrap(err)
		if u == nil {
			return err
		}
		err = u
	}
}

// resolveGitDir follows the one line of a .git file (work trees, submodules).
func resolveGitDir(top string, dotGit fs.FileInfo) (string, error) {
	path := filepath.Join(top, ".git")
	if dotGit.IsDir() {
		return path, nil
	}
	text, err := readSmall(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "gitdir: ")
	if !ok || target == "" || strings.ContainsAny(target, "\x00\n") {
		return "", errFormat
	}
	return against(top, target), nil
}

func against(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// readHead gives the ref that HEAD names, or the commit of a detached one.
func readHead(gitDir string) (ref, head string, err error) {
	path := filepath.Join(gitDir, "HEAD")
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		// The form of very old repositories: the link's text is the ref. It is
		// read as text, not followed.
		target, err := os.Readlink(path)
		target = filepath.ToSlash(target)
		if err == nil && !validRef(target) {
			err = errFormat
		}
		return target, "", err
	}
	text, err := readSmall(path)
	if err != nil {
		return "", "", err
	}
	return parseRef(text)
}

// parseRef reads the content of HEAD or a loose ref.
func parseRef(text string) (ref, id string, err error) {
	text = strings.TrimRight(text, " \t\r\n")
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		target = strings.TrimLeft(target, " \t")
		if !validRef(target) {
			return "", "", errFormat
		}
		return target, "", nil
	}
	if !isID(text) {
		return "", "", errFormat
	}
	return "", text, nil
}

func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// validRef keeps a ref name from leading out of the repository
// (git-check-ref-format(1) forbids all of this).
func validRef(ref string) bool {
	if !strings.HasPrefix(ref, "refs/") || len(ref) > 4096 || strings.ContainsAny(ref, "\x00\\:?*[~^ ") {
		return false
	}
	for e := range strings.SplitSeq(ref, "/") {
		if e == "" || e == "." || e == ".." || strings.Contains(e, "..") {
			return false
		}
	}
	return true
}

// plainBranch refuses names that could not be stored or would hide something
// when they are shown.
func plainBranch(s string) bool {
	if s == "" || !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxBranch {
		return false
	}
	prev := rune(0)
	for _, r := range s {
		if r >= 0xFE00 && r <= 0xFE0F && !selects(prev, r) {
			return false
		}
		prev = r
		if r < 0x20 || r >= 0x7f && r <= 0x9f || r >= 0x200B && r <= 0x200F || r >= 0x2028 && r <= 0x202E ||
			r >= 0x2060 && r <= 0x206F || r == 0x61C || r == 0xFEFF || r == 0xAD || r >= 0xE0000 && r <= 0xE007F ||
			r >= 0x180B && r <= 0x180F || r >= 0xE0100 && r <= 0xE01EF || r == 0x34F || r == 0x17B4 || r == 0x17B5 || r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0 || r >= 0xFFF9 && r <= 0xFFFB || r&0xFFFE == 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF {
			return false
		}
	}
	return true
}

// selects: a variation selector elsewhere, or after another, hides bytes. The
// ledger stores no more than this.
func selects(before, selector rune) bool {
	if before < 0x80 { // keycaps
		return selector >= 0xFE0E && strings.ContainsRune("#*0123456789", before)
	}
	return !unicode.IsSpace(before) && (before < 0xFE00 || before > 0xFE0F)
}

// resolveRef finds the commit of a ref: loose first, then packed, as git does.
func resolveRef(common, ref string) (string, error) {
	for range maxSymbolic {
		text, err := readSmall(filepath.Join(common, filepath.FromSlash(ref)))
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || isDirError(common, ref) {
				return packedRef(common, ref)
			}
			return "", err
		}
		next, id, err := parseRef(text)
		if err != nil || next == "" {
			return id, err
		}
		ref = next
	}
	return "", errFormat
}

// isDirError: refs/heads/a is a directory where a branch a/b exists loose and a
// is packed, or was just deleted.
func isDirError(common, ref string) bool {
	info, err := os.Stat(filepath.Join(common, filepath.FromSlash(ref)))
	return err == nil && info.IsDir()
}

// packedRef looks the ref up in packed-refs; fs.ErrNotExist where it is not.
func packedRef(common, ref string) (string, error) {
	path := filepath.Join(common, "packed-refs")
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // opening a FIFO would wait for a writer
		return "", errFormat
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return findPacked(f, maxPackedRefs, ref)
}

// readSmall reads a regular file of bounded size. It never waits on a FIFO.
func readSmall(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errFormat
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSmallFile+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxSmallFile {
		return "", errFormat
	}
	return string(b), nil
}
