package render

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// TestCaretBelowWideCharacters has columns of a policy that are neither bytes nor columns of a
// terminal.
func TestCaretBelowWideCharacters(t *testing.T) {
	for _, c := range []struct {
		source string
		col    int
		caret  string
	}{
		{"x := y", 6, "  |      ^"},
		{"\tx", 2, "  |     ^"},
		{`"é" + y`, 7, "  |       ^"},
		{`"漢" + y`, 7, "  |        ^"},
		{`"é"`, 4, "  |    ^"}, // behind the line
	} {
		got := sourceLines(routing.Problem{Source: c.source, Col: c.col})
		if !slices.Equal(got[1:], []string{c.caret}) {
			t.Errorf("%s, column %d: got\n%s\n%s, want\n%s", c.source, c.col, got[0], got[1], c.caret)
		}
	}
	if got := sourceLines(routing.Problem{Source: `"é"`, Col: 5}); got != nil {
		t.Errorf("a column behind the line gives %q", got)
	}
}
