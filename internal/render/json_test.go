package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestIndenter(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `"a\\"`, `1`, `[[],{}]`, `{"a":[1,-2e3,null,"]\",{\\"],"b\"":{"c":{}, "d":[]},"\\":[[[1]]]}`, `[{"a":{"b":[true,[false]]}}]`,
	} {
		compact, want := jsontext.Value(text), jsontext.Value(text)
		if err := compact.Compact(); err != nil {
			t.Fatal(err)
		}
		if err := want.Indent(jsontext.WithIndent("  ")); err != nil {
			t.Fatal(err)
		}
		for _, piece := range []int{1, 3, 1000} {
			var got bytes.Buffer
			in := &indenter{w: &got}
			for rest := []byte(compact); len(rest) > 0; rest = rest[min(piece, len(rest)):] {
				if n, err := in.Write(rest[:min(piece, len(rest))]); err != nil || n != min(piece, len(rest)) {
					t.Fatal(n, err)
				}
			}
			if got.String() != string(want) {
				t.Errorf("%s in pieces of %d: got\n%s\nwant\n%s", text, piece, got.String(), want)
			}
		}
	}
}

// TestDeepJSONStaysSmall prints a hostile report: many nested brackets with many values
// inside.
func TestDeepJSONStaysSmall(t *testing.T) {
	text := strings.Repeat("[", 120) + "1" + strings.Repeat(",1", 1<<20) + strings.Repeat("]", 120)
	var got bytes.Buffer
	if err := JSON(&got, map[string]any{"raw": jsontext.Value(text)}); err != nil {
		t.Fatal(err)
	}
	if got.Len() > len(text)+1000 {
		t.Errorf("%d bytes have become %d", len(text), got.Len())
	}
	if !jsontext.Value(got.Bytes()).IsValid() {
		t.Error("it is not valid")
	}
}
