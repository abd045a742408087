package render_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/render"
)

// TestRoundOfAPendingTask shows a task that has not begun. Its first round is 1.
func TestRoundOfAPendingTask(t *testing.T) {
	pending := api.RunResult{TaskID: "T", NextAction: "pending"}
	var one, list strings.Builder
	render.New(&one, &one).FleetTask(pending)
	render.New(&list, &list).FleetList(render.FleetList{Tasks: []api.RunResult{pending}})
	if got := one.String(); got != "pending  T, round 1\n" {
		t.Errorf("the task is shown as %q", got)
	}
	if _, row, _ := strings.Cut(list.String(), "\n"); strings.Join(strings.Fields(row), " ") != "T pending 1" {
		t.Errorf("the list is\n%s", &list)
	}
}
