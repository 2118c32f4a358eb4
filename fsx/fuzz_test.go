package fsx

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzCheckName(f *testing.F) {
	for _, s := range []string{"", ".", "..", "a", "a.", "a ", "a/b", `a\b`, "a:b", "nul", "NUL .txt", "com¹", "COM0", "conin$", "a\x00", "\xff", "ä", strings.Repeat("a", 256), "aux.", "...", ".lf-a~b~c.tmp"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		err := CheckName(name)
		if err != nil {
			if !errors.Is(err, ErrBadName) {
				t.Errorf("%q: %v", name, err)
			}
			// An error is printed: it must not carry the name's control characters.
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < 0x20 || r == 0x7f }) || !utf8.ValidString(err.Error()) {
				t.Errorf("%q: the error is unprintable", name)
			}
			return
		}
		if !filepath.IsLocal(name) || filepath.Base(name) != name || filepath.Clean(name) != name || len(name) > 255 {
			t.Errorf("%q passes and is no plain element", name)
		}
		if checkRel(name) != nil || checkRel("a/"+name) != nil || checkRel(name+"/..") == nil {
			t.Errorf("%q: paths are judged otherwise than their elements", name)
		}
		if target, _, ok := ParseTempName(tempName(name)); !ok || !strings.HasPrefix(name, target) || len(target) < min(len(name), 77) {
			t.Errorf("%q: its staged file would be for %q, %v", name, target, ok)
		}
		if err := CheckName(tempName(name)); err != nil {
			t.Errorf("%q: its staged file: %v", name, err)
		}
	})
}

func FuzzParseTempName(f *testing.F) {
	for _, s := range []string{"", tempName("f"), tempName("a~b"), ".lf-f~1~0.tmp", ".lf-~~.tmp", ".lf-f~~~.tmp", ".lf-f.tmp", "f.tmp", ".lf-f~x-1~\xff.tmp"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		target, owner, ok := ParseTempName(name)
		if !ok {
			return
		}
		// What a sweep may remove is ours by prefix, suffix and an owner that can be judged.
		if target == "" || owner.PID <= 0 || !strings.HasPrefix(name, tempPrefix+target+tempSep) || !strings.HasSuffix(name, tempSuffix) {
			t.Errorf("%q is taken for a staged file of %q by %+v", name, target, owner)
		}
	})
}
