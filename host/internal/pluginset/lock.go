package pluginset

import (
	"context"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// Lock pins the current plugins of the project. It also replaces an unreadable lock.
func (s *Set) Lock(ctx context.Context) (api.PluginLockResult, error) {
	// The lock provides the names of the project's plugins, so names cannot be checked.
	config, err := s.UncheckedConfig(ctx)
	if err != nil {
		return api.PluginLockResult{}, err
	}
	r := s.Resolver(config)
	r.lock = &project.Lock{} // The old pins do not matter.
	files, err := r.projectFiles(ctx)
	if err != nil {
		return api.PluginLockResult{}, err
	}
	if len(files) == 0 {
		return api.PluginLockResult{}, errs.New(errs.PluginNothingToLock, "%s names no plugin_paths", project.ConfigFile)
	}
	if _, err := r.add(ctx, r.builtin, files); err != nil {
		return api.PluginLockResult{}, err
	}
	before, unreadable := s.project.Lock(ctx)
	if ctx.Err() != nil {
		return api.PluginLockResult{}, context.Cause(ctx)
	}
	now := project.Lock{}
	for path, p := range r.files {
		rel, _ := s.project.Rel(path)
		id := p.Identity()
		now.Plugins = append(now.Plugins, project.Pin{Path: rel, Name: id.Name, Version: id.Version, Digest: id.Digest})
	}
	slices.SortFunc(now.Plugins, func(a, b project.Pin) int { return strings.Compare(a.Path, b.Path) })
	return api.PluginLockResult{
		Path: project.LockFile, Plugins: now.Plugins, Changes: pinChanges(before, now), Unreadable: unreadable,
	}, s.project.WriteLock(now)
}

func pinChanges(before, now project.Lock) []api.PinChange {
	var changes []api.PinChange
	for _, pin := range now.Plugins {
		switch old, known := before.Find(pin.Path); {
		case !known:
			changes = append(changes, api.PinChange{Pin: pin, Path: pin.Path, Change: api.PinAdded, After: &pin.Digest})
		case old.Digest != pin.Digest:
			changes = append(changes, api.PinChange{Pin: pin, Path: pin.Path, Change: api.PinChanged, Before: &old.Digest, After: &pin.Digest})
		}
	}
	for _, old := range before.Plugins {
		if _, known := now.Find(old.Path); !known {
			changes = append(changes, api.PinChange{Pin: old, Path: old.Path, Change: api.PinRemoved, Before: &old.Digest})
		}
	}
	return changes
}
