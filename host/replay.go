package host

import (
	"context"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// ReplayRequest says what is decided again.
type ReplayRequest struct {
	// Policy is the candidate.
	Policy *policies.Policy
	// Since leaves out what was decided before, by the recorded time; the zero time
	// leaves out nothing.
	Since time.Time
	// Through is the number in the ledger of the last event that counts, 0 for all.
	Through int64
	// Ledger is another ledger: a database, or what ledger export has printed. A path
	// is relative to the user's folder. "" is the project's own.
	Ledger string
	// FailOn are flips, from and to, of which there may be none. Each is a next
	// action, replay.Undecided or AnyAction.
	FailOn [][2]string
	// Progress is told the number of the event that was decided last, and that of
	// the ledger's last one, 0 where nobody knows it; nil for nobody. It is called by
	// the caller's goroutine.
	Progress func(done, total int64)
}

// Replay decides every recorded round again, under the candidate. The findings go
// where the candidate's table says; what would have followed is not simulated. It
// records nothing. What others record meanwhile is left out.
//
// A database is read without its chains being followed: each decision is held against
// its own hash, and Verify tells the rest. Of an export, the chains are checked.
//
// # Errors
//
// policy-flips comes with the report. policy-flip-unknown; ledger-tampered for a decision that
// cannot be read; those of package replay; the ledger's; and of package project, those
// of a file that cannot be used.
func (e *Engine) Replay(ctx context.Context, req ReplayRequest) (replay.Report, error) {
	if err := checkGate(req.Policy, req.FailOn); err != nil {
		return replay.Report{}, err
	}
	src, err := e.records(ctx, req.Ledger)
	if err != nil {
		return replay.Report{}, err
	}
	defer src.close()
	events, total, err := src.decided(ctx, req.Since, req.Through)
	if err != nil {
		return replay.Report{}, err
	}
	y := replay.New(req.Policy, replay.Options{Since: req.Since, Find: func(ctx context.Context, digest string) (*policies.Policy, error) {
		p, err := e.policyBy(ctx, src.ledger, digest)
		if errs.CodeOf(err) == errs.PolicyLost {
			return nil, nil
		}
		return p, err
	}})
	err = inOrder(ctx, events, readRound, func(r recordedRound) error {
		if err := y.Add(ctx, r.Recorded); err != nil {
			return err
		}
		if req.Progress != nil {
			req.Progress(r.Seq, total)
		}
		return nil
	})
	if err != nil {
		return replay.Report{}, err
	}
	report := y.Report()
	for _, flip := range report.Flips {
		for _, cause := range flip.Causes {
			e.nameInProject(cause.Was)
			e.nameInProject(cause.Now)
		}
	}
	return report, gate(report, req)
}

// nameInProject makes the file of a place, if there is one, relative to the root, so
// that a report is the same in every checkout.
func (e *Engine) nameInProject(at *routing.Location) {
	if at == nil || !filepath.IsAbs(at.File) {
		return
	}
	if rel, inside := e.project.Rel(at.File); inside {
		at.File = rel
	}
}
