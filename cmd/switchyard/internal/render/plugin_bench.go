package render

import (
	"time"

	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins"
)

// BenchmarkResult is the cost of a plugin on one report. Sizes are in bytes, times in
// nanoseconds.
type BenchmarkResult struct {
	Plugin   plugins.Identity `json:"plugin"`
	Report   string           `json:"report"`
	Bytes    int              `json:"report_bytes"` // of the document that the plugin gets
	Findings int              `json:"findings"`
	Skipped  int              `json:"skipped"`
	Compiled Timing           `json:"cold_compiled"`
	Cached   Timing           `json:"cold_cached"`
	Warm     Timing           `json:"warm"`
	Guest    Timing           `json:"warm_guest"`
	// PerFinding is the warm median divided by the findings, nil if there are none.
	PerFinding *int64 `json:"per_finding_ns"`
	// Memory is the guest's memory at the end of a call.
	Memory int64 `json:"memory"`
}

// Timing is the shortest and the median time of a number of runs.
type Timing struct {
	Runs   int   `json:"runs"`
	Min    int64 `json:"min_ns"`
	Median int64 `json:"median_ns"`
}

// Benchmark prints the cost of a plugin.
func (p *Printer) Benchmark(b BenchmarkResult) {
	p.Line("%s %s  %s, %d skipped, a report of %s", p.Paint(Bold, b.Plugin.Name), b.Plugin.Version,
		textutil.Count(b.Findings, "finding"), b.Skipped, Size(int64(b.Bytes)))
	p.Line("")
	var rows [][]cell
	for _, t := range []struct {
		name string
		Timing
	}{{"cold, compiled", b.Compiled}, {"cold, cached", b.Cached}, {"warm", b.Warm}, {"warm, guest", b.Guest}} {
		rows = append(rows, []cell{{t.name, Plain}, {textutil.Count(t.Runs, "run"), Plain}, {nanoseconds(t.Min), Plain}, {nanoseconds(t.Median), Plain}})
	}
	p.table([]string{"MEASURED", "OVER", "MIN", "MEDIAN"}, rows)
	p.Line("")
	if b.PerFinding != nil {
		p.Line("per finding  %s, the warm median over %s", nanoseconds(*b.PerFinding), textutil.Count(b.Findings, "finding"))
	}
	p.Line("memory       %s at the end of a call", Size(b.Memory))
}

// nanoseconds formats a time with about three digits.
func nanoseconds(n int64) string {
	d := time.Duration(n)
	for unit := time.Nanosecond; unit < time.Second; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}
