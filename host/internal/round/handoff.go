package round

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// manualFallback writes the prompt for a critic that the caller runs.
func (rr *roundRunner) manualFallback(ctx context.Context, agentDef definition.Definition, o spawner.Outcome, modules []prompt.Module, v api.Verification) (*api.ManualFallback, error) {
	h := &api.ManualFallback{Agent: agentDef.Name, ReportPath: core.HandoffPath(rr.tx.ID, rr.round.Number, "critic.json")}
	for _, err := range o.Skipped {
		h.Failures = append(h.Failures, err.Error())
	}
	for _, res := range o.Results {
		words := fmt.Sprintf("%s: %s", res.Record.Adapter, res.Verdict.Reason)
		if said := res.Record.Said(); len(said) > 0 {
			words += " (" + said[len(said)-1] + ")"
		}
		h.Failures = append(h.Failures, words)
	}
	dir, err := rr.tx.Project.StateFolder(core.HandoffFolder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	// Files of an earlier manual fallback, a report above all, belong to another draft.
	given := core.HandoffFile(rr.tx.ID, rr.round.Number, "critic")
	for _, name := range []string{given, core.HandoffFile(rr.tx.ID, rr.round.Number, "critic.json")} {
		if err := dir.RemoveAll(name); err != nil {
			return nil, core.ErrStateWrite(name, err)
		}
	}
	if err := dir.Mkdir(given, 0o700); err != nil {
		return nil, core.ErrStateWrite(given, err)
	}
	rendered, err := rr.criticPrompt(ctx, spawner.Attempt{
		Run: spawner.NewRun(), Folder: filepath.Join(dir.Name(), given), ReportPath: rr.tx.Project.AtRoot().Abs(h.ReportPath),
	}, modules, v)
	if err != nil {
		return nil, err
	}
	h.PromptPath, err = rr.tx.Project.WriteStateFile(core.HandoffFolder, core.HandoffFile(rr.tx.ID, rr.round.Number, "critic.md"), []byte(definition.Compose(agentDef, rendered)))
	return h, err
}

// handoff returns the next executor's instructions after a decision.
func handoff(tx *tasktx.Tx, config project.Config, d api.Decision) prompt.Handoff {
	h := prompt.Handoff{
		Task: tx.ID, Prompt: tx.TaskPrompt(), Round: d.Round, NextRound: d.NextRound, MaxRounds: d.MaxRounds, Findings: d.Findings,
		Deferred: d.Deferred, Bar: string(d.Bar),
		VerificationOutcome: string(policies.Absent), Economy: config.Economy,
	}
	if d.Verification != nil {
		h.VerificationOutcome, h.Excerpt, h.Output = string(d.Verification.Outcome), d.Verification.Excerpt, d.Verification.Output
	}
	if d.StillOpen != nil {
		h.StillOpen, h.Reviewed = d.StillOpen.Findings, d.StillOpen.Round
	}
	if plan := config.Spawn.PlanOf(tx.ID); plan != "" && tx.Project.AtRoot().Exists(plan) {
		h.Files = append(h.Files, plan)
	}
	for _, round := range slices.Compact([]int{d.Round, d.NextRound}) {
		research := core.HandoffPath(tx.ID, round, "research.md")
		if tx.Project.AtRoot().Exists(research) {
			h.Files = append(h.Files, research)
		}
	}
	return h
}

// writeHandoff writes the next executor's instructions.
func writeHandoff(tx *tasktx.Tx, config project.Config, d api.Decision) (string, error) {
	return writeHandoffFile(tx.Project, core.HandoffPath(tx.ID, d.NextRound, core.FindingsFile), handoff(tx, config, d))
}

// writeHandoffFile writes instructions. The ledger has the findings too, so the file need
// not survive a power loss, and the round does not wait for the disk.
func writeHandoffFile(p *core.Project, path string, h prompt.Handoff) (string, error) {
	state, err := p.OpenState()
	if err != nil {
		return "", err
	}
	defer state.Close()
	if err := state.Mkdir(core.HandoffFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", core.ErrStateWrite(path, err)
	}
	dir, err := safefile.MakeDirIn(state, core.HandoffFolder)
	if err != nil {
		return "", core.ErrStateWrite(path, err)
	}
	defer dir.Close()
	if err := safefile.ReplaceWith(dir, filepath.Base(path), strings.NewReader(h.Markdown()), safefile.Options{Mode: 0o600, NoSync: true}); err != nil {
		return "", core.ErrStateWrite(path, err)
	}
	return path, nil
}
