package replay

import (
	"fmt"
	"maps"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Recorded is a recorded round: everything needed to decide it again, and its decision.
type Recorded struct {
	// Seq is the event's number in its ledger, N its number in its task.
	Seq, N int64
	Task   string
	Round  int
	// At is the time of the decision: RFC 3339 in UTC.
	At string
	// Input is the input given to the policy.
	Input routing.Input
	// Categories are the categories of the findings.
	Categories []Category
	Decision   routing.Decision
	// Policy is the policy that decided.
	Policy routing.Identity
}

// Category counts the findings of a round that have the same category and destination.
type Category struct {
	Name string
	// Route is their recorded destination. Unknown reports that the policy did not know
	// the category.
	Route   string
	Unknown bool
	// Count is at least 1.
	Count int
}

// check fails if r contradicts itself. Inputs that only a policy would reject are left to
// the policy.
func (r Recorded) check() error {
	switch {
	case r.Task == "":
		return r.fault("it has no task")
	case r.Round != r.Input.Round:
		return r.fault("it was round %d, and its input says %d", r.Round, r.Input.Round)
	case !routing.IsName(r.Decision.NextAction) || !routing.IsName(r.Decision.Reason):
		return r.fault("%.80q for the reason %.80q is no decision", r.Decision.NextAction, r.Decision.Reason)
	case r.Policy.Digest == "":
		return r.fault("it does not say which policy decided")
	}
	findings := 0
	routes := make(map[string]int)
	for _, c := range r.Categories {
		if c.Count < 1 {
			return r.fault("it has %d findings of category %.80q", c.Count, c.Name)
		}
		findings += c.Count
		routes[c.Route] += c.Count
	}
	if findings != r.Input.FindingCount {
		return r.fault("it has %d findings, and its input says %d", findings, r.Input.FindingCount)
	}
	if !maps.Equal(routes, present(r.Input.Routes)) {
		return r.fault("the routes of its findings are not those of its input")
	}
	return nil
}

// present returns routes without the destinations that have no findings.
func present(routes map[string]int) map[string]int {
	for _, n := range routes {
		if n == 0 {
			routes = maps.Clone(routes)
			maps.DeleteFunc(routes, func(_ string, n int) bool { return n == 0 })
			return routes
		}
	}
	return routes
}

func (r Recorded) fault(format string, args ...any) error {
	return errs.New(errs.ReplayRecordInvalid, "event %d of task %s tells nothing: %w", r.N, r.Task, fmt.Errorf(format, args...)).
		With("task", r.Task).With("event", r.N)
}
