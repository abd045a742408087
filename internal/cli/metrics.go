package cli

import (
	"context"
	"runtime"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/buildinfo"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/metrics"
	"github.com/switchyard-dev/switchyard/policies"
)

// Metrics returns the metrics of a project.
func Metrics(e *host.Engine, p project.Project) metrics.Project {
	return metrics.Project{
		Engine: e, Root: p.Root, State: p.State(),
		Policy: func(ctx context.Context) (*policies.Policy, error) { return e.Policies().Load(ctx, "", true) },
		Build:  metrics.Build{Version: buildinfo.Read().Version, Go: runtime.Version()},
	}
}

// Publish exports the metrics of a project to the configured destinations if the engine has
// recorded something. A failure is only a warning: the command did its work, and the next
// one exports the same counters. It does its work even if ctx is done: an interrupt, which is
// how a run is stopped, ends a command that has recorded events.
func Publish(ctx context.Context, e *host.Engine, p project.Project, warn func(error)) {
	if !e.Recorded() {
		return
	}
	switch err := Metrics(e, p).Publish(context.WithoutCancel(ctx)).(type) {
	case nil:
	case interface{ Unwrap() []error }:
		for _, err := range err.Unwrap() {
			warn(err)
		}
	default:
		warn(err)
	}
}
