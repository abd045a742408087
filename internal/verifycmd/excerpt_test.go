package verifycmd_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/verifycmd"
)

func excerpt(t testing.TB, text string) string {
	t.Helper()
	got, err := verifycmd.Excerpt(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestExcerpt(t *testing.T) {
	a, b := strings.Repeat("a", 800), strings.Repeat("b", 1200)
	euros := strings.Repeat("€", 1000) // three bytes each
	for name, c := range map[string]struct{ text, want string }{
		"empty":               {"", ""},
		"short":               {"FAIL\x1b[0m\n", "FAIL\x1b[0m\n"},
		"the most":            {a + b, a + b},
		"one more":            {a + "x" + b, a + "\n[truncated: 1 of 2001 bytes are left out here]\n" + b},
		"the round figures":   {a + strings.Repeat("x", 3000) + b, a + "\n[truncated: 3000 of 5000 bytes are left out here]\n" + b},
		"a line ends there":   {a[1:] + "\nx" + b, a[1:] + "\n[truncated: 1 of 2001 bytes are left out here]\n" + b},
		"characters are kept": {euros, euros[:3*266] + "\n[truncated: 1002 of 3000 bytes are left out here]\n" + euros[:1200]},
		"in both cuts": {
			a[2:] + "€" + strings.Repeat("x", 1000) + "€" + b[1:],
			a[2:] + "\n[truncated: 1006 of 3003 bytes are left out here]\n" + b[1:],
		},
		"not UTF-8":           {"a\xffb\xc3", "a\uFFFDb\uFFFD"},
		"not UTF-8 at a cut":  {a[1:] + "\xffx\x80" + b[1:], a[1:] + "\uFFFD\n[truncated: 1 of 2001 bytes are left out here]\n\uFFFD" + b[1:]},
		"half a character is": {a[1:] + "\xe2(" + "x\xac" + b[1:], a[1:] + "\n[truncated: 3 of 2002 bytes are left out here]\n\uFFFD" + b[1:]},
	} {
		t.Run(name, func(t *testing.T) {
			if got := excerpt(t, c.text); got != c.want {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestExcerptHasNoSecrets checks whole secrets and secrets that a cut splits.
func TestExcerptHasNoSecrets(t *testing.T) {
	const key = "sk-ant-api03-0123456789abcdefghijABCDEFGHIJ"
	pad := func(n int) string { return strings.Repeat("word ", n/5+1)[:n] }
	for name, text := range map[string]string{
		"short":               "the key is " + key + "\n",
		"in the head":         pad(100) + " " + key + " " + pad(5000),
		"across the head's":   pad(790) + " " + key + " " + pad(5000),
		"in the tail":         pad(5000) + " " + key + " " + pad(100),
		"across the tail's":   pad(5000) + " " + key + " " + pad(1180),
		"in what is left out": pad(2000) + " " + key + " " + pad(3000),
	} {
		t.Run(name, func(t *testing.T) {
			got := excerpt(t, text)
			for n := 8; n <= len(key); n++ { // No usable part of it.
				if strings.Contains(got, key[len(key)-n:]) || n > 13 && strings.Contains(got, key[:n]) {
					t.Fatalf("%q shows %d bytes of it", got, n)
				}
			}
			if len(text) > 2000 && !strings.Contains(got, fmt.Sprintf(" of %d bytes are left out here]", len(text))) {
				t.Errorf("%q does not say that it is cut", got)
			}
		})
	}
}

// TestExcerptIsCutOnALineOfItsOwn has a head that ends with a line, but not when it is
// redacted: then its end is elsewhere.
func TestExcerptIsCutOnALineOfItsOwn(t *testing.T) {
	const key = "sk-ant-api03-0123456789abcdefghijABCDEFGHIJ"
	text := key + " " + strings.Repeat("a", 798-len(key)) + "\n" + strings.Repeat("word ", 1000)
	if got := excerpt(t, text); strings.Count(got, "\n[truncated: ") != 1 {
		t.Errorf("got %q", got)
	}
}

func TestExcerptOfLessThanItsSize(t *testing.T) {
	for _, size := range []int64{1, 2000, 2001, 1 << 40} {
		if got, err := verifycmd.Excerpt(strings.NewReader(""), size); err != io.ErrUnexpectedEOF || got != "" {
			t.Errorf("%d bytes: %q, %v", size, got, err)
		}
	}
	if got, err := verifycmd.Excerpt(strings.NewReader("a"), -1); err != nil || got != "" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestExcerptKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "\n", "ä", "€", "𝄞", "\xff", "\xe2\x82", "\x80", "\x1b", strings.Repeat("line\n", 50)})
		text := strings.Join(rapid.SliceOfN(part, 0, 3000).Draw(t, "parts"), "")
		got, err := verifycmd.Excerpt(strings.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(got) {
			t.Fatal("not UTF-8")
		}
		if len(text) <= 2000 {
			if got != strings.ToValidUTF8(text, "\uFFFD") {
				t.Fatalf("a short text became %q", got)
			}
			return
		}
		head, rest, _ := strings.Cut(got, "[truncated: ")
		line, tail, found := strings.Cut(rest, "\n")
		var left, size int
		if n, err := fmt.Sscanf(line, "%d of %d bytes are left out here]", &left, &size); n != 2 || !found {
			t.Fatalf("no line says what is left out: %q, %v", line, err)
		}
		if size != len(text) || left < size-2000 || left > size-2000+6 {
			t.Fatalf("%d of %d bytes are left out of %d", left, size, len(text))
		}
		// If the text is UTF-8, both parts match it exactly.
		if utf8.ValidString(text) {
			cut := strings.TrimSuffix(head, "\n")
			if !strings.HasPrefix(text, cut) || !strings.HasSuffix(text, tail) || strings.ContainsRune(got, utf8.RuneError) {
				t.Fatalf("the text was changed: %q", got)
			}
			if stored := size - left - len(tail); stored != len(cut) && stored != len(head) {
				t.Fatalf("%d bytes of the head are counted and %d are there", stored, len(head))
			}
		}
	})
}
