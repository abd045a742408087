package textutil_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func TestYAMLSyntax(t *testing.T) {
	for text, want := range map[string]struct {
		line    int
		problem string
	}{
		"":                                  {},
		"a: 1\n---\nb: 2\n":                 {},
		"a: 1\nb: 'it's'\nc: 2\nd: 3\n":     {2, "did not find expected key"},
		"# x\n# x\na: 1\nb:\n  c: 1\n d: 2": {6, "did not find expected key"},
		"a: @b\n":                           {1, "a value does not begin with this character, unless it is in quotes"},
		"a: [b,\n@c]\nd: 1\n":               {2, "a value does not begin with this character, unless it is in quotes"},
		"a: 1\nb: *c":                       {2, "unknown anchor 'c' referenced"},
		"a: 1\nb:\n  \tc: 1\n":              {3, "found a tab, which must not indent a line; use spaces"},
		"a:\n- b: 1\n  c: [\n- d: 1\n- e\n": {3, "did not find expected node content"},
		"a: 1\nb: \"c\nd: 1\n":              {2, "found unexpected end of stream"},
		"a: 1\n---\nb: [\n":                 {3, "did not find expected node content"},
		"a: 1\nb: \xff\nc: 1\n":             {2, "invalid leading UTF-8 octet"},
	} {
		if line, problem := textutil.YAMLSyntax([]byte(text)); line != want.line || problem != want.problem {
			t.Errorf("%q: line %d: %s", text, line, problem)
		}
	}
}
