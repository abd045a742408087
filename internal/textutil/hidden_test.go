package textutil_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// hidden are characters that have hidden something from somebody: controls, white
// space, marks of the reading order, joiners, fillers, selectors, tags, the
// unassigned and the private.
var hidden = []rune{
	0, '\a', '\x1b', 0x7f, 0x80, 0x85, 0x9b, 0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x2000, 0x200b, 0x200d, 0x200e, 0x202e, 0x2028,
	0x2060, 0x2064, 0x2066, 0x2069, 0x206f, 0x2800, 0x3000, 0x3164, 0xe000, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0xfff9, 0xffff, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0100, 0xe01ef, 0xf0000, 0x10ffff,
}

func TestHidden(t *testing.T) {
	for _, r := range hidden {
		if !textutil.Hidden(r) {
			t.Errorf("%U is shown", r)
		}
	}
	for _, r := range " ~aé漢字🙂ع\u0301—\ufffd" {
		if textutil.Hidden(r) {
			t.Errorf("%U %c is hidden", r, r)
		}
	}
	for r := range rune(unicode.MaxRune) {
		if unicode.In(r, unicode.C, unicode.Z, unicode.Bidi_Control) && r != ' ' && !textutil.Hidden(r) {
			t.Fatalf("%U is shown", r)
		}
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct{ text, line, lines string }{
		{"", "", ""},
		{"plain", "plain", "plain"},
		{"a\tb\r\nc", "a b  c", "a\tb \nc"},
		{"\x1b[2J\u009b31m", "<U+001B>[2J<U+009B>31m", "<U+001B>[2J<U+009B>31m"},
		{"x\u202ey\U000e0041", "x<U+202E>y<U+E0041>", "x<U+202E>y<U+E0041>"},
		{"\u00a0\u3000", "  ", "  "},
		{"a\xffb", "a\ufffdb", "a\ufffdb"},
		{"⚠\ufe0f 👩\u200d💻", "⚠<U+FE0F> 👩<U+200D>💻", "⚠<U+FE0F> 👩<U+200D>💻"},
	} {
		if got := textutil.Line(c.text); got != c.line {
			t.Errorf("Line(%q) = %q, want %q", c.text, got, c.line)
		}
		if got := textutil.Lines(c.text); got != c.lines {
			t.Errorf("Lines(%q) = %q, want %q", c.text, got, c.lines)
		}
	}
}

// TestJSONKeepsTheValue: escaped JSON has no hidden character, decodes to the same,
// and is the same in whatever pieces it is written.
func TestJSONKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.String(), rapid.Map(rapid.SampledFrom(hidden), func(r rune) string { return string(r) }))
		value := rapid.Map(rapid.SliceOf(part), func(all []string) string { return strings.Join(all, "") }).Draw(t, "value")
		text, err := json.Marshal(map[string]string{value: value}, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			t.Fatal(err)
		}
		safe := textutil.JSON(text)
		for _, r := range string(safe) {
			if textutil.Hidden(r) {
				t.Fatalf("%U in %q", r, safe)
			}
		}
		var back map[string]string
		if err := json.Unmarshal(safe, &back); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(value, "\ufffd"); back[want] != want {
			t.Fatalf("%q became %q", want, back)
		}
		var written bytes.Buffer
		w := textutil.JSONWriter(&written)
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if written.String() != string(safe) {
			t.Fatalf("written in pieces it is %q, not %q", written.String(), safe)
		}
	})
}
