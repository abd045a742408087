package agents

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

// CheckConfinement fails if agents of a task cannot be confined in a working tree as the
// settings want it, so that a command fails before anything runs. It tries a required level.
//
// # Errors
//
// confine-path-invalid, confine-host-invalid, confine-unavailable and confine-failed.
func CheckConfinement(p *core.Project, config project.Config, id, tree string) error {
	s := config.Spawn.Confine
	process, err := access.New(s, Site(p, config, id, tree), access.Needs{})
	if err != nil {
		return err
	}
	process.Close()
	if !s.Required {
		return nil
	}
	return sandbox.Probe(s.Level)
}

// Site returns where a process runs in a working tree, for the task id.
func Site(p *core.Project, config project.Config, id, tree string) access.Site {
	return access.Site{
		Root: p.Root, Tree: tree, State: p.State(), Environ: p.Environ,
		Deciding: slices.Concat(worktree.EffectiveFiles(), decidingFiles(p, config, id)),
	}
}

// decidingFiles returns the files that affect later rounds of a task, as far as the settings
// name them. id is "" outside any task.
func decidingFiles(p *core.Project, config project.Config, id string) []string {
	effective := slices.Concat([]string{config.Policy, config.Spawn.PlanOf(id)}, config.PluginPaths, config.Spawn.Adapters)
	for _, key := range config.TrustKeys {
		effective = append(effective, key.File)
	}
	for _, word := range config.Spawn.Command {
		if _, isFile := CommandFile(p, word); isFile {
			effective = append(effective, word)
		}
	}
	for i, path := range effective {
		effective[i] = filepath.Clean(path)
	}
	return effective
}

// CommandFile returns the absolute path of a word of a command, and whether a file has that
// path: the word may also be an option or a program.
func CommandFile(p *core.Project, word string) (path string, isFile bool) {
	path = p.AtRoot().Abs(word)
	info, err := os.Stat(path)
	return path, err == nil && info.Mode().IsRegular()
}

// Scope returns the paths that count as a change of the working tree while agents run for a
// task, or outside any task if id is "". It ignores files that other processes change, and
// always includes decidingFiles.
func Scope(p *core.Project, config project.Config, id, tree string) (worktree.Scope, error) {
	ignored, err := ignoredPaths(config, tree)
	if gone, ok := errors.AsType[*errs.Error](err); ok && gone.Code == errs.TreeUnreadable && tree != p.Root && errors.Is(err, fs.ErrNotExist) {
		err = gone.WithHint("switchyard run TASK makes the task's worktree again, and continues there")
	}
	if err != nil {
		return worktree.Scope{}, err
	}
	return worktree.Scope{IgnorePaths: ignored, AlwaysTracked: decidingFiles(p, config, id), TaskTree: tree != p.Root}, nil
}

// ignoredPaths lists the paths that other processes change: the metrics file with its draft
// and lock, and the directory for temporary files if it is in the working tree.
func ignoredPaths(config project.Config, tree string) (ignored []string, err error) {
	if file := config.Metrics.Textfile; file != "" {
		dir, name := filepath.Split(file)
		ignored = append(ignored, file, dir+"."+name+".draft", dir+"."+name+".lock")
	}
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err == nil && !filepath.IsAbs(temp) { // Git runs in other directories.
		err = errors.New("its path is relative")
	}
	if err != nil {
		return nil, errs.New(errs.SpawnFolderFailed, "the directory for temporary files cannot be used: %w", safefile.Reason(err))
	}
	root, err := filepath.EvalSymlinks(tree)
	if err != nil { // A command may have removed it.
		return nil, errs.New(errs.TreeUnreadable, "the working tree %s cannot be read: %w", tree, safefile.Reason(err)).With("path", tree)
	}
	switch rel, err := filepath.Rel(root, temp); {
	case err != nil || !filepath.IsLocal(rel):
		return ignored, nil
	case rel == ".":
		return nil, errs.New(errs.SpawnFolderFailed, "the directory for temporary files is the working tree itself, so an agent's changes could not be detected")
	default:
		return append(ignored, rel+"/"), nil
	}
}
