// Package worker carries out the orders of tasks: it runs agents and verifications in its own
// worktrees, and updates the drafts on the remote (ADR-0023).
package worker

import (
	"context"
	"path/filepath"
	"sync"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/worker"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Worker carries out orders. It is safe for concurrent use. Its fields are required.
type Worker struct {
	Store store.Store
	// Dir has the worker's copies of repositories and its worktrees. Other processes must not
	// use them. They can be removed while the worker is stopped.
	Dir     string
	Environ []string
	// Supervisor runs git.
	Supervisor *supervise.Supervisor
	// Plugins configures the plugin runtime.
	Plugins plugins.Config
	// Warn receives errors that do not fail an order. It may be called concurrently.
	Warn func(error)
	// locks has a mutex for each task's directory: an abandoned attempt may still end while
	// its repetition begins. Its zero value is ready.
	locks sync.Map
}

// Check fails if the worker cannot carry out any order, because git or an author for its
// commits is missing.
//
// # Errors
//
// The errors of gitrepo.OpenCache, and author-unknown.
func (w *Worker) Check(ctx context.Context) error {
	repo, err := gitrepo.OpenCache(ctx, filepath.Join(w.Dir, "repositories", "none.git"), "", w.git())
	if err != nil {
		return err
	}
	return repo.CheckAuthor(ctx)
}

// Register registers the activities of w at a Temporal worker.
func Register(r sdk.ActivityRegistry, w *Worker) {
	for _, name := range flow.Orders() {
		r.RegisterActivityWithOptions(w.perform, activity.RegisterOptions{Name: name})
	}
}

// perform carries out an order, and makes permanent errors final.
func (w *Worker) perform(ctx context.Context, o flow.Order) (flow.Done, error) {
	// When the worker is stopped, its agents must end, but not the activity's context: the SDK
	// needs it to report the usage of the agents.
	stopped := activity.GetWorkerStopChannel(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	p := newProgress(ctx)
	defer p.stop()
	done, err := w.carry(ctx, o, p)
	return done, flow.FinalIf(ctx, err, func(code errs.Code) bool { return finalCodes[code] })
}

// finalCodes are the codes of errors that would occur on any worker.
var finalCodes = map[errs.Code]bool{
	errs.FleetDraftDiverged: true, errs.FleetDraftMissing: true, errs.FleetBlobMissing: true, errs.FleetBlobChanged: true, errs.FleetBlobTooLarge: true,
	errs.OrderStale: true, errs.TaskInvalidID: true, errs.LedgerTampered: true, errs.StateUnsafe: true,
}

// carry carries out an order, or returns the result of an attempt that did.
func (w *Worker) carry(ctx context.Context, in flow.Order, p *progress) (flow.Done, error) {
	o, err := orderstore.Get[orderstore.Order](ctx, w.Store, in.Digest)
	if err != nil {
		return flow.Done{}, err
	}
	site, err := w.open(ctx, in, o)
	if err != nil {
		return flow.Done{}, err
	}
	defer site.close()
	if done, err := site.fetch(ctx); err != nil || done.Result != "" {
		return done, err
	}
	result, tree, err := site.run(ctx, p)
	if err != nil {
		return flow.Done{}, err
	}
	return site.deliver(ctx, result, tree, p)
}
