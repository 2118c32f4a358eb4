package fsx

import (
	"strings"
	"unicode/utf8"
)

// CheckName reports with [ErrBadName] a single path element that would not name
// the same ordinary file on Linux, macOS and Windows: empty, "." or "..", a
// separator, a colon (drives and streams), control characters, invalid UTF-8,
// a Windows device name, or an end in dot or space, which Windows drops. It
// exists because filepath.IsLocal lets "a." and "a " pass. Entries that are
// already there are listed whatever they are called; only names that this
// package is asked to open or make are checked.
func CheckName(name string) error {
	bad := name == "" || name == "." || name == ".." || len(name) > 255 || !utf8.ValidString(name) ||
		strings.ContainsAny(name, "/\\:") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ")
	for i := 0; !bad && i < len(name); i++ {
		bad = name[i] < 0x20 || name[i] == 0x7f
	}
	if bad || isDevice(name) {
		return pathError(StepOpen, quoteName(name), ErrBadName)
	}
	return nil
}

// quoteName keeps a hostile name from reaching a terminal as it is.
func quoteName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r < 0x20 || r == 0x7f || r == utf8.RuneError {
			r = '?'
		}
		b.WriteRune(r)
		if b.Len() > 80 {
			b.WriteString("…")
			break
		}
	}
	return b.String()
}

// isDevice knows the names that Windows opens as devices in any directory, with
// any extension.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToLower(strings.TrimRight(base, " "))
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	for _, p := range []string{"com", "lpt"} {
		if rest, ok := strings.CutPrefix(base, p); ok {
			switch rest {
			case "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³":
				return true
			}
		}
	}
	return false
}

// checkRel checks every element of a slash-separated path below a root.
func checkRel(rel string) error {
	if rel == "." {
		return nil
	}
	for e := range strings.SplitSeq(rel, "/") {
		if err := CheckName(e); err != nil {
			return err
		}
	}
	return nil
}
