package pluginset

import (
	"context"
	"io"
	"os"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/plugins"
)

// compiledRuns is the maximum number of measured runs that compile, which can take a
// second.
const compiledRuns = 5

// maxMeasured limits the time that is spent on each measurement.
const maxMeasured = 10 * time.Second

// Bench measures a plugin on a report, each cost up to runs times.
func (s *Set) Bench(ctx context.Context, ref api.ReportRef, stdin io.Reader, runs int) (api.Benchmark, error) {
	config, err := s.Config(ctx, ref)
	if err != nil {
		return api.Benchmark{}, err
	}
	b, err := s.Resolver(config).bench(ctx, ref, stdin, runs)
	return b, errs.With(err, "report", ref.Path)
}

func (r *Resolver) bench(ctx context.Context, ref api.ReportRef, stdin io.Reader, runs int) (b api.Benchmark, err error) {
	ready, err := r.prepare(ctx, ref, stdin)
	if err != nil {
		return b, err
	}
	dir, err := os.MkdirTemp("", "switchyard-bench-")
	if err != nil {
		return b, errs.New(errs.FileUnwritable, "failed to create a temporary directory for the cache: %w", err).With("path", os.TempDir()).
			WithHint("set TMPDIR to a directory that can be written")
	}
	defer os.RemoveAll(dir)
	b = api.Benchmark{Plugin: ready.plugin.Identity(), Report: ready.report, Bytes: len(ready.document.Bytes())}
	cold := func(cache string) func() error {
		return func() error {
			r := plugins.New(plugins.Config{Limits: ready.limits, CacheDir: cache})
			p, err := load(ctx, r, ready.plugin)
			if err == nil {
				_, err = p.Normalize(ctx, ready.document, ready.config)
			}
			if err != nil {
				return err
			}
			return r.Close(ctx)
		}
	}
	warm := func() error {
		result, err := ready.plugin.Normalize(ctx, ready.document, ready.config)
		b.Findings, b.Skipped = len(result.Findings), len(result.Skipped)
		return err
	}
	guest := func() error {
		reply, err := ready.plugin.Ask(ctx, ready.document, ready.config)
		b.Memory = reply.Memory
		return err
	}
	if b.Compiled, err = timed(min(runs, compiledRuns), cold("")); err != nil {
		return b, err
	}
	for _, m := range []struct {
		into *api.Timing
		work func() error
	}{{&b.Cached, cold(dir)}, {&b.Warm, warm}, {&b.Guest, guest}} {
		if err := m.work(); err != nil { // The first run fills caches.
			return b, err
		}
		if *m.into, err = timed(runs, m.work); err != nil {
			return b, err
		}
	}
	if b.Findings > 0 {
		n := b.Warm.Median / int64(b.Findings)
		b.PerFinding = &n
	}
	return b, nil
}

// load loads a plugin into another runtime, as the engine would.
func load(ctx context.Context, r *plugins.Runtime, p *plugins.Plugin) (*plugins.Plugin, error) {
	if catalog := plugins.NewCatalog(r); catalog.Is(p) {
		return catalog.Named(p.Identity().Name)
	}
	return r.Load(ctx, p.Module())
}

// timed runs work at least once and returns the times.
func timed(runs int, work func() error) (api.Timing, error) {
	all := make([]time.Duration, 0, runs)
	for first := time.Now(); len(all) < runs && (len(all) == 0 || time.Since(first) < maxMeasured); {
		start := time.Now()
		if err := work(); err != nil {
			return api.Timing{}, err
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return api.Timing{Runs: len(all), Min: all[0].Nanoseconds(), Median: all[len(all)/2].Nanoseconds()}, nil
}
