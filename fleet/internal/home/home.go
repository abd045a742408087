// Package home decides and records the tasks of a project. Its process alone opens the
// project's ledger (ADR-0023).
package home

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/worker"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/heartbeat"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Home is the home of a project. It is safe for concurrent use.
type Home struct {
	Engine *host.Engine
	Store  store.Store
	// Repo is the project's repository, and Remote the URL of the one that workers use.
	Repo   *gitrepo.Repo
	Remote string
	// Decided is called with the next action of each new decision. It may be nil.
	Decided func(nextAction string)
}

// Options returns the options of a home's Temporal worker. All tasks of a project write to one
// ledger, so that more activities at once would not be faster.
func Options() sdk.Options {
	return sdk.Options{DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: 16}
}

// Register registers the activity of h at a Temporal worker.
func Register(r sdk.ActivityRegistry, h *Home) {
	advance := func(ctx context.Context, m flow.Move) (flow.Position, error) {
		defer heartbeat.Start(ctx, func() any { return nil }, nil)()
		return h.Advance(ctx, m)
	}
	r.RegisterActivityWithOptions(advance, activity.RegisterOptions{Name: flow.Advance})
}

// Advance records the changes of a task and decides its next step.
func (h *Home) Advance(ctx context.Context, m flow.Move) (flow.Position, error) {
	p, err := h.advance(ctx, m)
	if f, ok := errors.AsType[*errs.Error](err); ok && f.Code == errs.TaskNoText {
		// The usual hint names switchyard run, which would not run it in the fleet.
		err = f.WithHint("switchyard-fleet run " + m.Task + " --prompt TEXT, or --prompt-file FILE")
	}
	return p, flow.FinalIf(ctx, err, func(code errs.Code) bool { return !slices.Contains(transientCodes, code) })
}

// transientCodes are the codes of errors that may not occur again.
var transientCodes = []errs.Code{
	errs.FetchFailed, errs.PushFailed, errs.GitLocked, errs.FleetStoreUnreachable, errs.LedgerIO, errs.LedgerBusy, errs.LedgerConflict,
	errs.RoundShifted, errs.SpawnTrailFailed, errs.StateFileUnwritable,
}

func (h *Home) advance(ctx context.Context, m flow.Move) (flow.Position, error) {
	asked, err := orderstore.Get[api.RunRequest](ctx, h.Store, m.Request)
	if err != nil {
		return flow.Position{}, err
	}
	req := host.AdvanceRequest{
		RunRequest: asked, Stop: m.Stop, CheckBase: h.checkConfig,
		Publish: func(ctx context.Context, b task.Branch) error { return h.publish(ctx, m.Task, b) },
	}
	if m.Result != "" {
		r, err := orderstore.Get[host.OrderResult](ctx, h.Store, m.Result)
		if err != nil {
			return flow.Position{}, err
		}
		req.Result = &r
	}
	for _, a := range m.Answers {
		by := textutil.Fit(strings.TrimSpace(textutil.Line(a.By)), maxUser)
		req.Answers = append(req.Answers, host.AnswerRequest{Question: a.Question, Choice: a.Choice, Text: a.Text, By: by})
	}
	at, err := h.Engine.Advance(ctx, m.Task, req)
	if err != nil {
		return flow.Position{}, err
	}
	if at.Deciding && h.Decided != nil {
		h.Decided(at.Decided)
	}
	if at.Commit != "" && at.Subject == "" {
		commit, _ := h.Repo.ReadCommit(ctx, at.Commit) // A commit for an earlier workflow may not be fetched yet.
		at.Subject = commit.Subject
	}
	p := positionOf(at)
	if at.Order != nil {
		err = h.order(ctx, m, at, &p)
	}
	return p, err
}

// order stores the order of a position.
func (h *Home) order(ctx context.Context, m flow.Move, at host.Position, p *flow.Position) (err error) {
	draft, ref := m.Draft, flow.DraftRef(at.Order.Branch.Name)
	if draft == "" {
		draft, err = h.Repo.RemoteRef(ctx, h.Remote, ref)
		if err == nil && draft == "" {
			err = errs.New(errs.FleetDraftMissing, "the remote has no %s", ref).With("ref", ref)
		}
		if err != nil {
			return err
		}
	}
	last := at.Order.Events[len(at.Order.Events)-1]
	o := orderstore.Order{Order: *at.Order, Remote: h.Remote, Draft: draft, Key: last.Hash}
	p.Queue = flow.WorkQueue(cmp.Or(at.Adapter, flow.AnyAdapter), at.Confinement)
	p.Order, err = orderstore.Put(ctx, h.Store, o)
	return err
}

// publish creates the ref of a task's draft at its base, so that workers can fetch both.
func (h *Home) publish(ctx context.Context, id string, b task.Branch) error {
	branch, err := h.Repo.RemoteRef(ctx, h.Remote, "refs/heads/"+b.Name)
	if err != nil {
		return err
	}
	if branch != "" { // The commit could not be pushed at the end.
		return errs.New(errs.FleetDraftDiverged, "the remote has a branch %s already, at %.12s", b.Name, branch).With("task", id).With("branch", b.Name)
	}
	ref := flow.DraftRef(b.Name)
	err = h.Repo.PushRefs(ctx, h.Remote, gitrepo.RefMove{Ref: ref, To: b.Base})
	if errs.CodeOf(err) != errs.PushRejected {
		return err
	}
	at, refErr := h.Repo.RemoteRef(ctx, h.Remote, ref)
	switch {
	case refErr != nil:
		return refErr
	case at == b.Base:
		return nil // An earlier attempt created it.
	case at != "":
		return errs.New(errs.FleetDraftDiverged, "the remote has a draft of another task %s, at %.12s", id, at).With("task", id).With("commit", at)
	}
	return err
}

// checkConfig fails if the settings of the home differ from those of the base, which workers
// use.
func (h *Home) checkConfig(ctx context.Context, base string) error {
	same, err := h.Repo.SameFile(ctx, base, project.ConfigFile)
	if err != nil || same {
		return err
	}
	return errs.New(errs.FleetConfigDiffers, "%s of the checkout is not that of commit %.12s, which workers use", project.ConfigFile, base).With("commit", base)
}

// maxText and maxChoice limit texts in a history, in code points. JSON may need six bytes for
// each, and a payload must have less than 32 KiB (ADR-0023). maxUser limits the name of a user,
// which anyone can have signalled.
const (
	maxText   = 1000
	maxChoice = 100
	maxUser   = 128
)

func positionOf(at host.Position) flow.Position {
	p := flow.Position{
		Step: at.Step, Status: at.Status, Round: at.Round, MaxRounds: at.MaxRounds, Until: at.Until, Decision: at.Decided,
		Reason: textutil.Clip(at.Reason, maxText), Commit: at.Commit, Subject: textutil.Clip(at.Subject, maxText),
	}
	if at.Over {
		p.NextAction, p.Spent = at.NextAction, at.Spent
	}
	if at.Error != nil {
		p.Failure = &flow.Failure{Code: at.Error.Code, Message: textutil.Clip(at.Error.Message, maxText), Hint: at.Error.Hint}
	}
	for _, q := range at.Questions {
		if p.Question == nil {
			p.Question = &flow.Question{Fingerprint: q.Fingerprint, Text: textutil.Clip(q.Text, maxText), Default: textutil.Clip(q.Default, maxChoice)}
			for _, choice := range q.Choices {
				p.Question.Choices = append(p.Question.Choices, textutil.Clip(choice, maxChoice))
			}
		}
		if q.ExpiresAt != "" && (p.Until == "" || q.ExpiresAt < p.Until) {
			p.Until = q.ExpiresAt
		}
	}
	return p
}
