package render_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/render"
)

func TestRaw(t *testing.T) {
	const text = "{\"a\":\"é\u202e\"}\r\n\t\x1b[31mred\x7f\x00\n"
	var b strings.Builder
	if _, err := io.Copy(render.Raw(&b), iotest.OneByteReader(strings.NewReader(text))); err != nil {
		t.Fatal(err)
	}
	if want := "{\"a\":\"é\\u202e\"} \n\t\\u001b[31mred\\u007f\\u0000\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestSaid has each part of a transcript as a person sees it.
func TestSaid(t *testing.T) {
	long := strings.Repeat("é", 3000)
	for _, c := range []struct {
		part adapter.Part
		want string
	}{
		{adapter.Part{Kind: adapter.PartText, Text: "one\r\n  two\x1b\n"}, "\none\n  two<U+001B>\n"},
		{adapter.Part{Kind: adapter.PartTool, Name: "Bash\n", Text: "a\nb"}, "\n> Bash  a b\n"},
		{adapter.Part{Kind: adapter.PartTool, Name: "Read", Text: long}, "\n> Read " + long[:199*2] + "…\n"},
		{adapter.Part{Kind: adapter.PartResult, Text: long + "\nnext\n"}, "  | " + long[:299*2] + "…\n  | next\n"},
		{adapter.Part{Kind: adapter.PartResult, Text: strings.Repeat("x\n", 32)}, strings.Repeat("  | x\n", 10) + "  | … 2 lines\n" + strings.Repeat("  | x\n", 20)},
		{adapter.Part{Kind: adapter.PartResult, Text: " \n"}, ""},
		{adapter.Part{Kind: adapter.PartError, Text: "no\nmore"}, "! error: no more\n"},
		{adapter.Part{Kind: adapter.PartLine, Text: "  as it is \u202e "}, "  as it is <U+202E>\n"},
		{adapter.Part{Kind: adapter.PartLine, Text: long}, long[:1999*2] + "…\n"},
	} {
		var b strings.Builder
		render.New(&b, &b).TranscriptPart(c.part)
		if b.String() != c.want {
			t.Errorf("%s %.40q is\n%q, want\n%q", c.part.Kind, c.part.Text, b.String(), c.want)
		}
	}
}
