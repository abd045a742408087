package round

import (
	"context"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// agentRuns returns the runs of a task in the order of their start. A run that has not
// ended has no EndedAt.
func (r *taskRecord) agentRuns(ctx context.Context) ([]api.TranscriptEntry, error) {
	var runs []api.TranscriptEntry
	index := make(map[string]int)
	for e, err := range r.events(ctx, 1, task.KindSpawnBegun, task.KindSpawnEnded) {
		if err != nil {
			return nil, err
		}
		if begun, ok := e.Event.(*task.SpawnBegun); ok {
			for _, i := range begun.Intents {
				index[i.Run] = len(runs)
				runs = append(runs, api.TranscriptEntry{Run: i.Run, Role: i.Role, Agent: i.Agent, Adapter: i.Adapter, Round: i.Round})
			}
		}
		if spawn := e.Spawn; spawn != nil {
			if i, ok := index[spawn.RunID]; ok {
				runs[i].Outcome, runs[i].EndedAt, runs[i].Digest = spawn.Outcome, spawn.EndedAt, spawn.Transcript
			}
		}
	}
	return runs, nil
}

// savedTranscripts returns the latest runs of a task that have a transcript.
func (r *taskRecord) savedTranscripts(ctx context.Context) ([]api.TranscriptEntry, error) {
	runs, err := r.agentRuns(ctx)
	if err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(r api.TranscriptEntry) bool { return r.Digest == "" })
	return runs[max(len(runs)-maxSpawns, 0):], nil
}

// findRun returns the run that a user means.
func findRun(id, run string, runs []api.TranscriptEntry) (api.TranscriptEntry, error) {
	var ended, begins []api.TranscriptEntry
	for _, r := range runs {
		switch {
		case r.Run == run:
			return r, nil
		case (string(r.Role) == run || r.Agent == run) && r.EndedAt != "":
			ended = append(ended, r)
		case strings.HasPrefix(r.Run, run):
			begins = append(begins, r)
		}
	}
	switch {
	case run != "" && len(ended) > 0:
		return ended[len(ended)-1], nil
	case run != "" && len(begins) == 1:
		return begins[0], nil
	}
	err := errs.New(errs.RunUnknown, "task %s has no run %s", id, run)
	if len(begins) > 1 {
		err = errs.New(errs.RunUnknown, "%d runs of task %s begin with %q", len(begins), id, run)
	}
	known := []string{}
	for _, r := range runs[max(len(runs)-maxSpawns, 0):] {
		known = append(known, r.Run)
	}
	return api.TranscriptEntry{}, err.With("task", id).With("run", run).With("known", known)
}
