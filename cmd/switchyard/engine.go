package main

import (
	"context"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins"
)

// with runs a command's work on an engine for the project that the flags name, and
// publishes what it recorded, also where it failed in the end.
func (a *app) with(ctx context.Context, work func(*host.Engine) error) error {
	p, err := a.project()
	if err != nil {
		return err
	}
	e := a.engine(p)
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	defer a.publish(ctx, e)
	return work(e)
}

// ask runs work that has a result on an engine.
func ask[T any](ctx context.Context, a *app, work func(*host.Engine) (T, error)) (T, error) {
	var result T
	err := a.with(ctx, func(e *host.Engine) (err error) {
		result, err = work(e)
		return err
	})
	return result, err
}

// engine is one for a project. The caller must close it.
func (a *app) engine(p project.Project) *host.Engine {
	return host.New(host.Options{
		Project: p,
		Plugins: plugins.Config{CacheDir: cacheDir()},
		Now:     time.Now,
		By:      a.by(),
		Environ: os.Environ(),
		Engine:  a.policyEngine,
		Observe: a.progress.see,
		Warn:    a.warn,
	})
}
