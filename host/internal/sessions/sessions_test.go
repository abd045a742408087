package sessions

import (
	"testing"

	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestIsWithExecutor tests which tasks can block a session in the project's checkout.
func TestIsWithExecutor(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.StoredStatus)
		want   bool
	}{
		"sent to the executor":     {func(*record.StoredStatus) {}, true},
		"in a worktree of its own": {func(k *record.StoredStatus) { k.Branch = &task.Branch{} }, false},
		"stuck":                    {func(k *record.StoredStatus) { k.Status = task.Stuck }, false},
		"resumed since":            {func(k *record.StoredStatus) { k.Round = 3 }, false},
		"sent to another agent":    {func(k *record.StoredStatus) { k.Last.NextAction = string(task.RoleResearcher) }, false},
		"without a decision":       {func(k *record.StoredStatus) { k.Last = nil }, false},
	} {
		var k record.StoredStatus
		k.Status, k.Round, k.Last = task.Open, 2, &task.RoundDecided{NextRound: 2, NextAction: string(task.RoleExecutor)}
		c.change(&k)
		if got := isWithExecutor(k); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
