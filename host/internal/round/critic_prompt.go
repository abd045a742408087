package round

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/spawner"
)

// modules returns the critic's review modules: the built-in ones, then those of the
// project.
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
func (rr *roundRunner) criticPrompt(ctx context.Context, at spawner.Attempt, modules []prompt.Module, v api.Verification) (string, error) {
	p := prompt.Data{
		Task: rr.tx.ID, RunID: at.Run, ReportPath: at.ReportPath, Round: rr.round.Number, MaxRounds: rr.round.MaxRounds, Modules: modules,
		VerificationOutcome: string(v.Outcome), Economy: rr.config.Economy, Note: at.Note,
		Contradictions: rr.contradictions,
	}
	if v.Output != "" {
		path, err := giveFile(rr.tx.Project, v.Output, at.Folder, verificationFile)
		if err != nil {
			return "", err
		}
		p.Verification = path
	}
	plan, err := givenPlan(ctx, rr.tx, rr.config, at.Folder)
	if err != nil {
		return "", err
	}
	p.Plan = plan
	p.Prompt = rr.tx.TaskPrompt()
	rr.withoutCriteria = p.Plan == "" && p.Prompt == ""
	diff, err := rr.writeDiff(ctx, at)
	if err != nil {
		return "", err
	}
	p.Diff, p.DiffEmpty = diff, rr.emptyDraft
	findings, _, err := rr.tx.OpenReview(ctx)
	if err != nil {
		return "", err
	}
	for _, f := range findings {
		p.Previous = append(p.Previous, f.Fingerprint+" "+lineOf(f))
	}
	return prompt.Render(rr.agents.Spawner.Root, "critic", p)
}

// Files that an attempt can read.
const (
	diffFile         = "draft.diff"
	verificationFile = "verification.log"
)

// Maximum sizes of a task's plan, a diff and a file for an agent, in bytes.
const maxPlan, maxDiff, maxGiven = 1 << 20, 4 << 20, 4 << 20

// giveFile copies the end of a file, relative to the project's root, to a folder that every
// agent can read: some refuse files that version control ignores, or that are outside of
// their working tree. It returns the path of the copy.
func giveFile(p *core.Project, path, folder, name string) (string, error) {
	data, err := func() ([]byte, error) {
		root, err := os.OpenRoot(p.Root)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		// The verification ran the draft's code, which may have replaced the file by a
		// link or a pipe.
		f, err := safefile.OpenFile(root, filepath.FromSlash(path), os.O_RDONLY)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		from := max(info.Size()-maxGiven, 0)
		return io.ReadAll(io.NewSectionReader(f, from, maxGiven))
	}()
	copied := filepath.Join(folder, name)
	if err == nil {
		err = os.WriteFile(copied, data, 0o600)
	}
	if err != nil {
		return "", errs.New(errs.SpawnFolderFailed, "%s cannot be handed on: %w", path, err)
	}
	return copied, nil
}

// writeDiff writes the difference from the task's base to a file for an attempt. It returns the
// file's path, or "" without git. An empty diff fails with draft-empty, unless the caller
// allows it.
func (rr *roundRunner) writeDiff(ctx context.Context, at spawner.Attempt) (string, error) {
	path := filepath.Join(at.Folder, diffFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", errs.New(errs.SpawnFolderFailed, "the draft's diff cannot be written: %w", err)
	}
	tree := rr.agents.WorkingTree()
	if at.N == 1 {
		tree.Cache, tree.Now = &rr.tx.Project.Trees, rr.reviewing
	}
	base, err := rr.tx.Base(ctx)
	if err == nil {
		err = tree.Diff(ctx, base, f, maxDiff)
	}
	info, stat := f.Stat()
	if err := cmp.Or(err, stat, f.Close()); errs.CodeOf(err) == errs.TreeNoGit {
		return "", os.Remove(path)
	} else if err != nil {
		return "", rr.tx.WithTaskID(err)
	}
	if rr.emptyDraft = info.Size() == 0; rr.emptyDraft && !rr.req.AllowEmpty {
		return "", errs.New(errs.DraftEmpty, "nothing differs from commit %.12s, so that the critic would review nothing", cmp.Or(base, "HEAD")).
			With("base", cmp.Or(base, "HEAD")).With("task", rr.tx.ID)
	}
	return path, nil
}

// lineOf formats a finding as one line.
func lineOf(f finding.Finding) string {
	return fmt.Sprintf("%s %s %s: %s", f.Severity, f.Category, f.Location(), f.Remediation)
}
