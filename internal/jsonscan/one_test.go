package jsonscan_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/jsonscan"
)

func TestOne(t *testing.T) {
	for name, c := range map[string]struct{ text, want, err string }{
		"alone":                 {`{"a": 1}`, `{"a": 1}`, ""},
		"by the other key":      {`x {"b": 1} y`, `{"b": 1}`, ""},
		"twice":                 {"```json\n{\"a\": 1}\n```\n{\"a\": 1}", `{"a": 1}`, ""},
		"among others":          {`{"c": {"a": 2}} {"a": 1}`, `{"a": 1}`, ""},
		"after a cut one":       {`{"c" oops. {"a": 1}`, `{"a": 1}`, ""},
		"none":                  {"nothing", "", "no object with the member a or b"},
		"inside another":        {`{"c": {"a": 1}}`, "", "no object with the member a or b"},
		"one that is cut short": {`{"a": 1} {"b": `, "", "cut short"},
		"several":               {`{"a": 1} {"a": 2}`, "", "differ"},
		"several keys":          {`{"a": 1} {"b": 1}`, "", "differ"},
		"too long":              {`{"a": 1}` + strings.Repeat(" ", jsonscan.MaxBytes), "", "more than"},
	} {
		got, err := jsonscan.One(c.text, "a", "b")
		if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}
