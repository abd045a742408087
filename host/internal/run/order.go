package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/host/internal/round"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/transcript"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
	"github.com/switchyard-dev/switchyard/spawner"
)

// Order is a step of a task for an engine on another machine, with all input of the step but
// the project's files and the task's tree (ADR-0023).
type Order struct {
	Task    string
	Step    task.Step
	Request api.RunRequest
	Branch  task.Branch
	// Events is the task's whole chain.
	Events []ledger.Event
	Files  []StateFile
	// Contradictions says that the policy routes contradictions, for a review.
	Contradictions bool
}

// StateFile is a file of the state directory. Its JSON has only the digest of the data, because
// a store has the data.
type StateFile struct {
	// Path is relative to the project's root, with slashes.
	Path   string
	Digest string
	Data   []byte `json:"-"`
}

// OrderResult has the events and files that carrying out an order has added.
type OrderResult struct {
	Step task.Step
	// After is the number of the order's last event.
	After  int64
	Events []OrderEvent
	Files  []StateFile
	// Evidence is the evidence that a review is decided on, nil if it is not to be decided.
	Evidence *round.Evidence
	// Commit and Subject are the hash and subject of the task's commit, "" if the step did not
	// commit.
	Commit, Subject string
	// ManualFallback is set if a person must run the critic.
	ManualFallback bool
	// Failure is the error of a step that failed, or nil. Repeating the order does not help.
	Failure *errs.Error
	// Interrupted is set if the context of Carry ended before the step: then the events only
	// say how much the agents have used.
	Interrupted bool
}

// OrderEvent is an event to record.
type OrderEvent struct {
	Kind string
	Body jsontext.Value
}

// LostRun is an agent's run on a machine that has died.
type LostRun struct{ Run, Agent, Adapter string }

// Carry carries out an order. The engine's project must be a checkout of the task's base that
// no other process uses, and its Options.Worktree the task's worktree with the draft. Carry
// replaces the project's ledger. lost are runs of earlier attempts at this order, whose
// budgets count as used up.
//
// An error means that the order was not carried out and may be tried on another machine;
// other failures are in OrderResult.Failure.
//
// # Errors
//
// order-stale if the order is not the next step of its task, and ledger-tampered if the
// task's events do not form a chain; errors of files, the ledger and git.
func (e *Engine) Carry(ctx context.Context, o Order, lost []LostRun) (OrderResult, error) {
	r := OrderResult{Step: o.Step}
	if err := e.receive(ctx, o); err != nil {
		return r, err
	}
	d := &driver{Engine: e, id: o.Task, req: o.Request, began: true, carried: &r, contradictions: o.Contradictions}
	w, err := d.open(ctx)
	if err == nil {
		r.After = w.tx.Head.N
		if next := task.Next(w.tx.Status.State); next != o.Step {
			err = errs.New(errs.OrderStale, "the order is to %s %s, and the task's next step is to %s %s", o.Step.Kind, o.Step.Role, next.Kind, next.Role).With("task", o.Task)
		}
	}
	if err == nil && len(lost) > 0 {
		err = w.recordLost(ctx, o.Step.Role, lost)
	}
	w.close()
	if err != nil {
		return r, err
	}
	_, err = d.step(ctx)
	switch f, ok := errors.AsType[*errs.Error](err); {
	case err == nil, ok && (f.Code == errs.TaskParked || f.Code == errs.TaskWaiting):
	case ctx.Err() != nil:
		if r.Interrupted, err = d.isNext(context.WithoutCancel(ctx), o.Step); err != nil {
			return r, err
		}
		if r.Interrupted {
			r = OrderResult{Step: o.Step, After: r.After, Interrupted: true}
		}
	case !ok || slices.Contains(machineErrors, f.Code):
		return r, err
	default:
		r.Failure = f
	}
	r.Subject = d.subject
	return r, e.send(context.WithoutCancel(ctx), o, &r)
}

// EndOrphans ends the processes that a killed engine left in the project. They must not
// change files once the worktree has the draft of an order.
//
// # Errors
//
// Errors of leases.
func (e *Engine) EndOrphans(ctx context.Context) error { return spawns.RecoverOrphans(ctx, e.project) }

// isNext reports whether a step is still the task's next one. Otherwise its end is recorded.
func (d *driver) isNext(ctx context.Context, step task.Step) (bool, error) {
	return core.WithTask(ctx, d.project, d.id, func(r *record.Task) (bool, error) { return task.Next(r.Status.State) == step, nil })
}

// machineErrors are the errors that may not occur on another machine.
var machineErrors = []errs.Code{
	errs.LedgerIO, errs.StateFileUnwritable, errs.FileUnwritable, errs.SpawnFolderFailed, errs.TreeUnreadable, errs.GitFailed, errs.GitLocked, errs.GitMissing,
	errs.GitTooOld, errs.SpawnBinaryMissing, errs.RoundRunning, errs.SpawnLocked, errs.SpawnTrailFailed, errs.VerifyOutputFailed,
}

// maxCarried is the maximum size of a file of an order or a result, in bytes. If the output of
// a verification is larger, its end is carried, which is the part that agents get. Other
// larger files stay where they were written.
const maxCarried = 16 << 20

// carriedFolders are the subdirectories of the state directory with the files of tasks.
var carriedFolders = []string{spawns.ReportsFolder, handoff.Folder, transcript.Folder, verifycmd.Folder}

// receive replaces the project's state by that of an order.
func (e *Engine) receive(ctx context.Context, o Order) error {
	state, err := e.project.OpenState()
	if err != nil {
		return err
	}
	defer state.Close()
	for _, name := range append([]string{"ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.archive", spawner.RunLogFile}, carriedFolders...) {
		if err := state.RemoveAll(name); err != nil {
			return core.ErrStateWrite(project.StateDir+"/"+name, safefile.Reason(err))
		}
	}
	if err := e.writeStateFiles(o.Files); err != nil {
		return err
	}
	l, err := e.project.OpenLedger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	for n := 0; n < len(o.Events); {
		first := o.Events[n]
		batch := ledger.Batch{Task: o.Task, After: int64(n)}
		for ; n < len(o.Events) && o.Events[n].At == first.At; n++ {
			batch.Events = append(batch.Events, ledger.NewEvent{Kind: o.Events[n].Kind, Body: o.Events[n].Body})
		}
		replayed, err := l.AppendAll(ctx, first.Time(), batch)
		if err != nil {
			return err
		}
		if last := replayed[len(replayed)-1]; last.Hash != o.Events[n-1].Hash {
			return event.Tampered(o.Task, "event %d of the order does not have the hash of its contents", last.N)
		}
	}
	return nil
}

// writeStateFiles writes files of the state directory. They may be copies of any time, and
// need not survive a power loss.
func (e *Engine) writeStateFiles(files []StateFile) error {
	for _, f := range files {
		folder, name, ok := orderPath(f.Path)
		if !ok {
			return errs.New(errs.StateUnsafe, "%s is not a file of a task", f.Path).With("path", f.Path)
		}
		if _, err := e.project.WriteStateFile(folder, name, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// orderPath splits the path of a file into its directory and name. ok reports whether orders
// and results may have the file.
func orderPath(path string) (folder, name string, ok bool) {
	folder, name, ok = strings.Cut(strings.TrimPrefix(path, project.StateDir+"/"), "/")
	return folder, name, ok && slices.Contains(carriedFolders, folder) && name != "" && name != ".." && !strings.ContainsAny(name, `/\`)
}

// send adds the events and files of a step to its result.
func (e *Engine) send(ctx context.Context, o Order, r *OrderResult) error {
	l, err := e.project.OpenLedger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	for ev, err := range l.Events(ctx, o.Task, r.After+1) {
		if err != nil {
			return err
		}
		if ev.Kind == string(task.KindCommitCreated) {
			body, err := event.Decode(ev)
			if err != nil {
				return err
			}
			r.Commit = body.Event.(*task.CommitCreated).Commit.SHA
		}
		r.Events = append(r.Events, OrderEvent{Kind: ev.Kind, Body: ev.Body})
	}
	had := make(map[string]string)
	for _, f := range o.Files {
		had[f.Path] = string(f.Data)
	}
	for _, folder := range carriedFolders {
		entries, err := os.ReadDir(filepath.Join(e.project.State(), folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return core.ErrStateWrite(project.StateDir+"/"+folder, safefile.Reason(err))
		}
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() > maxCarried && folder != verifycmd.Folder {
				continue
			}
			f := StateFile{Path: project.StateDir + "/" + folder + "/" + entry.Name()}
			if f.Data, err = e.project.ReadEnd(f.Path, maxCarried); err != nil {
				return core.ErrStateWrite(f.Path, safefile.Reason(err))
			}
			if before, ok := had[f.Path]; !ok || before != string(f.Data) {
				r.Files = append(r.Files, f)
			}
		}
	}
	return nil
}

// recordLost records the runs of earlier attempts that died with their machine.
func (w *work) recordLost(ctx context.Context, role task.Role, lost []LostRun) error {
	_, err := w.recorder.Write(ctx, func() error {
		for _, run := range lost {
			p := spawns.Target{Role: role}
			if role == "" {
				p.Role = task.RoleCritic
			}
			intent := w.recorder.Intent(p, run.Agent, spawner.Attempt{Run: run.Run, Adapter: run.Adapter, Why: "first", Timeout: agents.Settings(w.config, run.Agent, w.req.Adapter).Timeout})
			if err := w.tx.Apply(task.ReserveRuns{Intents: []task.Intent{intent}}, event.Full{By: task.BySwitchyard}); err != nil {
				return err
			}
			// One after the other, as their number is not limited, but that of open runs is.
			if err := spawns.LoseRuns(w.tx, w.tx.Status.OpenRuns()); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
