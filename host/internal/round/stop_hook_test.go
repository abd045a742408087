package round

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestIsWithExecutor tests which tasks can block a session in the project's checkout.
func TestIsWithExecutor(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*storedStatus)
		want   bool
	}{
		"sent to the executor":     {func(*storedStatus) {}, true},
		"in a worktree of its own": {func(k *storedStatus) { k.Branch = &task.Branch{} }, false},
		"a round is under way":     {func(k *storedStatus) { k.Runs = []task.Run{{}} }, false},
		"its round has ended":      {func(k *storedStatus) { k.Runs = []task.Run{{Receipt: &task.Receipt{}}} }, true},
		"stuck":                    {func(k *storedStatus) { k.Status = task.Stuck }, false},
		"resumed since":            {func(k *storedStatus) { k.Round = 3 }, false},
		"sent to another agent":    {func(k *storedStatus) { k.Last.NextAction = actionResearcher }, false},
		"without a decision":       {func(k *storedStatus) { k.Last = nil }, false},
	} {
		var k storedStatus
		k.Status, k.Round, k.Last = task.Open, 2, &task.RoundDecided{NextRound: 2, NextAction: actionExecutor}
		c.change(&k)
		if got := k.isWithExecutor(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
