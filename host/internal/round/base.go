package round

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// base is the commit that the task's draft is compared with: the one that the command
// names, else the recorded one, and for a task that begins the one that it begins at.
// It is "" without git, and for a task of which none was recorded: that is compared
// with HEAD.
func (tx *taskTx) base(ctx context.Context) (string, error) {
	if tx.baseCommit != "" {
		return tx.baseCommit, nil
	}
	if tx.baseRev == "" && !tx.begins() {
		return tx.status.Base, nil
	}
	config, err := tx.engine.plugins.UncheckedConfig(ctx)
	if err != nil {
		return "", err
	}
	tx.baseCommit, err = tx.engine.newBase(ctx, tx.baseRev, config)
	return tx.baseCommit, tx.withTaskID(err)
}

// newBase is the commit that a draft is compared with from now on: the one that rev
// names, "" for that of the settings. Without git it is "", unless rev names one.
func (e *Engine) newBase(ctx context.Context, rev string, config project.Config) (string, error) {
	keeper, err := e.supervisor()
	if err != nil {
		return "", err
	}
	commit, err := worktree.Tree{Root: e.project.Root, Supervisor: keeper, Environ: e.environ}.Base(ctx, rev, config.Base)
	switch code := errs.CodeOf(err); {
	case code == errs.TreeNoGit && rev == "":
		return "", nil
	case code == errs.TreeBaseUnknown && rev == "" && config.Base != "":
		return "", errs.New(code, "base in %s: %w", project.ConfigFile, err).With("base", config.Base).
			WithHint("name a branch of this repository there, or a commit with --base")
	}
	return commit, err
}

// begins reports whether the command begins the task, or its work anew.
func (tx *taskTx) begins() bool {
	return tx.head.N == 0 || slices.ContainsFunc(tx.pending, func(r event.Full) bool { return r.Event.Kind() == task.KindStarted })
}
