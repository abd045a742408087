// Package handoff writes the instructions for the next executor, and the files and lines that
// agents get with their prompts.
package handoff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Folder is the subdirectory of the state directory for the input of later rounds.
const Folder = "handoff"

// FindingsFile is the name of the file with a round's instructions for its executor, for
// File.
const FindingsFile = "findings.md"

// File returns the name of a round's file in Folder.
func File(id string, round int, name string) string {
	return fmt.Sprintf("%s-r%d-%s", id, round, name)
}

// Path returns the path of a round's file in Folder, relative to the project's
// root, with slashes.
func Path(id string, round int, name string) string {
	return project.StateDir + "/" + Folder + "/" + File(id, round, name)
}

// Current returns the path of the executor's instructions for the task's round, nil if no
// fix is due or the file is gone.
func Current(p *core.Project, now record.StoredStatus) *string {
	path := Path(now.TaskID, now.Round, FindingsFile)
	if now.Status == task.Open && now.Last != nil && now.Last.NextRound == now.Round && p.AtRoot().Exists(path) {
		return &path
	}
	return nil
}

// instructions returns the next executor's instructions after a decision.
func instructions(tx *tasktx.Tx, config project.Config, d api.Decision) prompt.Handoff {
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
	for round := d.Round; round <= d.NextRound; round++ { // Several rounds, if the task was resumed since.
		research := Path(tx.ID, round, "research.md")
		if tx.Project.AtRoot().Exists(research) {
			h.Files = append(h.Files, research)
		}
	}
	return h
}

// Write writes the next executor's instructions.
func Write(tx *tasktx.Tx, config project.Config, d api.Decision) (string, error) {
	return writeFile(tx.Project, Path(tx.ID, d.NextRound, FindingsFile), instructions(tx, config, d))
}

// writeFile writes instructions. The ledger has the findings too, so the file need
// not survive a power loss, and the round does not wait for the disk.
func writeFile(p *core.Project, path string, h prompt.Handoff) (string, error) {
	state, err := p.OpenState()
	if err != nil {
		return "", err
	}
	defer state.Close()
	// Unlike MakeDirIn, Mkdir does not sync.
	if err := state.Mkdir(Folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", core.ErrStateWrite(path, err)
	}
	dir, err := safefile.MakeDirIn(state, Folder)
	if err != nil {
		return "", core.ErrStateWrite(path, err)
	}
	defer dir.Close()
	if err := safefile.ReplaceWith(dir, filepath.Base(path), strings.NewReader(h.Markdown()), safefile.Options{Mode: 0o600, NoSync: true}); err != nil {
		return "", core.ErrStateWrite(path, err)
	}
	return path, nil
}

// raiseBar defers the executor's findings below a bar, if the user has raised it since the
// decision.
func raiseBar(d *api.Decision, bar policies.Bar) {
	if !bar.Above(d.Bar) {
		return
	}
	var open []finding.Finding
	for _, f := range d.Findings {
		if f.Route == string(task.RoleExecutor) && bar.Defers(f.Severity) {
			d.Deferred = append(d.Deferred, f)
		} else {
			open = append(open, f)
		}
	}
	d.Findings, d.Bar = open, bar
}

// Latest returns the instructions that follow from the last decision, with the user's
// answers, the revised plan and the advice of other agents, and writes them for people to
// read. decided is false before the first decision, also of work that was reset.
func Latest(ctx context.Context, tx *tasktx.Tx, config project.Config) (h prompt.Handoff, decided bool, err error) {
	all, err := tx.Answers(ctx)
	if err != nil {
		return h, false, err
	}
	now := tx.Status
	isReset := now.ResetReview > 0 && now.ResetReview == now.Reviews
	if now.Last != nil && (now.Last.Round >= now.StartedRound || !isReset) {
		last, err := tx.LastDecision(ctx)
		if err != nil {
			return h, false, err
		}
		last.NextRound = max(tx.Status.Round, 1)
		raiseBar(&last, policies.Bar(tx.Status.Bar))
		h, decided = instructions(tx, config, last), true
	}
	for _, a := range all {
		h.Answers = append(h.Answers, prompt.QA{Question: a.Question, Answer: a.Text})
	}
	if h.Plan, err = revisedPlan(ctx, tx); err != nil {
		return h, decided, err
	}
	for _, r := range tx.Status.Runs {
		if known := r.Role == task.RoleCritic || r.Role == task.RoleResearcher || r.Role == task.RolePlanChecker; known || r.Stale || r.Receipt == nil || r.Receipt.Path == "" {
			continue
		}
		text, err := ReadReport(ctx, tx, r.Receipt.Path, r.Receipt.Report)
		if err != nil {
			return h, decided, err
		}
		if len(text) > 0 {
			h.Advice = append(h.Advice, prompt.Advice{Role: string(r.Role), Text: string(text)})
		}
	}
	if decided {
		_, err = writeFile(tx.Project, Path(tx.ID, h.NextRound, FindingsFile), h)
	}
	return h, decided, err
}
