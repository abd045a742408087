package research_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/research"
)

func TestClamp(t *testing.T) {
	for k, want := range map[int]int{-1: 1, 0: 1, 1: 1, 3: 3, 4: 4, 5: 5, 6: 5, 1000: 5} {
		same(t, len(research.Perspectives(k)), want)
	}
}

func TestPerspectivesDiffer(t *testing.T) {
	all := research.Perspectives(5)
	seen := make(map[string]bool)
	for i, p := range all {
		same(t, p.Index, i+1)
		if p.Nudge == "" || seen[p.Nudge] {
			t.Errorf("the nudge of %d is empty or another's: %q", p.Index, p.Nudge)
		}
		seen[p.Nudge] = true
	}
	same(t, research.Perspectives(2), all[:2])
}
