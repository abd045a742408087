package doctor

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// checkRun checks the additional prerequisites of run. A failure counts only if the project
// uses run, as its worktrees show, or if probe is set.
func (d *Doctor) checkRun(ctx context.Context, h *diagnosis, config project.Config, destinations map[string]routing.Destination, probe bool) {
	used := probe
	check := func(name string, err error, fine string) {
		was := h.OK
		h.check(name, err, fine)
		if err != nil && !used {
			h.Checks[len(h.Checks)-1].Unused, h.OK = true, was
		}
	}
	dir, err := d.project.WorktreesFolder()
	entries, _ := os.ReadDir(dir) // The first run creates it.
	used = used || len(entries) > 0
	repo, repoErr := d.project.Repository(ctx)
	if repoErr == nil {
		repoErr = d.project.CheckTop(repo)
	}
	gitErr := repoErr
	if gitErr == nil {
		gitErr = repo.CheckAuthor(ctx)
	}
	check("git", gitErr, "can make branches, worktrees and commits")
	if repoErr == nil {
		if err == nil {
			err = tryWorktree(ctx, repo, dir)
		}
		check("worktrees", err, "can be added in "+dir)
	}
	names, err := d.checkRunAgents(ctx, config, destinations)
	check("agents", err, strings.Join(names, ", ")+" can be run")
	if probe && h.OK && ctx.Err() == nil {
		spawn, err := d.probe(ctx, config)
		h.Probe = spawn
		h.check("probe", err, "the executor has edited a file in a repository of its own")
	}
}

// The worktree of a check and its lock. The names of tasks cannot begin with a dot.
const (
	checkedWorktree = ".doctor"
	checkLock       = ".doctor.lock"
)

// tryWorktree adds a worktree in the directory of worktrees and removes it. It also removes
// the directory if it is empty.
func tryWorktree(ctx context.Context, repo *gitrepo.Repo, dir string) error {
	unwritable := func(err error) error {
		return errs.New(errs.FileUnwritable, "%s: %w", dir, safefile.Reason(err)).With("path", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unwritable(err)
	}
	defer func() {
		// Remove fails, and the loop ends, at a directory that is not empty.
		for at, level := dir, 0; level < 3 && os.Remove(at) == nil; level++ {
			at = filepath.Dir(at)
		}
	}()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return unwritable(err)
	}
	defer root.Close()
	lock, err := safefile.WaitLock(ctx, root, checkLock)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return unwritable(err)
	}
	err = repo.TryWorktree(ctx, filepath.Join(dir, checkedWorktree))
	return cmp.Or(err, lock.Release())
}

// checkRunAgents checks the definition, the adapters and the program of each agent that run
// may start, and returns their names.
func (d *Doctor) checkRunAgents(ctx context.Context, config project.Config, destinations map[string]routing.Destination) ([]string, error) {
	drafters := []string{string(task.RoleExecutor), string(task.RoleFixer)}
	names := append(slices.Clone(drafters), string(task.RolePlanChecker))
	for name, to := range destinations {
		if to.Kind == routing.Agent {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	catalog, err := agents.Catalog(ctx, d.project, config)
	if err != nil {
		return nil, err
	}
	var found error
	var problems []string
	affected := make(map[string][]string) // the agents of each problem
	for _, name := range names {
		if err := d.checkRunAgent(config, catalog, name, slices.Contains(drafters, name)); err != nil {
			found = cmp.Or(found, err)
			text := err.Error()
			if affected[text] == nil {
				problems = append(problems, text)
			}
			affected[text] = append(affected[text], name)
		}
	}
	for i, text := range problems {
		problems[i] = strings.Join(affected[text], ", ") + ": " + text
	}
	switch len(problems) {
	case 0:
		return names, nil
	case 1:
		return names, errs.New(errs.CodeOf(found), "%s", problems[0])
	}
	return names, errs.New(errs.CodeOf(found), "%d problems", len(problems)).With("problems", problems)
}

func (d *Doctor) checkRunAgent(config project.Config, catalog *adapter.Catalog, name string, drafts bool) error {
	_, may, err := agents.FindForRun(definition.Library{Root: d.project.Root}, name, drafts)
	if err != nil {
		return err
	}
	set := config.Spawn.For(name)
	set.ManualFallback = false // Run needs the program.
	return agents.CheckPrograms(d.project, config, catalog, set, may)
}
