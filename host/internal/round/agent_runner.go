package round

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/spawner"
)

// agentRunner bundles the spawner with the agent definitions.
type agentRunner struct {
	spawner *spawner.Spawner
	library definition.Library
}

// maxAdapter is the maximum size of an adapter file, in bytes.
const maxAdapter = 1 << 20

// newAgentRunner prepares spawns in a working tree, for the task id, or outside any task if
// id is "".
//
// # Errors
//
// spawn-reentrant and CodeDepth inside a spawned agent, config-foreign, those of adapters
// and of leases.
func (e *Engine) newAgentRunner(ctx context.Context, config project.Config, id, tree string) (agentRunner, error) {
	if err := e.checkNotNested(); err != nil {
		return agentRunner{}, err
	}
	if err := config.Spawn.CheckTrusted(); err != nil {
		return agentRunner{}, err
	}
	if err := e.checkConfinement(config, id, tree); err != nil {
		return agentRunner{}, err
	}
	scope, err := e.treeScope(config, id, tree)
	if err != nil {
		return agentRunner{}, err
	}
	catalog, err := e.catalog(ctx, config)
	if err != nil {
		return agentRunner{}, err
	}
	keeper, err := e.supervisor()
	if err != nil {
		return agentRunner{}, err
	}
	state, err := e.openState()
	if err != nil {
		return agentRunner{}, err
	}
	defer state.Close()
	s, err := spawner.New(spawner.Options{
		Root: e.project.Root, Tree: tree, State: e.project.State(), Temp: os.TempDir(),
		Scope: scope, Cache: &e.trees, Supervisor: keeper, Catalog: catalog, Environ: e.environ,
		Confine: confineAgents(config.Spawn), Sandbox: &e.sandbox,
		Now: e.now, Random: rand.Float64, Transcript: e.keepTranscripts(config.Transcripts), Warn: e.warn,
	})
	return agentRunner{spawner: s, library: definition.Library{Root: e.project.Root}}, err
}

func (a agentRunner) workingTree() worktree.Tree {
	return worktree.Tree{Root: a.spawner.Tree, Supervisor: a.spawner.Supervisor, Environ: a.spawner.Environ}
}

// treeScope returns the paths that count as a change of the working tree while agents run
// for a task ("" for none). It ignores files that other processes change, and always
// includes decidingFiles.
func (e *Engine) treeScope(config project.Config, id, tree string) (worktree.Scope, error) {
	ignored, err := ignoredPaths(config, tree)
	if err != nil {
		return worktree.Scope{}, err
	}
	return worktree.Scope{IgnorePaths: ignored, AlwaysTracked: e.decidingFiles(config, id), TaskTree: tree != e.project.Root}, nil
}

// decidingFiles returns the files that later rounds of a task ("" for none) read their
// settings from, as far as the settings name them.
func (e *Engine) decidingFiles(config project.Config, id string) []string {
	effective := slices.Concat([]string{config.Policy, config.Spawn.PlanOf(id)}, config.PluginPaths, config.Spawn.Adapters)
	for _, key := range config.Trust.Keys {
		effective = append(effective, key.File)
	}
	for _, word := range config.Spawn.Command {
		path := word
		if !filepath.IsAbs(path) {
			path = e.absolute(path)
		}
		if isFile(path) { // It may be an option or a program.
			effective = append(effective, word)
		}
	}
	for i, path := range effective {
		effective[i] = filepath.Clean(path)
	}
	return effective
}

// ignoredPaths lists the paths that change without an agent's doing: the metrics file with
// its draft and lock, which other commands write, and the folder for temporary files if it
// is in the working tree.
func ignoredPaths(config project.Config, tree string) (ignored []string, err error) {
	if file := config.Metrics.Textfile; file != "" {
		dir, name := filepath.Split(file)
		ignored = append(ignored, file, dir+"."+name+".draft", dir+"."+name+".lock")
	}
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return nil, errs.New(errs.SpawnFolderFailed, "the folder for temporary files cannot be used: %w", safefile.Reason(err))
	}
	root, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return nil, err
	}
	switch rel, err := filepath.Rel(root, temp); {
	case err != nil || !filepath.IsLocal(rel):
		return ignored, nil
	case rel == ".":
		return nil, errs.New(errs.SpawnFolderFailed, "the folder for temporary files is the working tree itself, so an agent's changes could not be detected")
	default:
		return append(ignored, rel+"/"), nil
	}
}

// checkNotNested rejects spawns from inside a spawned agent.
func (e *Engine) checkNotNested() error {
	return cmp.Or(e.inside(), childenv.Guard(e.environ))
}

// findAgent returns an agent that this process may spawn, and that does not edit.
func (e *Engine) findAgent(name string) (definition.Definition, error) {
	if err := e.checkNotNested(); err != nil {
		return definition.Definition{}, err
	}
	agentDef, err := definition.Library{Root: e.project.Root}.Find(name)
	if err != nil {
		return definition.Definition{}, err
	}
	return agentDef, agentDef.Spawnable(profile.Report)
}

// findRunAgent returns the definition of an agent that Run starts, and what it may write:
// one that drafts must be allowed to edit, any other has the profile of its definition.
func findRunAgent(library definition.Library, name string, drafts bool) (definition.Definition, profile.Profile, error) {
	def, err := library.Find(name)
	if err != nil {
		return def, "", err
	}
	may := def.Profile
	if drafts {
		may = profile.Edit
	}
	return def, may, def.Spawnable(may)
}

// checkAgentAvailable fails if no adapter of an agent has its program and manual fallback
// is off. It changes nothing.
func (e *Engine) checkAgentAvailable(ctx context.Context, config project.Config, name, with string) error {
	catalog, err := e.catalog(ctx, config)
	if err != nil {
		return err
	}
	set := agentSettings(config, name, with)
	found := set.ManualFallback
	var missing error
	for _, name := range append([]string{set.Adapter}, set.Fallback...) {
		a, err := catalog.Get(name)
		if err != nil {
			return err
		}
		_, err = a.Binary(e.environ, e.project.Root, config.Spawn.Command)
		found = found || err == nil
		missing = cmp.Or(missing, err)
	}
	if found {
		return nil
	}
	return missing
}

// agentSettings returns the spawn settings of an agent. adapter overrides the configured
// one, unless it is "".
func agentSettings(config project.Config, name, adapter string) project.SpawnAgent {
	s := config.Spawn.For(name)
	if adapter != "" && adapter != s.Adapter {
		// A model name is only valid for its adapter.
		s.Adapter, s.Fallback, s.Model = adapter, nil, ""
	}
	return s
}

// catalog returns the built-in adapters and those of the project.
func (e *Engine) catalog(ctx context.Context, config project.Config) (*adapter.Catalog, error) {
	var own []*adapter.Adapter
	for _, path := range config.Spawn.Adapters {
		data, err := e.rooted().Read(ctx, path, maxAdapter)
		if err != nil {
			return nil, err
		}
		a, err := adapter.Parse(data)
		if err != nil {
			return nil, errs.New(errs.CodeOf(err), "%s: %w", path, err).With("path", path)
		}
		own = append(own, a)
	}
	return adapter.NewCatalog(own...), nil
}

// writeStateFile writes a file of the state folder atomically and durably. It returns the
// file's path relative to the project's root, with slashes.
func (e *Engine) writeStateFile(in, name string, data []byte) (path string, err error) {
	path = project.StateDir + "/" + in + "/" + name
	dir, err := e.stateFolder(in)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	if err := safefile.Replace(dir, name, data, 0o600); err != nil {
		return "", errStateWrite(path, err)
	}
	return path, nil
}

// stateFolder opens a folder of the state folder and creates it if needed.
func (e *Engine) stateFolder(name string) (*os.Root, error) {
	state, err := e.openState()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	dir, err := safefile.MakeDirIn(state, name)
	if err != nil {
		return nil, errStateWrite(project.StateDir+"/"+name, err)
	}
	return dir, nil
}

// openState opens the state folder and creates it if needed.
//
// # Errors
//
// state-unsafe if it is not a folder or belongs to another user, and
// state-file-unwritable.
func (e *Engine) openState() (*os.Root, error) {
	state, err := safefile.OpenState(e.project.State())
	switch {
	case safefile.Unsafe(err):
		return nil, errs.New(errs.StateUnsafe, "%s cannot be used: %w", e.project.State(), err).With("path", e.project.State())
	case err != nil:
		return nil, errStateWrite(project.StateDir, err)
	}
	return state, nil
}

func errStateWrite(path string, err error) error {
	return errs.New(errs.StateFileUnwritable, "%s cannot be kept: %w", path, safefile.Reason(err)).With("path", path)
}

// absolute returns the absolute path of a file that writeStateFile has written.
func (e *Engine) absolute(path string) string {
	return filepath.Join(e.project.Root, filepath.FromSlash(path))
}

// Folders in the state folder.
const (
	reportsFolder = "reports" // reports of spawned agents, by run, and of commands, by task and round
	handoffFolder = "handoff" // input for the next round, by task and round
)

// AdapterNames lists the adapters that the project can use.
func (e *Engine) AdapterNames(ctx context.Context) ([]string, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return nil, err
	}
	catalog, err := e.catalog(ctx, config)
	if err != nil {
		return nil, err
	}
	return catalog.Names(), nil
}

// Installed lists the built-in adapters whose programs are installed.
func (e *Engine) Installed() []string {
	installed := []string{}
	catalog := adapter.NewCatalog()
	for _, name := range catalog.Names() {
		if name == project.AdapterExec {
			continue // It has no program to look for.
		}
		a, err := catalog.Get(name)
		if err == nil {
			_, err = a.Binary(e.environ, e.project.Root, nil)
		}
		if err == nil {
			installed = append(installed, name)
		}
	}
	return installed
}

// AgentNames lists the agents that Spawn can run.
func (e *Engine) AgentNames() []string {
	var names []string
	for _, listed := range (definition.Library{Root: e.project.Root}).List() {
		if listed.Err == nil && listed.Definition.Spawnable(profile.Report) == nil {
			names = append(names, listed.Name)
		}
	}
	return names
}
