package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// probePrompt is a minimal task with a visible result.
const probePrompt = "Write the line `hello` into the new file hello.txt in your working directory. Do nothing else.\n"

// probe runs the executor's adapter once, in a temporary repository and state directory. The
// summary is nil if the adapter did not run.
func (d *Doctor) probe(ctx context.Context, config project.Config) (*api.SpawnSummary, error) {
	def, err := definition.Library{Root: d.project.Root}.Find(string(task.RoleExecutor))
	if err != nil {
		return nil, err
	}
	catalog, err := agents.Catalog(ctx, d.project, config)
	if err != nil {
		return nil, err
	}
	keeper, err := d.project.Supervisor()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "switchyard-probe-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	tree, state := filepath.Join(dir, "tree"), filepath.Join(dir, "state")
	if err := errors.Join(os.Mkdir(tree, 0o700), os.Mkdir(state, 0o700)); err != nil {
		return nil, err
	}
	if err := gitrepo.Create(ctx, tree, gitrepo.Options{Supervisor: keeper, Environ: d.project.Environ}); err != nil {
		return nil, err
	}
	s, err := spawner.New(spawner.Options{
		Root: d.project.Root, Tree: tree, State: state, Supervisor: keeper, Catalog: catalog, Environ: d.project.Environ, Now: d.project.Now, Warn: d.project.Warn,
		Confine: config.Spawn.Confine,
	})
	if err != nil {
		return nil, err
	}
	command := slices.Clone(config.Spawn.Command)
	for i, word := range command {
		if path, isFile := agents.CommandFile(d.project, word); isFile {
			command[i] = path // The repository lacks the project's own scripts.
		}
	}
	set := agents.Settings(config, def.Name, "")
	ran, err := s.Run(ctx, spawner.Job{
		Agent: def, Profile: profile.Edit, Role: def.Name, Prompt: func(spawner.Attempt) (string, error) { return probePrompt, nil },
		Adapters: []string{set.Adapter}, Model: set.Model, Command: command, Env: config.Spawn.Env,
		Limits: spawner.Limits{Timeout: set.Timeout, Idle: set.Idle, Concurrency: 1, MicroDollars: config.Budget.Spawn.MicroDollars},
		Hooks:  spawner.Hooks{Observe: d.project.Observe},
	})
	last := ran.Last()
	if err != nil {
		return nil, err
	}
	if last == nil {
		return nil, errors.Join(ran.Skipped...)
	}
	summary := api.SummarizeSpawn(last.Record)
	if !last.Verdict.Good() {
		err = agents.ErrFailed(*last, set)
	}
	return &summary, err
}
