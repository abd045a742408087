package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// checkSettings has each configured plugin read its settings, so that a mistake in
// them shows before the plugin is needed. A plugin reads its settings before the
// report, so the report may be one that every plugin refuses.
//
// Those that the project brings along are only asked if all is true: a project whose
// own plugins are broken can use the others.
func (s *shelf) checkSettings(ctx context.Context, all bool) error {
	nothing, err := document.Parse([]byte("null"), document.Limits{})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.config.Plugins)) {
		entry := s.config.Plugins[name]
		if !all && !s.builtin.Has(cmp.Or(entry.Use, name)) {
			continue
		}
		p, err := s.named(ctx, name)
		if err == nil { // Else whatever loads it says why.
			_, err = p.Normalize(ctx, nothing, entry.Settings)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if f, ok := errors.AsType[*errs.Error](err); ok && f.Code == errs.PluginConfigInvalid {
			f.Message = fmt.Sprintf("%s: plugins.%s: %s", project.ConfigFile, name, f.Message)
			return f
		}
	}
	return nil
}
