package round

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// probePrompt is the smallest task whose result shows in the working tree.
const probePrompt = "Write the line `hello` into the new file hello.txt in your working directory. Do nothing else.\n"

// probe runs the executor's adapter once, in a repository and a state directory of their
// own, which it removes. The summary is nil if nothing ran.
func (e *Engine) probe(ctx context.Context, config project.Config) (*api.SpawnSummary, error) {
	def, err := definition.Library{Root: e.project.Root}.Find(string(task.RoleExecutor))
	if err != nil {
		return nil, err
	}
	catalog, err := e.catalog(ctx, config)
	if err != nil {
		return nil, err
	}
	keeper, err := e.supervisor()
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
	if err := gitrepo.Create(ctx, tree, gitrepo.Options{Supervisor: keeper, Environ: e.environ}); err != nil {
		return nil, err
	}
	s, err := spawner.New(spawner.Options{
		Root: e.project.Root, Tree: tree, State: state, Supervisor: keeper, Catalog: catalog, Environ: e.environ, Now: e.now, Warn: e.warn,
		Confine: confineAgents(config.Spawn), Sandbox: &e.sandbox,
	})
	if err != nil {
		return nil, err
	}
	command := slices.Clone(config.Spawn.Command)
	for i, word := range command {
		if path := e.absolute(word); isFile(path) {
			command[i] = path // The repository lacks the project's own scripts.
		}
	}
	set := agentSettings(config, def.Name, "")
	ran, err := s.Run(ctx, spawner.Job{
		Agent: def, Profile: profile.Edit, Role: def.Name, Prompt: func(spawner.Attempt) (string, error) { return probePrompt, nil },
		Adapters: []string{set.Adapter}, Model: set.Model, Command: command, Env: config.Spawn.Env,
		Limits: spawner.Limits{Timeout: set.Timeout, Idle: set.Idle, Concurrency: 1, MicroDollars: config.Budget.Spawn.MicroDollars},
		Hooks:  spawner.Hooks{Observe: e.observe},
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
		err = errSpawnFailed(*last, set)
	}
	return &summary, err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
