// Package agents has the agents and adapters of a project, their settings and confinement,
// and the meaning of their failures. It does not start agents.
package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/spawner"
)

const maxAdapter = 1 << 20 // bytes

// Catalog returns the adapters that are built in or that the project defines.
func Catalog(ctx context.Context, p *core.Project, config project.Config) (*adapter.Catalog, error) {
	var own []*adapter.Adapter
	for _, path := range config.Spawn.Adapters {
		data, err := p.AtRoot().Read(ctx, path, maxAdapter)
		if err != nil {
			return nil, errs.New(errs.CodeOf(err), "spawn.adapters in %s: %w", project.ConfigFile, err).With("path", path).
				WithHint("name a file that docs/adapters.md describes")
		}
		a, err := adapter.Parse(data)
		if f, ok := errors.AsType[*errs.Error](err); ok {
			err = errs.New(f.Code, "%s: %w", path, f).With("path", path).With("problems", f.Details["problems"])
		}
		if err != nil {
			return nil, err
		}
		own = append(own, a)
	}
	return adapter.NewCatalog(own...), nil
}

// Settings returns the spawn settings of an agent. with is an adapter that overrides the
// configured one, unless it is "".
func Settings(config project.Config, name, with string) project.SpawnAgent {
	s := config.Spawn.For(name)
	if with != "" && with != s.Adapter {
		// A model name is only valid for its adapter.
		s.Adapter, s.Fallback, s.Model = with, nil, ""
	}
	return s
}

// CheckAvailable fails if an adapter of an agent lacks its profile, or if none has its program
// and the caller cannot run the agent. with is as in Settings. It changes nothing.
func CheckAvailable(ctx context.Context, p *core.Project, config project.Config, name, with string, may profile.Profile) error {
	catalog, err := Catalog(ctx, p, config)
	if err != nil {
		return err
	}
	return CheckPrograms(p, config, catalog, Settings(config, name, with), may)
}

// CheckPrograms is CheckAvailable for an agent with settings.
func CheckPrograms(p *core.Project, config project.Config, catalog *adapter.Catalog, set project.SpawnAgent, may profile.Profile) error {
	found := set.ManualFallback && may != profile.Edit // No caller runs an agent that edits.
	var missing error
	for _, name := range set.AdapterChain() {
		a, err := catalog.Get(name)
		if err == nil {
			err = a.Allows(may)
		}
		if err != nil {
			return err
		}
		_, err = a.Binary(p.Environ, p.Root, config.Spawn.Command)
		found = found || err == nil
		missing = cmp.Or(missing, err)
	}
	if found {
		return nil
	}
	return missing
}

// FindForRun returns the definition of an agent that Run starts, and its profile: an agent
// that drafts must be allowed to edit, any other has the profile of its definition.
func FindForRun(library definition.Library, name string, drafts bool) (definition.Definition, profile.Profile, error) {
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

// FallbackMayHelp reports whether another way of running an agent may succeed. It cannot
// if the agent is not trustworthy or has used up its limits.
func FallbackMayHelp(v outcome.Verdict) bool {
	switch v.Class {
	case outcome.RateLimit, outcome.Overloaded, outcome.Quota, outcome.Auth, outcome.NotFound, outcome.Config, outcome.Timeout, outcome.Crashed, outcome.Refused:
		return !v.Changed
	default:
		return false
	}
}

// LoginErrorCode returns the error code of a run that failed because of a login or an
// account, else "". If it changed the working tree and was not to edit it, that is reported
// instead.
func LoginErrorCode(v outcome.Verdict) errs.Code {
	switch {
	case v.Changed:
		return ""
	case v.Class == outcome.Auth:
		return errs.SpawnAuth
	case v.Class == outcome.Quota:
		return errs.SpawnQuota
	}
	return ""
}

// ErrFailed returns the error of a run that failed: spawn-auth, spawn-quota or spawn-failed,
// with the details of the run. set are the agent's settings.
func ErrFailed(res spawner.Result, set project.SpawnAgent) error {
	text := fmt.Sprintf("%s came to nothing with %s: %s", res.Record.Agent, res.Record.Adapter, res.Verdict.Reason.Message())
	said := res.Record.Said()
	if n := len(said); n > 0 {
		text += fmt.Sprintf(" (%s)", said[n-1])
	}
	f := errs.New(cmp.Or(LoginErrorCode(res.Verdict), errs.SpawnFailed), "%s", text).
		With("run", res.Run).With("reason", string(res.Verdict.Reason)).With("class", string(res.Verdict.Class)).With("said", said).
		With("adapter", res.Record.Adapter).With("exit_code", res.Record.ExitCode).With("stderr", res.Record.StderrExcerpt)
	if len(res.Record.Changed) > 0 {
		f = f.With("changed", res.Record.Changed)
	}
	if set.ManualFallback && FallbackMayHelp(res.Verdict) {
		f = f.With("next_action", api.ActionManualFallback)
	}
	return f
}
