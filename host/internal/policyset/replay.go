package policyset

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Replay decides every recorded round again under the candidate. Findings are routed by
// the candidate's table; the rounds that would have followed are not simulated. It ignores
// events that other processes record meanwhile.
//
// Replay checks the hash of each decision in a database, but not the chains, which
// Engine.Verify checks. It checks the chains of an export.
//
// # Errors
//
// policy-flips, with the report; policy-flip-unknown; ledger-tampered for an unreadable
// decision; errors of package replay, of the ledger, and of package project for a file that
// cannot be used.
func (s *Set) Replay(ctx context.Context, req api.ReplayRequest) (replay.Report, error) {
	if err := checkGate(req.Policy, req.FailOn); err != nil {
		return replay.Report{}, err
	}
	src, err := s.openSource(ctx, req.Ledger)
	if err != nil {
		return replay.Report{}, err
	}
	defer src.close()
	events, total, err := src.decisions(ctx, req.Since, req.Through)
	if err != nil {
		return replay.Report{}, err
	}
	r := replay.New(req.Policy, replay.Options{Since: req.Since, PlayOn: req.PlayOn, Find: func(ctx context.Context, digest string) (*routing.Policy, error) {
		p, err := s.ByDigest(ctx, src.ledger, digest)
		if IsGone(err) {
			return nil, nil
		}
		return p, err
	}})
	var records recordReader
	err = inOrder(ctx, events, records.read, func(d decisionRecord) error {
		if err := r.Add(ctx, d.Recorded); err != nil {
			return err
		}
		if req.Progress != nil {
			req.Progress(d.Seq, total)
		}
		return nil
	})
	if err != nil {
		return replay.Report{}, err
	}
	report := r.Report()
	for _, flip := range report.Changed {
		for _, cause := range flip.Causes {
			s.makeRelative(cause.Was)
			s.makeRelative(cause.Now)
		}
	}
	return report, gate(report, req)
}

// makeRelative makes the file of a location relative to the root, so that a report is the
// same in every checkout.
func (s *Set) makeRelative(at *routing.Location) {
	if at == nil || !filepath.IsAbs(at.File) {
		return
	}
	if rel, inside := s.opts.Project.Rel(at.File); inside {
		at.File = rel
	}
}

// checkGate fails if FailOn names a change that cannot happen under the candidate.
func checkGate(candidate *routing.Policy, failOn [][2]string) error {
	for _, f := range failOn {
		from, to := f[0], f[1]
		_, declared := candidate.Destination(to)
		if from == "" || from == routing.Undecided || from == to && from != api.AnyAction || !declared && to != routing.Undecided && to != api.AnyAction {
			return errFlipUnknown(f)
		}
	}
	return nil
}

func errFlipUnknown(f [2]string) error {
	return errs.New(errs.PolicyFlipUnknown, "--fail-on-flip %q:%q can never match", f[0], f[1]).With("from", f[0]).With("to", f[1])
}

// gate fails if a decision changes as FailOn forbids, or if FailOn names an action that
// neither the candidate nor the ledger knows.
func gate(report replay.Report, req api.ReplayRequest) error {
	for _, f := range req.FailOn {
		_, known := req.Policy.Destination(f[0])
		if !known && f[0] != api.AnyAction && !slices.ContainsFunc(report.Matrix, func(c replay.Cell) bool { return c.From == f[0] }) {
			return errFlipUnknown(f)
		}
	}
	var refused []replay.Cell
	var count int64
	for _, c := range report.Turns() {
		if slices.ContainsFunc(req.FailOn, func(f [2]string) bool {
			return (f[0] == c.From || f[0] == api.AnyAction) && (f[1] == c.To || f[1] == api.AnyAction)
		}) {
			refused = append(refused, c)
			count += c.Count
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return errs.New(errs.PolicyFlips, "%s would change, among them %d from %s to %s",
		textutil.Count(count, "recorded decision"), refused[0].Count, refused[0].From, refused[0].To).
		With("flips", refused).With("count", count).With("policy", report.Candidate)
}
