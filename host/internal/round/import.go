package round

import (
	"cmp"
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/decision"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

const maxStopReason = 300 // bytes

// maxViolations is the maximum number of imported violations, far above the number of agents
// in a project.
const maxViolations = 256

// Import imports the unfinished tasks of nubos-pilot, each as one event: the round, its
// cap, whether the task is stuck, its open findings and its forced gates. Imported data is
// never evidence. A task that is already recorded does not change, so an import can be
// repeated. It refuses a command that an agent runs.
func (e *Engine) Import(ctx context.Context, tasks []nubospilot.Task) (api.ImportResult, error) {
	config, err := e.commandConfig(ctx)
	if err != nil {
		return api.ImportResult{}, err
	}
	policy, err := e.project.Policies().Select(ctx, "", config)
	if err != nil {
		return api.ImportResult{}, err
	}
	result := api.ImportResult{Tasks: []api.TaskStatus{}}
	for _, t := range tasks {
		if t.Done {
			result.Left = append(result.Left, nubospilot.Left{What: t.ID, Why: "the task is done"})
			continue
		}
		findings, err := decision.Merge(policy.Policy, t.Findings)
		if err != nil {
			return result, err
		}
		change := importOf(t, len(findings), config.MaxRounds, e.project.By)
		change.HardCap = config.HardCap
		imported, err := tasktx.Update(ctx, e.project, t.ID, func(*tasktx.Tx) (task.Command, event.Full, error) {
			return task.ImportTask{TaskImported: change}, event.Full{Findings: findings}, nil
		})
		switch code := errs.CodeOf(err); {
		case err == nil:
			result.Tasks = append(result.Tasks, imported.TaskStatus)
		case code == errs.TaskExists || code == errs.RoundShifted:
			result.Left = append(result.Left, nubospilot.Left{What: t.ID, Why: "the task is recorded already"})
		case code == errs.RoundsExhausted || code == errs.TaskInvalidID:
			result.Left = append(result.Left, nubospilot.Left{What: t.ID, Why: err.Error()})
		default:
			return result, err
		}
	}
	return result, nil
}

func importOf(t nubospilot.Task, findings, fallback int, by string) task.TaskImported {
	imported := task.TaskImported{
		Source: nubospilot.Name, Digest: t.Digest, Round: t.Round, MaxRounds: cmp.Or(t.MaxRounds, fallback), CustomCap: t.MaxRounds != 0,
		FindingCount: findings, Overrides: t.Forced, Violations: t.Violations[:min(len(t.Violations), maxViolations)], By: by,
	}
	// A lower cap would stop the task at once.
	imported.MaxRounds = max(imported.MaxRounds, imported.Round)
	if t.Stuck {
		reason := textutil.FitBytes(cmp.Or(t.Reason, "stuck in "+nubospilot.Name), maxStopReason)
		imported.Stop = &task.Stop{Round: t.Round, Reason: reason, By: nubospilot.Name, FindingCount: findings}
	}
	return imported
}
