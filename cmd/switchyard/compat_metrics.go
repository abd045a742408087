package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// loopMetrics is what loop-metrics prints.
type loopMetrics struct {
	Tasks      int              `json:"tasks_with_loop"`
	Rounds     int              `json:"total_rounds"`
	Average    float64          `json:"average_rounds"`
	Stuck      int              `json:"stuck_count"`
	Committed  int              `json:"commit_count"`
	Routes     map[string]int   `json:"route_distribution"`
	Categories map[string]int   `json:"finding_categories"`
	Histogram  map[int]int      `json:"rounds_histogram"`
	Corrupt    []loopUnreadable `json:"corrupt_checkpoints"`
	Overrides  int              `json:"overrides"`
}

// loopUnreadable is a task that could not be counted. A task has no file of its
// own, so that its id stands for the path.
type loopUnreadable struct {
	Path    string    `json:"path"`
	Reason  errs.Code `json:"reason"`
	Message string    `json:"message"`
}

func newLoopMetricsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "loop-metrics",
		Short: "Count tasks, rounds, routes and findings",
		Long:  "Loop-metrics counts what all tasks of the project came to, committed ones included.",
		Args:  noArgs,
	}
	cmd.RunE = a.compatE(func(ctx context.Context, _ []string) (any, error) {
		s, err := ask(ctx, a, func(e *host.Engine) (host.Summary, error) { return e.Summary(ctx) })
		if err != nil {
			return nil, err
		}
		return loopMetricsOf(s), nil
	})
	return cmd
}

func loopMetricsOf(s host.Summary) loopMetrics {
	m := loopMetrics{
		Tasks: s.Tasks, Rounds: s.Rounds, Average: s.Average, Stuck: s.Stuck, Committed: s.Committed,
		Routes: s.Routes, Categories: s.Categories, Histogram: s.Histogram, Overrides: s.Overrides,
	}
	for _, u := range s.Unreadable {
		m.Corrupt = append(m.Corrupt, loopUnreadable{Path: u.TaskID, Reason: u.Err.Code, Message: u.Err.Message})
	}
	return m
}
