package errs_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
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
		if got := errs.Clip(c.text, c.points); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.points, got, c.want)
		}
	}
}

func TestSome(t *testing.T) {
	words := []string{"a", "b", "c"}
	for most, want := range map[int]string{1: "a and 2 more", 2: "a, b and 1 more", 3: "a, b, c", 4: "a, b, c"} {
		if got := errs.Some(words, most); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
	if got := errs.Some(nil, 1); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
