package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// pollInterval is the time between two reads of the running tasks.
const pollInterval = time.Second

// follow prints the changes of tasks until all have ended, and then their results.
func (a *app) follow(ctx context.Context, c client.Client, project string, tasks []api.RunTask, several bool) error {
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE) // A write returns an error then.
	defer signal.Stop(pipe)

	shown := make(map[string]flow.Position)
	results := make([]api.RunResult, len(tasks))
	left := len(tasks)
	waits := false // for the server
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		var ids []string
		for i, t := range tasks {
			if results[i].TaskID == "" {
				ids = append(ids, t.ID)
			}
		}
		now, err := readLatest(ctx, c, project, ids)
		unreachable := errs.CodeOf(err) == errs.FleetServerUnreachable
		if err != nil && !unreachable {
			return err
		}
		if unreachable && !waits { // The tasks go on without this command; the server may come back.
			a.warn(fmt.Errorf("%w; run tries again until it answers", err))
		}
		waits = unreachable
		for i := range tasks {
			t, ok := now[tasks[i].ID]
			if !ok {
				continue
			}
			if err := a.printChange(t, shown[t.id], several); err != nil {
				return err
			}
			if shown[t.id] = t.at; t.ended() {
				results[i] = t.result()
				left--
			}
		}
		if left == 0 {
			return a.printResults(results, several)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errs.New(errs.Interrupted, "interrupted; the tasks go on in the fleet").
				WithHint("switchyard-fleet status shows them, and switchyard-fleet stop TASK ends one")
		}
	}
}

// readLatest returns the tasks with these ids. The server's list may be outdated and have an
// earlier run of a task that was started again, so tasks that have ended are read by their ids.
func readLatest(ctx context.Context, c client.Client, project string, ids []string) (map[string]fleetTask, error) {
	now, err := readTasks(ctx, c, project, ids...)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if t, ok := now[id]; ok && t.ended() {
			if now[id], err = describe(ctx, c, project, id); err != nil {
				return nil, err
			}
		}
	}
	return now, nil
}

// printChange prints the events of a task since the position before.
func (a *app) printChange(t fleetTask, before flow.Position, several bool) error {
	p, result := t.at, t.result()
	var events []api.RunEvent
	add := func(e api.RunEvent) {
		e.TaskID, e.At, e.Round = t.id, timestamp(), p.Round
		events = append(events, e)
	}
	if before.Status == task.NoTask && p.Status != task.NoTask {
		add(api.RunEvent{Event: api.RunNotice, Message: "begun by its home"})
	}
	// The reason of a task that has ended otherwise is not that of its last decision.
	decided := p.Decision != "" && (p.NextAction == "" || p.NextAction == p.Decision)
	if decided && (p.Decision != before.Decision || p.Round != before.Round || p.Reason != before.Reason) {
		add(api.RunEvent{Event: api.RunNotice, Message: fmt.Sprintf("%s, round %s, because %s", p.Decision, render.RoundOf(p.Round, p.MaxRounds, 0), p.Reason)})
	}
	if p.Question != nil && (before.Question == nil || before.Question.Fingerprint != p.Question.Fingerprint) {
		add(api.RunEvent{Event: api.RunAsked, Questions: result.Questions})
	}
	if result.Until != "" && before.Until != p.Until {
		add(api.RunEvent{Event: api.RunParked, Until: result.Until})
	}
	if p.Commit != "" && before.Commit != p.Commit {
		add(api.RunEvent{Event: api.RunCommitted, Commit: p.Commit, Subject: p.Subject})
	}
	if t.ended() && (several || result.Error == nil) { // A single task's error goes to standard error.
		if result.Error != nil && result.Error.Hint == "" {
			result.Error = result.Error.WithHint(render.HintFor(result.Error.Code))
		}
		add(api.RunEvent{Event: api.RunEnded, Result: &result})
	}
	return a.printEvents(events, several)
}

// timestamp returns the time of an event that is printed now.
func timestamp() string { return time.Now().UTC().Format(time.RFC3339) }

// printEvents prints events, with the ids of their tasks if there are several tasks.
func (a *app) printEvents(events []api.RunEvent, several bool) error {
	return a.Write(func(w io.Writer) error {
		for _, e := range events {
			switch {
			case a.Output == cli.OutputJSON:
				if err := render.JSONObject(w, e); err != nil {
					return err
				}
			case e.Event != api.RunEnded:
				render.New(w, a.Out).RunEvent(e, several)
			case several:
				render.New(w, a.Out).RunEnded(*e.Result)
			}
		}
		return nil
	})
}

// printResults sets the exit code and prints the results as text. As JSON, each was printed
// when its task ended.
func (a *app) printResults(results []api.RunResult, several bool) error {
	if !several && results[0].Error != nil {
		return results[0].Error
	}
	a.Exit = cli.TasksExit(results)
	if a.Output == cli.OutputJSON {
		return nil
	}
	return a.Write(func(w io.Writer) error {
		p := render.New(w, a.Out)
		if several {
			p.RunTable(results)
		} else {
			p.Line("")
			p.FleetTask(results[0])
		}
		return nil
	})
}
