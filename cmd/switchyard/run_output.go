package main

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
)

// runOutput writes the events of a run to standard output as they come, above the status
// lines of the terminal. It is safe for concurrent use.
type runOutput struct {
	*app
	// fail ends the run if its output is lost.
	fail context.CancelCauseFunc
	mu   sync.Mutex
	err  error // the first error of a write
}

// newRunOutput returns the output of a run and its context. The context ends if the output is
// lost. The caller must call cancel.
func (a *app) newRunOutput(ctx context.Context) (_ context.Context, _ *runOutput, cancel func()) {
	ctx, fail := context.WithCancelCause(ctx)
	return ctx, &runOutput{app: a, fail: fail}, func() { fail(nil) }
}

func (o *runOutput) writeEvent(e api.RunEvent) {
	// The questions of a single task are asked, or are in its result.
	if e.Event == api.RunAsked && !o.progress.tasks && o.Output != cli.OutputJSON && isTerminal(o.Out) {
		return
	}
	o.write(e, func(p *render.Printer) {
		if e.Event == api.RunDecided && e.Decision.ManualFallback == nil && isTerminal(o.Out) {
			p.RunDecision(e.Decision.Decision)
			p.Line("")
			return
		}
		p.RunEvent(e, o.progress.tasks)
	})
}

// writeEnded writes the result of one of several tasks.
func (o *runOutput) writeEnded(r api.RunResult) {
	o.write(o.resultEvent(r), func(p *render.Printer) { p.RunEnded(r) })
}

// writeResult writes the result of a single task.
func (o *runOutput) writeResult(r api.RunResult) error {
	o.write(o.resultEvent(r), func(p *render.Printer) {
		p.Line("")
		p.RunResult(r)
	})
	return o.err
}

// writeTable writes the results of several tasks, unless they were written as JSON.
func (o *runOutput) writeTable(results []api.RunResult) error {
	if o.Output == cli.OutputJSON {
		return o.err
	}
	return cmp.Or(o.err, o.app.Write(func(w io.Writer) error {
		render.New(w, o.Out).RunTable(results)
		return nil
	}))
}

// resultEvent returns the last event of a task.
func (o *runOutput) resultEvent(r api.RunResult) api.RunEvent {
	if r.Error != nil && r.Error.Hint == "" {
		r.Error = r.Error.WithHint(render.HintFor(r.Error.Code))
	}
	return api.RunEvent{TaskID: r.TaskID, Event: api.RunEnded, At: time.Now().UTC().Format(time.RFC3339), Round: r.Round, Result: &r}
}

// write writes an event, as JSON or as text.
func (o *runOutput) write(e api.RunEvent, text func(*render.Printer)) {
	o.live.above(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.err = cmp.Or(o.err, o.app.Write(func(w io.Writer) error {
			if o.Output == cli.OutputJSON {
				return render.JSONObject(w, e)
			}
			text(render.New(w, o.Out))
			return nil
		}))
		if o.err != nil {
			o.fail(o.err)
		}
	})
}
