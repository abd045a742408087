package round

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/decision"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/host/internal/verification"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

type evaluation struct {
	project *core.Project
	repo    *gitrepo.Repo
	config  project.Config
	policy  policyset.Selection
	dir     string // a temporary directory
	below   string // the project's path in its repository
	result  api.Evaluation
}

// Evaluate decides past commits as if each were the first draft of a task, with the current
// verification, report commands and policy, and without a critic. It checks each commit out
// in a copy of the repository, in the temporary directory. It does not change the ledger, the
// project or its repository.
//
// # Errors
//
// no-evidence if the project has no report commands, verify-nested, and errors of the
// configuration, the policy and the repository. A failure of one commit is in its Error.
func (e *Engine) Evaluate(ctx context.Context, req api.EvaluateRequest) (api.Evaluation, error) {
	config, err := e.project.Config(ctx)
	if err != nil {
		return api.Evaluation{}, err
	}
	here := &tasktx.Tx{Project: e.project, Task: record.Task{ID: evaluatedTask}}
	if err := cmp.Or(verification.CheckAllowed(here, api.VerifyRequest{}, config), checkMayReport(here, config)); err != nil {
		return api.Evaluation{}, err
	}
	if len(config.Reports.Commands) == 0 {
		return api.Evaluation{}, errs.New(errs.NoEvidence, "no command for reports is configured, and commits are decided on reports").
			WithHint("list commands under reports in " + project.ConfigFile + "; switchyard init proposes some")
	}
	repo, err := e.project.Repository(ctx)
	if err != nil {
		return api.Evaluation{}, err
	}
	v := evaluation{project: e.project, repo: repo, config: config, result: api.Evaluation{Commits: []api.EvaluatedCommit{}, Outcomes: []api.EvaluatedOutcome{}, Rules: []api.EvaluatedRule{}}}
	v.policy, err = core.WithLedger(ctx, e.project, func(l *ledger.Ledger) (policyset.Selection, error) {
		return AdoptedPolicy(ctx, e.project, l, "", config)
	})
	if err != nil {
		return api.Evaluation{}, err
	}
	v.result.Policy = v.policy.Identity()
	root, err := filepath.EvalSymlinks(e.project.Root)
	if err == nil {
		v.below, err = filepath.Rel(repo.Top(), root)
	}
	if err == nil {
		v.dir, err = os.MkdirTemp("", "switchyard-evaluate-")
	}
	if err == nil {
		v.dir, err = filepath.EvalSymlinks(v.dir) // Commands print the path, and some reports name it.
	}
	if err != nil {
		return api.Evaluation{}, errs.New(errs.FileUnwritable, "failed to create a directory for copies of the repository: %w", safefile.Reason(err))
	}
	err = v.evaluate(ctx, req)
	err = cmp.Or(err, remove(v.dir))
	return v.result, err
}

// remove removes a directory. Downloads in it may be read-only.
func remove(dir string) error {
	if err := safefile.RemovePath(dir); err != nil {
		return errs.New(errs.FileUnwritable, "%s cannot be removed: %w", dir, safefile.Reason(err)).With("path", dir)
	}
	return nil
}

func (v *evaluation) evaluate(ctx context.Context, req api.EvaluateRequest) error {
	commits, err := v.repo.History(ctx, req.Merges, req.Last)
	if err != nil {
		return err
	}
	for i, hash := range commits {
		req.Observe(int64(i), int64(len(commits)))
		if err := v.add(ctx, hash); err != nil {
			return err
		}
	}
	slices.SortStableFunc(v.result.Outcomes, func(a, b api.EvaluatedOutcome) int { return cmp.Compare(b.Commits, a.Commits) })
	slices.SortFunc(v.result.Rules, func(a, b api.EvaluatedRule) int {
		return cmp.Or(cmp.Compare(b.Commits, a.Commits), cmp.Compare(b.Findings, a.Findings), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Route, b.Route))
	})
	return nil
}

// add evaluates a commit. It returns an error only if other commits would fail too.
func (v *evaluation) add(ctx context.Context, hash string) error {
	commit, err := v.repo.ReadCommit(ctx, hash)
	if err != nil {
		return err
	}
	// All copies have the same path, so that compilers find their caches.
	copied := filepath.Join(v.dir, filepath.Base(v.repo.Top()))
	d, err := v.decide(ctx, commit, copied)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c := api.EvaluatedCommit{Commit: commit.Hash, Subject: commit.Subject, NextAction: d.NextAction, Reason: d.Reason, Verify: d.Input.Verify, Findings: len(d.Findings)}
	if c.Verify == policies.Red {
		said := strings.TrimSpace(d.Verification.Excerpt)
		c.Output = textutil.Clip(said[strings.LastIndexByte(said, '\n')+1:], maxReportWords)
	}
	if err != nil {
		var ok bool
		if c.Error, ok = errors.AsType[*errs.Error](err); !ok {
			return err
		}
		delete(c.Error.Details, "path") // It was in the copy.
		c.NextAction, c.Reason, c.Verify = api.ActionFailed, string(c.Error.Code), policies.Absent
	}
	v.result.Commits = append(v.result.Commits, c)
	v.count(c, d.Findings)
	return remove(copied)
}

func (v *evaluation) count(c api.EvaluatedCommit, findings []finding.Finding) {
	r := &v.result
	at := slices.IndexFunc(r.Outcomes, func(o api.EvaluatedOutcome) bool { return o.NextAction == c.NextAction && o.Reason == c.Reason })
	if at < 0 {
		at = len(r.Outcomes)
		r.Outcomes = append(r.Outcomes, api.EvaluatedOutcome{NextAction: c.NextAction, Reason: c.Reason})
	}
	r.Outcomes[at].Commits++
	seen := make(map[int]bool)
	for _, f := range findings {
		rule := ruleOf(f)
		at := slices.IndexFunc(r.Rules, func(r api.EvaluatedRule) bool { return r.Rule == rule && r.Route == f.Route })
		if at < 0 {
			at = len(r.Rules)
			r.Rules = append(r.Rules, api.EvaluatedRule{Rule: rule, Route: f.Route})
		}
		r.Rules[at].Findings++
		if !seen[at] {
			seen[at] = true
			r.Rules[at].Commits++
		}
	}
}

// ruleOf returns the rule of a linter's finding, which plugins put before its remediation, or
// the category.
func ruleOf(f finding.Finding) string {
	if rule, _, ok := strings.Cut(f.Remediation, ": "); ok && rule != "" && !strings.ContainsAny(rule, " \t\n") {
		return rule
	}
	return f.Category
}

// evaluatedTask is the id of the task in the environment of commands.
const evaluatedTask = "evaluate"

// decide decides a commit as the first round of a task, in a copy of the repository.
func (v *evaluation) decide(ctx context.Context, commit gitrepo.Commit, copied string) (api.Decision, error) {
	submodules, err := v.repo.Copy(ctx, copied, commit)
	if err != nil {
		return api.Decision{}, err
	}
	if len(v.result.Submodules) == 0 {
		v.result.Submodules = submodules
	}
	root, err := os.OpenRoot(copied)
	if err == nil {
		err = errors.Join(root.MkdirAll(v.below, 0o700), root.Close()) // An old commit may not have the project's directory.
	}
	if err != nil {
		return api.Decision{}, errs.New(errs.TreeUnreadable, "%s of commit %.12s cannot be used: %w", v.below, commit.Hash, safefile.Reason(err))
	}
	top := filepath.Join(copied, v.below)
	maxRounds := v.config.MaxRounds
	rr := &roundRunner{
		tx:     &tasktx.Tx{Project: v.project.Copy(top), Task: record.Task{ID: evaluatedTask}},
		config: v.config, round: task.Round{Number: 1, MaxRounds: maxRounds, HardCap: task.HardCap(maxRounds, v.config.HardCap)},
	}
	// Its .gitignore would otherwise appear with the first command, as a change of the files.
	if root, err = rr.tx.Project.OpenState(); err != nil {
		return api.Decision{}, err
	}
	_ = root.Close() // Only a directory was read.
	tree, err := verification.WorkingTree(rr.tx)
	if err != nil {
		return api.Decision{}, err
	}
	if rr.tx.BaseCommit, err = tree.Base(ctx, "", ""); err != nil {
		return api.Decision{}, err
	}
	q := decision.Query{Policy: v.policy.Policy, Verify: policies.Absent, Round: 1, MaxRounds: maxRounds, HardCap: rr.round.HardCap}
	var verified api.Verification
	if v.config.Verify != nil {
		plan := *v.config.Verify
		plan.Confine.Read = append(slices.Clip(plan.Confine.Read), v.repo.GitDir()) // The copy uses the objects there.
		if verified, err = verification.Run(ctx, rr.tx, v.config, plan, top); err == nil {
			_, err = rr.snapshot(ctx)
		}
		if err != nil {
			return api.Decision{}, err
		}
		q.Verify, verified.Tree, rr.judged = verified.Outcome, rr.shot.Digest(), rr.shot.Digest()
	}
	if q.Verify != policies.Red {
		if q.Evidence, err = rr.commandReports(ctx); err != nil {
			return api.Decision{}, err
		}
		if len(q.Evidence) == 0 {
			return api.Decision{}, errs.New(errs.NoEvidence, "no command for a report concerns the files that the commit changes")
		}
	}
	d, _, err := q.Decide(ctx)
	d.Verification = &verified
	return d, err
}
