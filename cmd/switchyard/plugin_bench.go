package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Numbers of measured runs. Compiling can take a second, so it is repeated less often.
const (
	defaultRuns  = 50
	maxRuns      = 10_000
	compiledRuns = 5
)

// maxMeasured limits the time that is spent on each measurement.
const maxMeasured = 10 * time.Second

func newPluginBenchCmd(a *app) *cobra.Command {
	runs := defaultRuns
	cmd := &cobra.Command{
		Use:   "bench PLUGIN REPORT",
		Short: "Measure what a plugin costs on a report",
		Long: `Bench measures how long a plugin takes for a report, with the project's settings:

  cold, compiled   in a new runtime, without a code cache
  cold, cached     in a new runtime, its code from the cache
  warm             in a new instance of a plugin that is loaded
  warm, guest      the plugin's part of that, without the host's checks

Each ends with the findings that a round would merge. Reading the report from disk
and checking its format is not measured. The shortest time shows the cost of the
work, the median what to expect on this machine. The cost per finding is the warm
median divided by the findings. The cache is a temporary folder that is removed
afterwards. A slow plugin is measured less often: each measurement takes at most
ten seconds.

PLUGIN may also be auto. REPORT - is standard input.`,
		Example: `  switchyard plugin bench sarif lint.sarif
  switchyard plugin bench ./my-linter.wasm report.json --runs 200 --output json`,
		Args: exactly("the PLUGIN", "the REPORT"),
	}
	numberVar(cmd.Flags(), &runs, "runs", 1, maxRuns, "measure `N` times; compiling at most 5 times", fmt.Sprintf("it is from 1 to %d", maxRuns))
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			ready, err := e.Plugins().Prepare(ctx, api.ReportRef{Plugin: args[0], Path: args[1]}, a.in)
			if err != nil {
				return err
			}
			done := a.waiting("measuring " + args[0])
			b, err := measure(ctx, ready, runs)
			done()
			if f, ok := errors.AsType[*errs.Error](err); ok {
				err = f.With("report", args[1])
			}
			if err != nil {
				return err
			}
			return show(a, b, (*render.Printer).Benchmark)
		})
	})
	return cmd
}

// measure runs a plugin on a report, cold and warm.
func measure(ctx context.Context, ready plugins.PreparedReport, runs int) (b render.BenchmarkResult, err error) {
	dir, err := os.MkdirTemp("", "switchyard-bench-")
	if err != nil {
		return b, errs.New(errs.FileUnwritable, "no temporary folder for the cache: %w", err).With("path", os.TempDir()).
			WithHint("set TMPDIR to a folder that can be written")
	}
	defer os.RemoveAll(dir)
	b = render.BenchmarkResult{Plugin: ready.Plugin.Identity(), Report: ready.Report, Bytes: len(ready.Document.Bytes())}
	cold := func(cache string) func() error {
		return func() error {
			r := plugins.New(plugins.Config{Limits: ready.Limits, CacheDir: cache})
			p, err := load(ctx, r, ready.Plugin)
			if err == nil {
				_, err = p.Normalize(ctx, ready.Document, ready.Config)
			}
			if err != nil {
				return err
			}
			return r.Close(ctx)
		}
	}
	warm := func() error {
		result, err := ready.Plugin.Normalize(ctx, ready.Document, ready.Config)
		b.Findings, b.Skipped = len(result.Findings), len(result.Skipped)
		return err
	}
	guest := func() error {
		reply, err := ready.Plugin.Ask(ctx, ready.Document, ready.Config)
		b.Memory = reply.Memory
		return err
	}
	for _, m := range []struct {
		into  *render.Timing
		runs  int
		first bool // run once before, unmeasured
		work  func() error
	}{
		{&b.Compiled, min(runs, compiledRuns), false, cold("")},
		{&b.Cached, runs, true, cold(dir)},
		{&b.Warm, runs, true, warm},
		{&b.Guest, runs, true, guest},
	} {
		if m.first {
			if err := m.work(); err != nil {
				return b, err
			}
		}
		if *m.into, err = timed(m.runs, m.work); err != nil {
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
func timed(runs int, work func() error) (render.Timing, error) {
	all := make([]time.Duration, 0, runs)
	for first := time.Now(); len(all) < runs && (len(all) == 0 || time.Since(first) < maxMeasured); {
		start := time.Now()
		if err := work(); err != nil {
			return render.Timing{}, err
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return render.Timing{Runs: len(all), Min: all[0].Nanoseconds(), Median: all[len(all)/2].Nanoseconds()}, nil
}
