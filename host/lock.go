package host

import (
	"context"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// Locked is what LockPlugins has done.
type Locked struct {
	// Pins are those of the new lock, by path, and Before those of the old one.
	Pins, Before []project.Pin
	// Unreadable says why the old lock is not known, nil where it is.
	Unreadable error
}

// LockPlugins pins the plugins that the project brings along as they are now. An
// old lock that cannot be read is replaced like any other.
func (e *Engine) LockPlugins(ctx context.Context) (Locked, error) {
	// The lock is where the names of the project's plugins come from.
	config, err := e.UncheckedConfig(ctx)
	if err != nil {
		return Locked{}, err
	}
	shelf := e.newShelf(config)
	shelf.lock = &project.Lock{} // What was pinned so far does not matter.
	files, err := shelf.configured(ctx)
	if err != nil {
		return Locked{}, err
	}
	if len(files) == 0 {
		return Locked{}, errs.New(errs.PluginNothingToLock, "%s names no plugin_paths", project.ConfigFile)
	}
	if _, err := shelf.add(ctx, shelf.builtin, files); err != nil {
		return Locked{}, err
	}
	before, unreadable := e.project.Lock(ctx)
	if ctx.Err() != nil {
		return Locked{}, context.Cause(ctx)
	}
	now := project.Lock{}
	for path, p := range shelf.files {
		rel, _ := e.project.Rel(path)
		id := p.Identity()
		now.Plugins = append(now.Plugins, project.Pin{Path: rel, Name: id.Name, Version: id.Version, Digest: id.Digest})
	}
	slices.SortFunc(now.Plugins, func(a, b project.Pin) int { return strings.Compare(a.Path, b.Path) })
	return Locked{Pins: now.Plugins, Before: before.Plugins, Unreadable: unreadable}, e.project.WriteLock(now)
}
