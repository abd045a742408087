package spawns

import (
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// parkMargin is how long after a usage limit's end agents run again.
const parkMargin = time.Minute

// ParkOnLimit is what the end of a critic or a researcher records for Run.
func ParkOnLimit(tx *tasktx.Tx, res spawner.Result) error {
	if tx.Status.Status != task.Open {
		return nil
	}
	_, err := ParkFor(tx, res)
	return err
}

// ParkFor parks the task if a run ended with a usage limit whose end is known.
func ParkFor(tx *tasktx.Tx, res spawner.Result) (bool, error) {
	if res.Verdict.Class != outcome.Quota || res.Record.ResetsAt == "" {
		return false, nil
	}
	ends, err := time.Parse(time.RFC3339, res.Record.ResetsAt)
	if err != nil {
		return false, err
	}
	until := ends.Add(parkMargin)
	if !until.After(tx.Project.Now()) {
		return false, nil // The limit should be over and is not; the agent would meet it at once.
	}
	return true, tx.Apply(task.ParkTask{Parking: task.Parking{
		Until: until.UTC().Format(ledger.TimeFormat), Run: res.Run, Adapter: res.Record.Adapter,
	}}, event.Full{By: task.BySwitchyard})
}
