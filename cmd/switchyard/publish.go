package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// publishing is how long a command stays for its metrics, in total. What it recorded
// is durable by then, and told.
const publishing = 2 * time.Second

// publish brings a project's metrics to where its configuration wants them, once
// something was recorded. What goes wrong with that is a warning: the command did its
// work, and the next one brings the same sums and more.
func (a *app) publish(ctx context.Context, e *host.Engine, p project.Project) {
	if !e.Recorded() || ctx.Err() != nil {
		return
	}
	config, err := e.UncheckedConfig(ctx)
	if err != nil {
		a.warn(fmt.Errorf("the metrics are not published: %w", err))
		return
	}
	way := config.Metrics
	switch {
	case !way.IsSet():
		return
	case way.Foreign:
		a.warn(fmt.Errorf("the metrics are not published: %s belongs to user %d, so that where they go is not your word", project.ConfigFile, way.Owner))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, publishing)
	defer cancel()
	if way.Textfile != "" {
		if _, err := a.writeTextfile(ctx, e, rooted(p, way.Textfile), nil); err != nil {
			a.warn(err)
		}
	}
	if way.Push != "" {
		to, err := pushTarget(p, way)
		if err == nil {
			_, err = a.push(ctx, e, p, to, nil, publishing)
		}
		if err != nil {
			a.warn(fmt.Errorf("the metrics are not pushed: %w", err))
		}
	}
}

// rooted is a path of the configuration, which is relative to the project's root.
func rooted(p project.Project, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.Root, path)
}
