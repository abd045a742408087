package host

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/policies"
)

// AnyAction stands for every next action in ReplayRequest.FailOn.
const AnyAction = "*"

// checkGate fails where a flip is to be refused that cannot be.
func checkGate(candidate *policies.Policy, failOn [][2]string) error {
	for _, f := range failOn {
		from, to := f[0], f[1]
		_, declared := candidate.Destination(to)
		if from == "" || from == replay.Undecided || from == to && from != AnyAction || !declared && to != replay.Undecided && to != AnyAction {
			return flipUnknown(from, to)
		}
	}
	return nil
}

func flipUnknown(from, to string) error {
	return errs.New(errs.PolicyFlipUnknown, "no round can flip from %q to %q", from, to).With("from", from).With("to", to)
}

// gate fails where rounds flip as they must not, or where nobody ever heard of the
// destination that they must not flip from.
func gate(report replay.Report, req ReplayRequest) error {
	var refused []replay.Cell
	var count int64
	for _, f := range req.FailOn {
		_, known := req.Policy.Destination(f[0])
		if !known && f[0] != AnyAction && !slices.ContainsFunc(report.Matrix, func(c replay.Cell) bool { return c.From == f[0] }) {
			return flipUnknown(f[0], f[1])
		}
	}
	for _, c := range report.Turns() {
		if slices.ContainsFunc(req.FailOn, func(f [2]string) bool {
			return (f[0] == c.From || f[0] == AnyAction) && (f[1] == c.To || f[1] == AnyAction)
		}) {
			refused = append(refused, c)
			count += c.Count
		}
	}
	if len(refused) == 0 {
		return nil
	}
	decisions := "decisions"
	if count == 1 {
		decisions = "decision"
	}
	return errs.New(errs.PolicyFlips, "%d recorded %s would flip, among them %d from %s to %s",
		count, decisions, refused[0].Count, refused[0].From, refused[0].To).
		With("flips", refused).With("count", count).With("policy", report.Candidate)
}
