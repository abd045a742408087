package run

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/host/internal/round"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/lazy"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/transcript"
	"github.com/switchyard-dev/switchyard/spawner"
)

// AdvanceRequest has the results and the user's acts since the home last advanced a task.
type AdvanceRequest struct {
	api.RunRequest
	// Result is the result of the last order, nil before the first.
	Result *OrderResult
	// Answers are the user's. An answer that does not fit an open question is dropped.
	Answers []api.AnswerRequest
	// Stop makes the task stuck for this reason, unless it is "" or the task has ended. A task
	// that does not exist is not started.
	Stop string
	// CheckBase fails if a new task cannot begin at a commit. Nothing is recorded then. It may
	// be nil.
	CheckBase func(ctx context.Context, base string) error
	// Publish makes a new task's branch available to other machines. It is called again if
	// the home is killed before the branch is recorded.
	Publish func(context.Context, task.Branch) error
}

// Position is a task's status, with its next step.
type Position struct {
	// RunResult is the result of a Run that ended here. It has an error only if the last order
	// failed.
	api.RunResult
	Step task.Step
	// Decided is the last decision's next action, or "". Deciding is set if Advance made that
	// decision.
	Decided  string
	Deciding bool
	// Order is the order for another engine, nil if the next step needs no engine. Adapter is
	// the adapter of its agent, or "". Confinement is the level that the settings require of
	// its processes.
	Order       *Order
	Adapter     string
	Confinement confinement.Level
	// Over is set if Run would end here.
	Over bool
}

// Advance takes a task as far as its home can without agents, and returns its position
// (ADR-0023). It records the result of the last order and decides the round if that was a
// review. The same request can be repeated: a result is recorded once, and of a result that
// no longer fits the task, only the use of its agents is recorded.
func (e *Engine) Advance(ctx context.Context, id string, req AdvanceRequest) (Position, error) {
	if err := e.project.Inside(); err != nil {
		return Position{}, err
	}
	d := &driver{Engine: e, id: id, req: req.RunRequest, began: true, atHome: true, checkBase: req.CheckBase}
	p := Position{}
	if r := req.Result; r != nil {
		var err error
		if p.Deciding, err = d.accept(ctx, *r); err != nil {
			return p, tasktx.RecordFailure(ctx, e.project, id, err)
		}
		d.subject = r.Subject
		if r.ManualFallback {
			d.action, p.Over = api.ActionManualFallback, true
		}
		if r.Failure != nil {
			_ = tasktx.RecordFailure(ctx, e.project, id, r.Failure)
			p.Over = true
		}
	}
	for _, answer := range req.Answers {
		_, err := e.rounds.Answer(ctx, id, answer)
		if err != nil && !slices.Contains(droppedAnswerCodes, errs.CodeOf(err)) {
			return p, err
		}
	}
	if req.Stop != "" {
		now, err := d.status(ctx)
		if errs.CodeOf(err) == errs.TaskNotFound { // A stop would record a task without a text and a branch.
			p.Step.Kind, p.TaskID = task.StepStart, id
			return p, nil
		}
		if err == nil && now.Status != task.Stuck {
			_, err = tasktx.Apply(ctx, e.project, id, task.StopTask{Reason: req.Stop, By: e.project.By, FindingCount: -1})
		}
		if err != nil && errs.CodeOf(err) != errs.TaskCommitted {
			return p, err
		}
	}
	if err := d.advance(ctx, req.Publish, &p); err != nil {
		return p, err
	}
	failed := req.Result != nil && req.Result.Failure != nil
	if p.RunResult = d.result(ctx, failed); failed {
		p.Error = req.Result.Failure
	}
	return p, nil
}

// droppedAnswerCodes are the errors of answers that come too late, twice, or do not fit.
var droppedAnswerCodes = []errs.Code{
	errs.AnswerInvalid, errs.QuestionUnknown, errs.QuestionAnswered, errs.TaskNotWaiting, errs.TaskStuck, errs.TaskCommitted, errs.TaskParked, errs.TaskNotFound,
}

// advance carries out the steps that need no other machine, and sets the next one, with its
// order unless the run is over.
func (d *driver) advance(ctx context.Context, publish func(context.Context, task.Branch) error, p *Position) error {
	for {
		if again, err := d.advanceStep(ctx, publish, p); err != nil || !again {
			return err
		}
	}
}

// advanceStep sets the next step, and reports whether it has carried it out.
func (d *driver) advanceStep(ctx context.Context, publish func(context.Context, task.Branch) error, p *Position) (done bool, err error) {
	w, err := d.open(ctx)
	defer w.close()
	if err != nil {
		return false, err
	}
	// Questions may have expired, and parkings may have ended.
	if _, err := w.tx.Commit(ctx, nil); err != nil {
		return false, err
	}
	p.Step = task.Next(w.tx.Status.State)
	if last := w.tx.Status.Last; last != nil {
		p.Decided = last.NextAction
	}
	if err := w.begin(p.Step.Kind); err != nil {
		return false, err
	}
	switch p.Step.Kind {
	case task.StepStart:
		return true, w.start(ctx)
	case task.StepBranch:
		if err := publish(ctx, *w.tx.Status.Branch); err != nil {
			return false, err
		}
		return true, w.tx.Record(ctx, task.CreateBranch{})
	case task.StepDraft, task.StepAssist, task.StepReview, task.StepCommit:
		if !p.Over {
			return false, w.order(ctx, p)
		}
	case task.StepStuck, task.StepDone, task.StepMerge:
		p.Over = true
	}
	return false, nil
}

func (w *work) order(ctx context.Context, p *Position) error {
	o := &Order{Task: w.id, Step: p.Step, Request: w.req, Branch: *w.tx.Status.Branch}
	for e, err := range w.tx.Ledger.Events(ctx, w.id, 1) {
		if err != nil {
			return err
		}
		o.Events = append(o.Events, e)
	}
	switch agent := string(p.Step.Role); {
	case agent != "":
		p.Adapter = agents.Settings(w.config, agent, w.req.Adapter).Adapter
	case p.Step.Kind == task.StepReview && (round.UsesCritic(w.config) || w.req.Adapter != ""):
		p.Adapter = agents.Settings(w.config, string(task.RoleCritic), w.req.Adapter).Adapter
	}
	p.Confinement = confinement.None
	require := func(c confinement.Want) {
		if c.Required && c.Level.AtLeast(p.Confinement) {
			p.Confinement = c.Level
		}
	}
	if p.Adapter != "" {
		require(w.config.Spawn.Confine.Want)
	}
	if p.Step.Kind == task.StepReview {
		if w.config.Verify != nil {
			require(w.config.Verify.Confine.Want)
		}
		policy, err := round.AdoptedPolicy(ctx, w.project, w.tx.Ledger, w.req.Policy, w.config)
		if err != nil {
			return err
		}
		_, o.Contradictions = policy.Route(finding.CategoryContradiction)
	}
	var err error
	o.Files, err = w.orderFiles()
	p.Order = o
	return err
}

// orderFiles returns the files that the steps of a round read. It skips a file that is gone:
// the step then works without it, or fails as it would at home. It also skips a path outside
// of the directories for tasks, because a worker's receipt can name any file of the home.
func (w *work) orderFiles() ([]StateFile, error) {
	s := w.tx.Status.State
	var paths []string
	for _, r := range s.Runs {
		if r.Receipt != nil {
			paths = append(paths, r.Receipt.Path)
		}
	}
	if s.Plan != nil {
		paths = append(paths, s.Plan.Path)
	}
	if s.Verified != nil {
		paths = append(paths, s.Verified.Output)
	}
	if s.Last != nil && s.Last.Verification != nil {
		paths = append(paths, s.Last.Verification.Output)
	}
	first := max(s.Round-1, 1)
	if s.Last != nil { // The task may have been resumed since.
		first = min(first, s.Last.Round)
	}
	for round := first; round <= s.Round; round++ {
		for _, name := range []string{handoff.FindingsFile, "research.md", "research.json"} {
			paths = append(paths, handoff.Path(w.id, round, name))
		}
	}
	slices.Sort(paths)
	root, err := os.OpenRoot(w.project.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []StateFile
	for _, path := range slices.Compact(paths) {
		if _, _, ok := orderPath(path); !ok {
			continue
		}
		data, err := fs.ReadFile(root.FS(), path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, errs.New(errs.FileUnreadable, "%s cannot be read: %w", path, err).With("path", path)
		}
		files = append(files, StateFile{Path: path, Data: data})
	}
	return files, nil
}

// orderKinds are the events that an order may add. The home alone decides.
var orderKinds = []task.Kind{
	task.KindSpawnBegun, task.KindSpawnEnded, task.KindAttested, task.KindRedrafted, task.KindDrafted, task.KindPrepared,
	task.KindStopped, task.KindAsked, task.KindParked, task.KindCommitCreated,
}

// accept records the result of an order, and decides the round if that was a review. It
// reports whether it did.
func (d *driver) accept(ctx context.Context, r OrderResult) (decided bool, err error) {
	changes := make([]event.Full, len(r.Events))
	for i, ev := range r.Events {
		if !slices.Contains(orderKinds, task.Kind(ev.Kind)) {
			return false, errs.New(errs.OrderStale, "the result of an order has an event %s", ev.Kind).With("task", d.id)
		}
		if changes[i], err = event.DecodeFull(ledger.Event{Kind: ev.Kind, Body: ev.Body}); err != nil {
			return false, err
		}
	}
	w, err := d.open(ctx)
	defer w.close()
	if err != nil {
		return false, err
	}
	recorded, fits, err := w.countRecorded(ctx, r.After, changes)
	if err != nil {
		return false, err
	}
	if !fits { // The task has changed meanwhile.
		return false, w.recordOutside(ctx, changes)
	}
	if recorded == 0 {
		if err := w.writeStateFiles(w.ownFiles(r.Files, changes)); err != nil {
			return false, err
		}
		if err := w.record(ctx, changes); err != nil {
			return false, err
		}
	}
	if r.Evidence == nil || recorded > len(changes) {
		return false, nil
	}
	req := api.Request{Adapter: w.req.Adapter, Policy: w.req.Policy}
	err = round.Decide(ctx, w.recorder, req, *r.Evidence)
	return err == nil, w.stopIfUnreviewable(ctx, err) // A draft that cannot be committed is not decided.
}

// ownFiles returns the files of a result that belong to the task: an agent may have put files
// with the names of other tasks' files into the worker's state directory.
func (w *work) ownFiles(files []StateFile, changes []event.Full) []StateFile {
	reports := make(map[string]bool)
	for _, c := range changes {
		if ended, ok := c.Event.(*task.SpawnEnded); ok {
			reports[spawns.ReportPath(ended.Receipt.Run)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(files), func(f StateFile) bool {
		folder, name, ok := orderPath(f.Path)
		switch {
		case !ok, isOfRound(w.id, name):
			return false // writeStateFiles rejects an invalid path.
		case reports[f.Path], folder == transcript.Folder: // The name is unique: a run, or a digest.
			return w.project.AtRoot().Exists(f.Path)
		}
		w.project.Warn(errs.New(errs.StateUnsafe, "%s of a worker is not a file of task %s, and was skipped", f.Path, w.id).With("path", f.Path))
		return true
	})
}

// roundFileName matches the rest of a file name after "TASK-r", for the files of a
// verification, of a command's report and of a handoff. It matches no file of a task TASK-r1.
var roundFileName = lazy.Regexp(`^[0-9]+(\.log|-[0-9]+\.out|-[a-z]+\.(md|json))$`)

func isOfRound(id, name string) bool {
	rest, ok := strings.CutPrefix(name, id+"-r")
	return ok && roundFileName().MatchString(rest)
}

// countRecorded returns how many events follow event after. fits reports whether there are
// none, or the first of them are the events of the result.
func (w *work) countRecorded(ctx context.Context, after int64, changes []event.Full) (n int, fits bool, err error) {
	fits = true
	for e, err := range w.tx.Ledger.Events(ctx, w.id, after+1) {
		if err != nil {
			return n, false, err
		}
		if n < len(changes) {
			body, err := event.DecodeFull(e)
			if err != nil {
				return n, false, event.Tampered(w.id, "event %d cannot be read: %w", e.N, err)
			}
			fits = fits && sameEvent(body.Event, changes[n].Event)
		}
		n++
	}
	return n, fits && (n == 0 || n >= len(changes)), nil
}

func sameEvent(a, b task.Event) bool {
	one, err := json.Marshal(a, json.Deterministic(true))
	other, err2 := json.Marshal(b, json.Deterministic(true))
	return err == nil && err2 == nil && bytes.Equal(one, other)
}

func (w *work) record(ctx context.Context, changes []event.Full) error {
	if err := w.logRuns(ctx, changes); err != nil {
		return err
	}
	_, err := w.recorder.Write(ctx, func() error {
		for _, c := range changes {
			c.Before, c.Base, c.Prompt = "", "", ""
			if err := w.tx.Add(c.Event, c); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func (e *Engine) logRuns(ctx context.Context, changes []event.Full) error {
	for _, c := range changes {
		if c.Spawn != nil && c.Spawn.PID != 0 {
			if _, err := spawner.AppendRunLog(ctx, e.project.State(), *c.Spawn); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordOutside records the runs of a result that no longer fits its task, as runs outside
// any task, unless that was done before.
func (w *work) recordOutside(ctx context.Context, changes []event.Full) error {
	rec, err := spawns.Outside(ctx, w.project, w.config)
	if err != nil {
		return err
	}
	defer rec.Tx.Close()
	known := make(map[string]bool)
	for e, err := range rec.Tx.Events(ctx, 1, task.KindSpawnEnded) {
		if err != nil {
			return err
		}
		known[e.Event.(*task.SpawnEnded).Receipt.Run] = true
	}
	begun := make(map[string]task.Intent)
	var unrecorded []event.Full
	_, err = rec.Write(ctx, func() error {
		unrecorded = nil
		for _, c := range changes {
			switch change := c.Event.(type) {
			case *task.SpawnBegun:
				for _, i := range change.Intents {
					begun[i.Run] = i
				}
			case *task.SpawnEnded:
				i, ok := begun[change.Receipt.Run]
				if !ok || known[i.Run] {
					continue
				}
				i.Role, i.Round, i.Edits = task.RoleOther, 0, false
				if err := rec.Tx.Apply(task.ReserveRuns{Intents: []task.Intent{i}}, event.Full{By: task.BySwitchyard}); err != nil {
					return err
				}
				receipt := change.Receipt
				receipt.Path, receipt.Report = "", ""
				if err := rec.Tx.Apply(task.RecordReceipt{Receipt: receipt}, event.Full{By: task.BySwitchyard, Spawn: c.Spawn}); err != nil {
					return err
				}
				unrecorded = append(unrecorded, c)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.logRuns(ctx, unrecorded)
}
