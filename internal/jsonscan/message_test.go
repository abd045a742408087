package jsonscan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/jsonscan"
)

// show is what was found, a broken object with a mark.
func show(text string) []string {
	var all []string
	for _, o := range jsonscan.Objects(text) {
		mark := ""
		if !o.Whole {
			mark = "broken "
		}
		all = append(all, mark+string(o.Text))
	}
	return all
}

func TestObjects(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                     {"", nil},
		"prose":                       {"All is well.", nil},
		"bare":                        {`{"a": 1}`, []string{`{"a": 1}`}},
		"with space around":           {"\n {\"a\": 1}\n", []string{`{"a": 1}`}},
		"in a fence":                  {"```json\n{\"a\": 1}\n```", []string{`{"a": 1}`}},
		"in a fence on one line":      {"```json{\"a\": 1}```", []string{`{"a": 1}`}},
		"amid prose":                  {`Done: {"a": 1}. That is all.`, []string{`{"a": 1}`}},
		"two":                         {`{"a": 1} and {"b": 2}`, []string{`{"a": 1}`, `{"b": 2}`}},
		"two without a space":         {`{"a": 1}{"b": 2}`, []string{`{"a": 1}`, `{"b": 2}`}},
		"one inside another":          {`{"a": {"b": 2}}`, []string{`{"a": {"b": 2}}`}},
		"braces in a string":          {`{"a": "}{\"b\": 2}"}`, []string{`{"a": "}{\"b\": 2}"}`}},
		"braces of prose":             {`use {name} and {{x}}, then {"a": 1}`, []string{`{"a": 1}`}},
		"empty":                       {`{}`, []string{`{}`}},
		"a key twice":                 {`{"a": 1, "a": 2}`, []string{`{"a": 1, "a": 2}`}},
		"no UTF-8":                    {"{\"a\": \"\xff\"}", []string{"{\"a\": \"\xff\"}"}},
		"cut short":                   {`{"a": {"b": 2}, "c`, []string{`broken {"a": {"b": 2}, "c`}},
		"what is inside a broken one": {`{"a": {"b": 2} oops`, []string{`broken {"a": {"b": 2} oops`}},
		"after a broken one":          {`{"a", "b"} {"c": 3}`, []string{`broken {"a", "b"} `, `{"c": 3}`}},
		"behind a stray quote":        {`{ " {"a": 1}, {"b": 2}`, []string{`broken { " {"a": 1}, `, `{"b": 2}`}},
		"a brace too many":            {`{"a": 1}}`, []string{`broken {"a": 1}`}},
		"a brace too many, later":     {"{\"a\": 1}\n}", []string{`broken {"a": 1}`}},
		"in a list":                   {`[{"a": 1}]`, []string{`broken {"a": 1}`}},
		"with a letter behind":        {`{"a": 1}x`, []string{`broken {"a": 1}`}},
		"with a digit behind":         {`{"a": 1}7`, []string{`broken {"a": 1}`}},
		"with a quote behind":         {`{"a": 1}"`, []string{`broken {"a": 1}`}},
		"with a foreign letter":       {`{"a": 1}é`, []string{`broken {"a": 1}`}},
		"too long":                    {`{"a": 1}` + strings.Repeat(" ", jsonscan.MaxBytes), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := show(c.text); !slices.Equal(got, c.want) {
				t.Errorf("%q\nwant %q", got, c.want)
			}
		})
	}
}

// TestObjectsInProse: whatever surrounds an object, as long as it has no braces, it
// is found as it stands.
func TestObjectsInProse(t *testing.T) {
	prose := rapid.StringMatching("([^{}\\[\\]]{0,40} )?")
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		var text strings.Builder
		text.WriteString(prose.Draw(t, "before"))
		for range rapid.IntRange(0, 4).Draw(t, "objects") {
			object := fmt.Sprintf(`{"n": %d, "s": %q}`, rapid.Int32().Draw(t, "n"), rapid.StringMatching("[{}a-z \\[\\]]{0,9}").Draw(t, "s"))
			want = append(want, object)
			text.WriteString(object + " " + prose.Draw(t, "after"))
		}
		if got := show(text.String()); !slices.Equal(got, want) {
			t.Fatalf("in %q\n%q\nwant %q", text.String(), got, want)
		}
	})
}

// TestObjectsCostNoMoreThanTheirLength takes the messages that would cost most if
// something were looked at again and again.
func TestObjectsCostNoMoreThanTheirLength(t *testing.T) {
	for _, piece := range []string{"{", `{"`, `{"a":`, `{"a":{}}`, "{}", "{ ", `{"a" `, `{"a":[`} {
		jsonscan.Objects(strings.Repeat(piece, jsonscan.MaxBytes/4/len(piece)))
	}
}

// FuzzObjects: what is found is a piece of the message, in order and apart, and
// what is whole is JSON.
func FuzzObjects(f *testing.F) {
	for _, seed := range []string{`{"a": 1}`, "```\n{}\n```", `{"a", {"b": 2}`, `{{"a":1}}`, `[{"a":1},{"b":2}]`, "{\"a\":\"\xff\"}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest := text
		for _, o := range jsonscan.Objects(text) {
			_, after, ok := strings.Cut(rest, string(o.Text))
			if !ok || len(o.Text) == 0 || o.Text[0] != '{' {
				t.Fatalf("%q is not there, or twice", o.Text)
			}
			rest = after
			if o.Whole && !o.Text.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
				t.Fatalf("%q is not JSON", o.Text)
			}
		}
	})
}
