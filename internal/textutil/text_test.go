package textutil_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text   string
		points int
		want   string
	}{
		{"", 0, ""},
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"äöüß", 3, "äöü…"},
		{"äöü", 3, "äöü"},
		{"a\xff\xffb", 2, "a\xff…"},
		{"a", 0, "…"},
	} {
		if got := textutil.Clip(c.text, c.points); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.points, got, c.want)
		}
	}
}

func TestList(t *testing.T) {
	words := []string{"a", "b", "c"}
	for most, want := range map[int]string{1: "a and 2 more", 2: "a, b and 1 more", 3: "a, b, c", 4: "a, b, c"} {
		if got := textutil.List(words, most); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
	if got := textutil.List(nil, 1); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"", 0, ""}, {"abc", 3, "abc"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"}, {"abc", 1, "…"}, {"abc", 0, "…"}} {
		if got := textutil.Fit(c.text, c.n); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestClipBytes(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aäö", 3, "aä"}, {"aäö", 2, "a"}, {"ä", 1, ""}} {
		if got := textutil.ClipBytes(c.text, c.n); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for got, want := range map[string]string{
		textutil.Count(0, "finding"):                 "0 findings",
		textutil.Count(1, "finding"):                 "1 finding",
		textutil.Count(int64(2), "finding"):          "2 findings",
		textutil.Count(1, "entry", "entries"):        "1 entry",
		textutil.Count(int64(3), "entry", "entries"): "3 entries",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	names := []string{"route", "round", "resume"}
	for word, want := range map[string]string{
		"ruote":  "; did you mean route?",
		"ROUND":  "; did you mean round?",
		"resmue": "; did you mean resume?",
		"spawn":  "",
		"":       "",
	} {
		if got := textutil.DidYouMean(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestPastCap(t *testing.T) {
	for got, want := range map[string]string{
		textutil.PastCap(3, 3, 6): "",
		textutil.PastCap(4, 3, 6): "past the cap of 3, at most 6",
		textutil.PastCap(4, 3, 0): "past the cap of 3",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestMarkdownCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "plain": "`plain`", "*a* <b>": "`*a* <b>`", "a`b": "`` a`b ``", "``": "``` `` ```", "a|b": "`a`&#124;`b`", "|": "&#124;",
		"a\nb\u202e": "`a b<U+202E>`", "123456789 123": "`123456789 12…`",
	} {
		if got := textutil.MarkdownCode(text, 12); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
