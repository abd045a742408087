package render

import (
	"cmp"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// FleetList is the JSON output of the fleet's status without a task.
type FleetList struct {
	Tasks []api.RunResult `json:"tasks"`
}

// FleetSent is the output of the fleet's commands that send something to a task.
type FleetSent struct {
	TaskID string `json:"task_id"`
	// Sent describes what was sent.
	Sent string `json:"sent"`
}

// FleetTask prints the state or the result of a fleet's task.
func (p *Printer) FleetTask(r api.RunResult) {
	p.Line("%s  %s, round %s", p.paint(fleetColor(r), r.NextAction), r.TaskID, RoundOf(max(r.Round, 1), r.MaxRounds, 0))
	p.lineIf(r.Reason != "", "  because %s", r.Reason)
	p.lineIf(r.Until != "", "  until %s, when the usage limit of an agent ends", eventTime(r.Until))
	p.lineIf(r.Commit != "", "  commit %s", commitWords(r.Commit, r.Subject))
	p.lineIf(r.Error != nil, "  error: %s", fleetNext(r))
	p.questions(r.Questions)
	if len(r.Questions) > 0 {
		p.next(step{now: answerCommand("switchyard-fleet", r.TaskID, r.Questions[:1])})
	}
}

// FleetList prints tasks of a fleet.
func (p *Printer) FleetList(l FleetList) {
	p.lineIf(len(l.Tasks) == 0, "no tasks")
	rows := newTable("TASK", "STATUS", "ROUND", "NEXT")
	for _, r := range l.Tasks {
		rows.add(r.TaskID, cell{r.NextAction, fleetColor(r)}, roundCell(max(r.Round, 1), r.MaxRounds), fleetNext(r))
	}
	p.table(rows)
}

func fleetColor(r api.RunResult) string {
	return cmp.Or(statusColors[task.Status(r.NextAction)], actionColor(r.NextAction))
}

// fleetNext says in a line why a task waits, or how it ended.
func fleetNext(r api.RunResult) string {
	switch {
	case len(r.Questions) > 0:
		return r.Questions[0].Text
	case r.Error != nil, r.Until != "", r.NextAction == api.ActionBlocked, r.NextAction == routing.Commit:
		return taskNext(r)
	default:
		return r.Reason
	}
}
