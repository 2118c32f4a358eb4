package ledger

import (
	"encoding/base64"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// timeForm is how timestamps are written: UTC, milliseconds, Z.
const timeForm = "2006-01-02T15:04:05.000Z"

// FormatTime is the written form of a moment.
func FormatTime(t time.Time) string { return t.UTC().Format(timeForm) }

// checkTime accepts RFC 3339 with seconds, a fraction of any length, Z or an
// offset, and only dates of the calendar.
func checkTime(field, s string) *Error {
	if s == "" {
		return invalid(field, "is missing")
	}
	// time.Parse alone also takes an hour of one digit, a comma, and offsets of
	// a day or with 60 minutes.
	ok := len(s) >= 20 && len(s) <= 64 && s[10] == 'T' && s[13] == ':' && !strings.Contains(s, ",")
	if ok && s[len(s)-1] != 'Z' {
		hour, minute, found := strings.Cut(s[len(s)-5:], ":")
		ok = found && hour <= "23" && minute <= "59"
	}
	if ok {
		_, err := time.Parse(time.RFC3339, s)
		ok = err == nil
	}
	if !ok {
		return invalid(field, "is not an RFC 3339 time with seconds and zone")
	}
	return nil
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

func checkDigest(field, s string) *Error {
	if !isHex(s, 64) {
		return invalid(field, "is not a SHA-256 in lower-case hex")
	}
	return nil
}

// checkUUID accepts 8-4-4-4-12 hex of any case, version 1 to 8 and the standard
// variant, and the nil and the all-f UUID.
func checkUUID(field, s string) *Error {
	l := strings.ToLower(s)
	ok := len(l) == 36
	for i := 0; ok && i < 36; i++ {
		switch i {
		case 8, 13, 18, 23:
			ok = l[i] == '-'
		default:
			ok = strings.IndexByte("0123456789abcdef", l[i]) >= 0
		}
	}
	if ok && strings.Trim(l, "0-") != "" && strings.Trim(l, "f-") != "" {
		ok = l[14] >= '1' && l[14] <= '8' && strings.IndexByte("89ab", l[19]) >= 0
	}
	if !ok {
		return invalid(field, "is not a UUID")
	}
	return nil
}

// checkID is the rule for ids: a letter or digit, then up to 79 of letters,
// digits, dot, underscore, hyphen.
func checkID(field, s string) *Error {
	ok := len(s) >= 1 && len(s) <= 80
	for i := 0; ok && i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		ok = alnum || i > 0 && (c == '.' || c == '_' || c == '-')
	}
	if !ok {
		return invalid(field, "is not an id: 1 to 80 of letters, digits, dot, underscore, hyphen, beginning with a letter or digit")
	}
	return nil
}

func checkOneOf(field, s string, allowed ...string) *Error {
	if slices.Contains(allowed, s) {
		return nil
	}
	return invalid(field, "must be one of %s", strings.Join(allowed, ", "))
}

// checkBranch: up to 1,024 characters, or null.
func checkBranch(field string, b *string) *Error {
	if b == nil {
		return nil
	}
	if utf8.RuneCountInString(*b) > 1024 {
		return invalid(field, "has more than 1024 characters")
	}
	return checkVisible(field, *b)
}

// checkHead: 40 to 64 lower-case hex, or null.
func checkHead(field string, h *string) *Error {
	if h == nil {
		return nil
	}
	if n := len(*h); n < 40 || n > 64 || !isHex(*h, n) {
		return invalid(field, "is not a commit id of 40 to 64 lower-case hex digits")
	}
	return nil
}

// checkRelPath is the rule for input paths: relative, slash-separated, no
// element that leads out, hides, or names a device.
func checkRelPath(field, p string) *Error {
	if p == "" || utf8.RuneCountInString(p) > 300 {
		return invalid(field, "has a path of 0 or more than 300 characters")
	}
	if e := checkVisible(field, p); e != nil {
		return e
	}
	for el := range strings.SplitSeq(p, "/") {
		l := strings.ToLower(el)
		base, _, _ := strings.Cut(l, ".")
		bad := el == "" || el == "." || el == ".." || l == ".git" || strings.HasSuffix(el, ".") || strings.HasSuffix(el, " ") ||
			strings.ContainsAny(el, "\\:\n\t\r")
		switch base {
		case "con", "prn", "aux", "nul":
			bad = true
		}
		if len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] >= '1' && base[3] <= '9' {
			bad = true
		}
		if bad {
			return invalid(field, "has a path that is not relative and portable")
		}
	}
	return nil
}

func checkBase64(field, s string, bytes int) *Error {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(b) != bytes {
		return invalid(field, "is not base64 of %d bytes", bytes)
	}
	return nil
}

// first is the first error of a list.
func first(errs ...*Error) *Error {
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	return nil
}
