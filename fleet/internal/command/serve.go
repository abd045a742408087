package command

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"github.com/switchyard-dev/switchyard/fleet/internal/metrics"
	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	"github.com/switchyard-dev/switchyard/internal/buildinfo"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/exporter"
)

// serviceFlags are the flags of commands that run until they are stopped.
type serviceFlags struct {
	store, listen, webConfig string
}

func (f *serviceFlags) register(flags *pflag.FlagSet) {
	storeVar(flags, &f.store)
	cli.TextVar(flags, &f.listen, "listen", "serve metrics at `HOST:PORT`; port 0 takes a free one (default not at all)")
	cli.TextVar(flags, &f.webConfig, "web.config.file", "the web configuration `FILE` of the metrics")
}

func (f *serviceFlags) args(cmd *cobra.Command, args []string) error {
	if err := cli.CheckRequired(cmd.Flags(), "store"); err != nil {
		return err
	}
	if cmd.Flags().Changed("web.config.file") && f.listen == "" {
		return cli.Usagef("--web.config.file needs --listen")
	}
	return cli.NoArgs(cmd, args)
}

// queue is a task queue of a service.
type queue struct {
	name     string
	options  worker.Options
	register func(worker.Worker)
}

// service has the connections of a running service.
type service struct {
	client  client.Client
	store   store.Store
	metrics *metrics.Metrics
}

// stopTime is how long a service waits for its activities after a stop.
const stopTime = 30 * time.Second

// serve connects and works on the queues until ctx is done. Then it waits for running
// activities.
func (a *app) serve(ctx context.Context, f serviceFlags, open func(service) ([]queue, error)) error {
	s := service{metrics: metrics.New(buildinfo.Read().Version)}
	var err error
	if s.store, err = store.Open(ctx, f.store); err != nil {
		return err
	}
	if s.client, err = a.connect(ctx, s.metrics.SDK(), true); err != nil {
		return err
	}
	defer s.client.Close()
	queues, err := open(s)
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var served chan error
	if f.listen != "" {
		served = make(chan error, 1)
		go func() {
			err := s.metrics.Serve(ctx, exporter.ServeOptions{Address: f.listen, WebConfig: f.webConfig, Started: a.serving, Warn: a.warn})
			fail(err)
			served <- err
		}()
	}
	var workers []worker.Worker
	for _, q := range queues {
		o := q.options
		o.Interceptors = []interceptor.WorkerInterceptor{s.metrics.Orders()}
		o.WorkerStopTimeout = stopTime
		o.OnFatalError = func(err error) { fail(serverError(ctx, err)) }
		w := worker.New(s.client, q.name, o)
		q.register(w)
		if err := w.Start(); err != nil {
			fail(serverError(ctx, err))
			break
		}
		workers = append(workers, w)
	}
	if len(workers) == len(queues) {
		a.say("ready")
	}
	<-ctx.Done()
	var stopped sync.WaitGroup
	for _, w := range workers {
		stopped.Go(w.Stop)
	}
	stopped.Wait()
	if served != nil {
		<-served
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// say prints a line to standard error.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.Err, "switchyard-fleet: %s\n", fmt.Sprintf(format, args...))
}

// warn reports a problem that does not end the service.
func (a *app) warn(err error) { a.say("warning: %v", err) }

// serving prints the address of the metrics.
func (a *app) serving(at exporter.Listening) { a.say("serving %s", at.URL) }
