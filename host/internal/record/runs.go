package record

import (
	"context"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// runs returns the runs of a task in the order of their start. A run that has not
// ended has no EndedAt.
func (r *Task) runs(ctx context.Context) ([]api.TranscriptEntry, error) {
	var runs []api.TranscriptEntry
	index := make(map[string]int)
	for e, err := range r.Events(ctx, 1, task.KindSpawnBegun, task.KindSpawnEnded) {
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

// Transcripts returns the latest runs of a task that have a transcript which still exists.
func (r *Task) Transcripts(ctx context.Context, exists func(digest string) bool) ([]api.TranscriptEntry, error) {
	runs, err := r.runs(ctx)
	if err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(r api.TranscriptEntry) bool { return r.Digest == "" || !exists(r.Digest) })
	return runs[max(len(runs)-maxSpawns, 0):], nil
}

// Run returns the run that a user names: by its id, by a prefix of it, or by a role or agent,
// which means its latest run that has ended.
//
// # Errors
//
// run-unknown, and errors of the ledger.
func (r *Task) Run(ctx context.Context, run string) (api.TranscriptEntry, error) {
	runs, err := r.runs(ctx)
	if err != nil {
		return api.TranscriptEntry{}, err
	}
	var ended, begins []api.TranscriptEntry
	for _, known := range runs {
		switch {
		case known.Run == run:
			return known, nil
		case (string(known.Role) == run || known.Agent == run) && known.EndedAt != "":
			ended = append(ended, known)
		case strings.HasPrefix(known.Run, run):
			begins = append(begins, known)
		}
	}
	switch {
	case run != "" && len(ended) > 0:
		return ended[len(ended)-1], nil
	case run != "" && len(begins) == 1:
		return begins[0], nil
	}
	unknown := errs.New(errs.RunUnknown, "task %s has no run %s", r.ID, run)
	if len(begins) > 1 {
		unknown = errs.New(errs.RunUnknown, "%d runs of task %s begin with %q", len(begins), r.ID, run)
	}
	ids := []string{}
	for _, known := range runs[max(len(runs)-maxSpawns, 0):] {
		ids = append(ids, known.Run)
	}
	return api.TranscriptEntry{}, unknown.With("task", r.ID).With("run", run).With("known", ids)
}

// Attestation returns the attestation of an agent's run in any round, or the zero one. A run
// that was attested is not evidence for another round.
func (r *Task) Attestation(ctx context.Context, agent, run string) (attestation task.Attestation, err error) {
	if run == "" {
		return attestation, nil
	}
	known, err := entry[task.Attestation](ctx, r, runKey(agent, run))
	if known != nil {
		attestation = *known
	}
	return attestation, err
}

// Attestations lists the task's attestations, oldest first.
func (r *Task) Attestations(ctx context.Context) ([]api.AttestationEntry, error) {
	attestations := []api.AttestationEntry{}
	for e, err := range r.Events(ctx, 1, task.KindAttested) {
		if err != nil {
			return nil, err
		}
		attestations = append(attestations, api.AttestationEntry{
			Attestation: e.Event.(*task.AgentAttested).Attestation, At: e.Stored.At, Event: api.EventRef{N: e.Stored.N, Hash: e.Stored.Hash},
		})
	}
	return attestations, nil
}

// EndedRun returns the record of a run that has ended.
func (r *Task) EndedRun(ctx context.Context, run string) (outcome.Record, error) {
	for record, err := range r.Spawns(ctx, 1) {
		if err != nil || record.RunID == run {
			return record, err
		}
	}
	return outcome.Record{}, event.Tampered(r.ID, "run %s has a receipt but no record", run)
}
