package round

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/spawner"
)

// modules returns the critic's review modules, the built-in ones first.
func (rr *roundRunner) modules() ([]prompt.Module, error) {
	var all []prompt.Module
	for _, name := range rr.config.Economy.ModuleNames() {
		definition, err := rr.agents.Library.Find(name)
		if err != nil {
			return nil, err
		}
		all = append(all, prompt.Module{Name: name, Text: definition.Body})
	}
	added, err := rr.agents.Library.Added()
	for _, d := range added {
		all = append(all, prompt.Module{Name: d.Name, Text: d.Body})
	}
	return all, err
}

// criticPrompt writes the prompt of an attempt and the files that it refers to.
func (rr *roundRunner) criticPrompt(ctx context.Context, at spawner.Attempt, modules []prompt.Module) (string, error) {
	ev := &rr.evidence
	p := prompt.Data{
		Task: rr.tx.ID, RunID: at.Run, ReportPath: at.ReportPath, Round: rr.round.Number, MaxRounds: rr.round.MaxRounds, Modules: modules,
		VerificationOutcome: string(ev.Verification.Outcome), Economy: rr.config.Economy, Note: at.Note,
		Contradictions: rr.contradictions,
	}
	var err error
	if ev.Verification.Output != "" {
		if p.Verification, err = handoff.GiveFile(rr.tx.Project, ev.Verification.Output, at.Folder, handoff.VerificationFile); err != nil {
			return "", err
		}
	}
	if p.Plan, err = handoff.Plan(ctx, rr.tx, rr.config, at.Folder); err != nil {
		return "", err
	}
	p.Prompt = rr.tx.TaskPrompt()
	ev.WithoutCriteria = p.Plan == "" && p.Prompt == ""
	if p.Diff, err = rr.writeDiff(ctx, at.Folder); err != nil {
		return "", err
	}
	p.DiffEmpty = ev.EmptyDraft
	findings, _, err := rr.tx.OpenReview(ctx)
	if err != nil {
		return "", err
	}
	for _, f := range findings {
		p.Previous = append(p.Previous, f.Fingerprint+" "+handoff.Line(f))
	}
	return prompt.Render(rr.agents.Spawner.Root, "critic", p)
}

// diffFile is the name of the draft's difference in an attempt's directory, and maxDiff its
// maximum size in bytes.
const (
	diffFile = "draft.diff"
	maxDiff  = 4 << 20
)

// writeDiff writes the difference from the task's base to a file in a directory. It returns the
// file's path, or "" without git. An empty diff fails with draft-empty, unless the caller
// allows it.
func (rr *roundRunner) writeDiff(ctx context.Context, folder string) (string, error) {
	path := filepath.Join(folder, diffFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", errs.New(errs.SpawnFolderFailed, "the draft's diff cannot be written: %w", err)
	}
	tree := rr.agents.WorkingTree()
	tree.Cache = &rr.tx.Project.Trees
	base, err := rr.tx.Base(ctx)
	if err == nil {
		tree.Now, err = rr.snapshot(ctx)
	}
	if err == nil && rr.tx.Status.Branch != nil {
		tree.Commit, err = rr.committed(ctx, base)
	}
	if err == nil {
		err = tree.Diff(ctx, base, f, maxDiff)
	}
	info, stat := f.Stat()
	if err := cmp.Or(err, stat, f.Close()); errs.CodeOf(err) == errs.TreeNoGit {
		return "", os.Remove(path)
	} else if err != nil {
		return "", rr.tx.WithTaskID(err)
	}
	if rr.evidence.EmptyDraft = info.Size() == 0; rr.evidence.EmptyDraft && !rr.req.AllowEmpty {
		return "", errs.New(errs.DraftEmpty, "nothing differs from commit %.12s, so that the critic would review nothing", cmp.Or(base, "HEAD")).
			With("base", cmp.Or(base, "HEAD")).With("task", rr.tx.ID)
	}
	return path, nil
}

// committed lists the files that a commit of the draft would change since base. It lists none if the
// draft cannot be committed: then a decision to commit fails.
func (rr *roundRunner) committed(ctx context.Context, base string) ([]string, error) {
	repo, err := rr.tx.Project.Repository(ctx)
	if err != nil {
		return nil, err
	}
	if rr.unwritten = rr.writeTree(ctx, repo); rr.unwritten != nil {
		return nil, context.Cause(ctx)
	}
	return repo.Changed(ctx, base, rr.written)
}

// manualFallback writes the prompt for a critic that the caller runs.
func (rr *roundRunner) manualFallback(ctx context.Context, agentDef definition.Definition, o spawner.Outcome, modules []prompt.Module) (*api.ManualFallback, error) {
	h := &api.ManualFallback{Agent: agentDef.Name, ReportPath: handoff.Path(rr.tx.ID, rr.round.Number, "critic.json")}
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
	dir, err := rr.tx.Project.StateFolder(handoff.Folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	// Files of an earlier manual fallback, a report above all, belong to another draft.
	given := handoff.File(rr.tx.ID, rr.round.Number, "critic")
	for _, name := range []string{given, handoff.File(rr.tx.ID, rr.round.Number, "critic.json")} {
		if err := dir.RemoveAll(name); err != nil {
			return nil, core.ErrStateWrite(name, err)
		}
	}
	if err := dir.Mkdir(given, 0o700); err != nil {
		return nil, core.ErrStateWrite(given, err)
	}
	rendered, err := rr.criticPrompt(ctx, spawner.Attempt{
		Run: spawner.NewRun(), Folder: filepath.Join(dir.Name(), given), ReportPath: rr.tx.Project.AtRoot().Abs(h.ReportPath),
	}, modules)
	if err != nil {
		return nil, err
	}
	h.PromptPath, err = rr.tx.Project.WriteStateFile(handoff.Folder, handoff.File(rr.tx.ID, rr.round.Number, "critic.md"), []byte(definition.Compose(agentDef, rendered)))
	return h, err
}
