package ledger

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace is what is trimmed around a text: Unicode white space and the byte
// order mark.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' || unicode.Is(unicode.Z, r) }

func trim(s string) string { return strings.TrimFunc(s, isSpace) }

// hiddenRune finds a character that a reader would not see, or that changes how
// others are read: controls (but tab, LF, CR), line and paragraph separators,
// direction marks, zero-width and tag characters. What stays is what scripts
// need: joiners between letters of the scripts that use them, joiners between
// emoji, one variation selector after a character that has variants.
func hiddenRune(s string) (what string, found bool) {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= 0x20 && s[i] < 0x7f || s[i] == '\n' || s[i] == '\t' || s[i] == '\r'
	}
	if plain {
		return "", false
	}
	prev, before := rune(0), rune(0) // before: the character just before, selectors and skin tones included
	for i, r := range s {
		if unicode.Is(unicode.Variation_Selector, r) && !selects(before, r) {
			return "a stray variation selector", true
		}
		before = r
		if what := hidden(r); what != "" {
			next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
			if !isJoiner(r) || !joins(prev, next, r) {
				return what, true
			}
		}
		if !unicode.Is(unicode.Variation_Selector, r) && !(r >= 0x1F3FB && r <= 0x1F3FF) {
			prev = r
		}
	}
	return "", false
}

func hidden(r rune) string {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return ""
	case r < 0x20, r == 0x7f, r >= 0x80 && r <= 0x9f:
		return "a control character"
	case r == '\u2028', r == '\u2029':
		return "a line separator"
	case r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069', r == '\u200E', r == '\u200F', r == '\u061C':
		return "a direction character"
	case r >= 0xE0000 && r <= 0xE007F:
		return "a tag character"
	case r >= '\u200B' && r <= '\u200D', r >= '\u2060' && r <= '\u2064', r == '\uFEFF', r == '\u00AD', r == '\u180E',
		r == '\u034F', r == '\u17B4', r == '\u17B5', r == '\u115F', r == '\u1160', r == '\u3164', r == '\uFFA0', r >= '\u206A' && r <= '\u206F', r >= '\uFFF9' && r <= '\uFFFB':
		return "an invisible character"
	case r&0xFFFE == 0xFFFE, r >= 0xFDD0 && r <= 0xFDEF:
		return "a noncharacter"
	}
	return ""
}

// selects reports whether a variation selector after this character is part of
// how it is written. Anywhere else, and in runs above all, selectors are bytes
// that nobody sees: a whole sentence fits behind one letter.
func selects(before, selector rune) bool {
	switch {
	case selector >= 0xE0100:
		return unicode.Is(unicode.Han, before)
	case selector >= 0x180B && selector <= 0x180F:
		return unicode.Is(unicode.Mongolian, before) && !unicode.Is(unicode.Variation_Selector, before)
	case before < 0x80: // keycaps
		return selector >= 0xFE0E && strings.ContainsRune("#*0123456789", before)
	}
	return !isSpace(before) && !unicode.Is(unicode.Variation_Selector, before) && hidden(before) == ""
}

func isJoiner(r rune) bool { return r == '\u200C' || r == '\u200D' }

// joins reports whether a joiner between these two is part of how they are
// written.
func joins(prev, next, joiner rune) bool {
	if joiner == '\u200D' && isEmoji(prev) && isEmoji(next) {
		return true
	}
	return joinScript(prev) && (joinScript(next) || next == utf8.RuneError || isSpace(next))
}

func isEmoji(r rune) bool { return unicode.Is(unicode.So, r) || r == '\u2640' || r == '\u2642' }

func joinScript(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
		unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// checkText is the rule for texts: 1 to 2,000 code points once trimmed. What
// surrounds a stored text is shown too, so it must be as visible as the rest.
func checkText(field, s string) *Error {
	inner := trim(s)
	if inner == "" {
		return invalid(field, "is empty")
	}
	if n := utf8.RuneCountInString(inner); n > maxTextRunes {
		return invalid(field, "has %d characters, the limit is %d", n, maxTextRunes)
	}
	return checkVisible(field, s)
}

func checkVisible(field, s string) *Error {
	if what, found := hiddenRune(s); found {
		return invalid(field, "holds %s", what)
	}
	return nil
}
