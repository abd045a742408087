// Package worker carries out the orders of tasks: it runs their agents and verifications
// in worktrees of its own, and moves their drafts on the remote (ADR-0023).
package worker

import (
	"context"
	"errors"
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
	// Dir has the worker's copies of repositories and its worktrees. Nobody else may use
	// them; they can be removed while the worker is stopped.
	Dir     string
	Environ []string
	// Supervisor runs git.
	Supervisor *supervise.Supervisor
	// Plugins configures the plugin runtime.
	Plugins plugins.Config
	// Warn receives errors that do not fail an order. It may be called concurrently.
	Warn func(error)
	// locks has a mutex for each task's directory: an attempt that was given up may still
	// end while its repetition begins. It needs no value.
	locks sync.Map
}

// Check fails if the worker could not carry out any order: without git, or without an author
// for its commits.
//
// # Errors
//
// Those of gitrepo.OpenCache, and author-unknown.
func (w *Worker) Check(ctx context.Context) error {
	repo, err := gitrepo.OpenCache(ctx, filepath.Join(w.Dir, "repositories", "none.git"), w.git())
	if err != nil {
		return err
	}
	return repo.CheckAuthor(ctx)
}

// Register makes a Temporal worker carry out orders with w.
func Register(r sdk.ActivityRegistry, w *Worker) {
	for _, name := range flow.Orders() {
		r.RegisterActivityWithOptions(w.perform, activity.RegisterOptions{Name: name})
	}
}

// perform carries out an order and gives errors that repeating does not help their kind.
func (w *Worker) perform(ctx context.Context, o flow.Order) (flow.Done, error) {
	// A worker that is stopped ends its agents. The context of the activity itself must not
	// end: the SDK needs it to report what the agents have used.
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
	hb := newHeartbeat(ctx)
	defer hb.stop()
	done, err := w.carry(ctx, o, hb)
	if f, ok := errors.AsType[*errs.Error](err); ok && ctx.Err() == nil && finalCodes[f.Code] {
		return done, flow.Final(f)
	}
	return done, err
}

// finalCodes are those that no worker can help.
var finalCodes = map[errs.Code]bool{
	errs.FleetDraftDiverged: true, errs.FleetDraftMissing: true, errs.FleetBlobMissing: true, errs.FleetBlobChanged: true, errs.FleetBlobTooLarge: true,
	errs.OrderStale: true, errs.TaskInvalidID: true, errs.LedgerTampered: true, errs.StateUnsafe: true,
}

// carry carries out an order, or returns the result of an attempt that did.
func (w *Worker) carry(ctx context.Context, in flow.Order, hb *heartbeat) (flow.Done, error) {
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
	if err := site.restore(ctx); err != nil {
		return flow.Done{}, err
	}
	result, err := site.run(ctx, hb)
	if err != nil {
		return flow.Done{}, err
	}
	// What an agent has used is recorded even if the order was cancelled meanwhile.
	ctx = context.WithoutCancel(ctx)
	sum, err := orderstore.Put(ctx, w.Store, result)
	if err != nil || result.Interrupted {
		return flow.Done{Result: sum}, err
	}
	return site.finish(ctx, result, sum)
}
