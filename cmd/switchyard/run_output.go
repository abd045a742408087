package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/api"
)

// runOutput writes the events of a run to standard output as they come, above the status
// lines of the terminal. It is safe for concurrent use.
type runOutput struct {
	*app
	// several is set if several tasks run.
	several bool
	// fail ends the run if its output is lost.
	fail context.CancelCauseFunc
	mu   sync.Mutex
	err  error // the first error of a write
}

// newRunOutput returns the output of a run and its context. The context ends if the output
// is a pipe whose reader has exited. By default, such a pipe would end this process at
// once, before it has ended its agents. The caller must call cancel.
func (a *app) newRunOutput(ctx context.Context, several bool) (_ context.Context, _ *runOutput, cancel func()) {
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE) // A write returns an error then.
	ctx, fail := context.WithCancelCause(ctx)
	return ctx, &runOutput{app: a, several: several, fail: fail}, func() {
		signal.Stop(pipe)
		fail(nil)
	}
}

// event writes an event. The result is written when the run has returned.
func (o *runOutput) event(e api.RunEvent) {
	// The only task's questions are asked, or in its result.
	asked := e.Event == api.RunAsked && !o.several && o.onTerminal() && o.output != outputJSON
	if e.Event == api.RunEnded || asked {
		return
	}
	o.write(e, func(p *render.Printer) {
		if e.Event == api.RunDecided && o.onTerminal() {
			p.RunDecision(*e.Decision)
			p.Line("")
			return
		}
		p.RunEvent(e, o.several)
	})
}

// ended writes the result of one of several tasks.
func (o *runOutput) ended(r api.RunResult) {
	o.write(o.resultEvent(r), func(p *render.Printer) { p.RunEnded(r) })
}

// end writes the result of the only task.
func (o *runOutput) end(r api.RunResult) error {
	o.write(o.resultEvent(r), func(p *render.Printer) {
		p.Line("")
		p.RunResult(r)
	})
	return o.err
}

// table writes the results of several tasks, except as JSON, where each is a line already.
func (o *runOutput) table(results []api.RunResult) error {
	if o.output == outputJSON {
		return o.err
	}
	return cmp.Or(o.err, o.app.write(func(w io.Writer) error {
		render.New(w, o.out).RunTable(results)
		return nil
	}))
}

// resultEvent returns the last event of a task.
func (o *runOutput) resultEvent(r api.RunResult) api.RunEvent {
	if r.Error != nil && r.Error.Hint == "" {
		hinted := *r.Error
		hinted.Hint = hintFor(hinted.Code)
		r.Error = &hinted
	}
	return api.RunEvent{
		TaskID: r.TaskID, Event: api.RunEnded, At: time.Now().UTC().Format(time.RFC3339Nano), Round: r.Round, Result: &r,
	}
}

// write writes an event, as JSON or as text.
func (o *runOutput) write(e api.RunEvent, text func(*render.Printer)) {
	o.live.above(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.err = cmp.Or(o.err, o.app.write(func(w io.Writer) error {
			if o.output == outputJSON {
				return render.JSONObject(w, e)
			}
			text(render.New(w, o.out))
			return nil
		}))
		if o.err != nil {
			o.fail(o.err)
		}
	})
}

// onTerminal reports whether standard output is a terminal.
func (o *runOutput) onTerminal() bool {
	f, ok := o.out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
