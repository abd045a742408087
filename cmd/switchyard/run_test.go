package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func TestTasksExit(t *testing.T) {
	for ends, want := range map[string]int{
		"":                        0,
		"commit commit":           0,
		"commit stuck blocked":    14,
		"askuser commit askuser":  12,
		"parked blocked":          16,
		"commit blocked":          15,
		"blocked":                 15,
		"parked stuck":            15,
		"spawn-agent-tool commit": 15,
		"stuck failed":            1,
		"failed":                  1,
	} {
		var results []api.RunResult
		for _, action := range strings.Fields(ends) {
			results = append(results, api.RunResult{NextAction: action})
		}
		if got := cli.TasksExit(results); got != want {
			t.Errorf("%q exits with %d, want %d", ends, got, want)
		}
	}
}

// hostile is a text that must reach neither a terminal nor a line of its own.
const hostile = "a\x1b[2J\nb\u202e"

// hostileEvents returns an event of each kind, with hostile text in it.
func hostileEvents() []api.RunEvent {
	branch := &task.Branch{Name: hostile, Worktree: "/w/\xff" + hostile}
	events := []api.RunEvent{
		{Event: api.RunStarted, Branch: branch},
		{Event: api.RunResumed},
		{Event: api.RunNotice, Message: hostile},
		{Event: api.RunAgent, Agent: &api.SpawnSummary{Agent: hostile, Adapter: hostile}},
		{Event: api.RunDecided, Decision: &api.RoundResult{Decision: api.Decision{NextAction: "executor", Reason: hostile}}},
		{Event: api.RunAsked, Questions: []task.Question{{Text: hostile}}},
		{Event: api.RunAnswered},
		{Event: api.RunParked, Until: hostile},
		{Event: api.RunCommitted, Commit: "abc", Subject: hostile},
		{Event: api.RunMerged, Merge: &task.Merge{Into: hostile, Outcome: task.MergeConflict}},
		{Event: api.RunPushed, Message: hostile},
	}
	for i := range events {
		events[i].TaskID = "T"
	}
	return events
}

// TestRunOutput checks that each event is one clean line, as text and as JSON, and that the
// result has its error with a hint.
func TestRunOutput(t *testing.T) {
	events := hostileEvents()
	failed := api.RunResult{TaskID: "T", NextAction: api.ActionFailed, Error: errs.New(errs.FileNotFound, "%s is missing", hostile)}
	for _, format := range []cli.OutputFormat{cli.OutputText, cli.OutputJSON} {
		var out bytes.Buffer
		_, o, cancel := (&app{Program: cli.Program{Streams: cli.Streams{Out: &out, Err: io.Discard}, Output: format}, progress: progress{tasks: true}}).newRunOutput(t.Context())
		defer cancel()
		for _, e := range events {
			o.writeEvent(e)
		}
		o.writeEnded(failed)
		if o.err != nil {
			t.Error(o.err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != len(events)+1 {
			t.Errorf("%d lines for %d events:\n%s", len(lines), len(events)+1, out.String())
		}
		for i, line := range lines {
			if strings.ContainsAny(line, "\x1b\u202e") || format == cli.OutputText && !strings.HasPrefix(line, "T  ") {
				t.Errorf("line %d is %q", i, line)
			}
			var e api.RunEvent
			if format == cli.OutputJSON && json.Unmarshal([]byte(line), &e) != nil {
				t.Errorf("line %d is no object: %s", i, line)
			}
			if i == len(events) && format == cli.OutputJSON && (e.Event != api.RunEnded || e.Result.Error.Code != errs.FileNotFound || e.Result.Error.Hint == "") {
				t.Errorf("the result is %s", line)
			}
		}
	}
	if failed.Error.Hint != "" {
		t.Error("the result's error has been changed")
	}
}

// TestRunOutputFails checks that a run whose output is lost ends, and reports it.
func TestRunOutputFails(t *testing.T) {
	for _, format := range []cli.OutputFormat{cli.OutputText, cli.OutputJSON} {
		ctx, o, cancel := (&app{Program: cli.Program{Streams: cli.Streams{Out: brokenWriter{}, Err: io.Discard}, Output: format}}).newRunOutput(t.Context())
		defer cancel()
		o.writeEvent(api.RunEvent{TaskID: "T", Event: api.RunNotice})
		if err := context.Cause(ctx); errs.CodeOf(err) != errs.OutputFailed {
			t.Errorf("the run ends with %v", err)
		}
		if err := o.writeResult(api.RunResult{TaskID: "T", NextAction: "commit"}); errs.CodeOf(err) != errs.OutputFailed {
			t.Errorf("got %v", err)
		}
		if err := o.writeTable(nil); errs.CodeOf(err) != errs.OutputFailed {
			t.Errorf("got %v", err)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }
