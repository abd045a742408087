// Package diff tells what changes in meaning from one policy to another.
//
// It compares what the policies do and not what they say: the tables as they are
// read, and the decisions over the whole domain that both share
// (internal/policy/inputspace). Formatting, comments, METADATA texts, the order and the
// names of rules are no difference, so two texts with equal meaning differ in
// nothing.
//
// It does no I/O, and looks at the clock only to give up: the same two policies always
// give the same Diff, byte by byte.
package diff

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Diff is what changes in meaning from one policy to another. Its lists are
// sorted, and it is read-only once it has been returned.
type Diff struct {
	// From is nil where To is the first version.
	From         *routing.Identity `json:"from,omitzero"`
	To           routing.Identity  `json:"to"`
	Categories   Categories        `json:"categories"`
	Destinations Destinations      `json:"destinations"`
	// Precedence is nil where both rank the same destinations in the same order.
	Precedence *Precedence `json:"precedence,omitzero"`
	Decisions  Decisions   `json:"decisions"`
	// Gaps are the uses of the input in either policy that the domain cannot bound.
	// If there are any, decisions may flip that are not among Decisions.
	Gaps []routing.Location `json:"gaps"`
}

// Timeout is how long a comparison may take. The largest domain takes a fifth of it;
// what takes longer is a policy that is slow for every input, and for no single one
// too slow.
const Timeout = 2 * time.Minute

// Compare returns what changes from one policy to another. If from is nil, to
// is the first version and everything in it is new.
//
// Decisions are compared in terms of destinations: what a re-routed category does
// to them is not multiplied out. Findings for a destination that only one of the
// policies sends findings to have nothing to be compared with.
//
// It makes every decision twice, on all processors: some tenths of a second.
//
// # Errors
//
//   - domain.CodeTooLarge: the policies tell too many inputs apart.
//   - policy-timeout: one of the policies ran over its time for some input,
//     ctx's deadline is over, or the comparison took longer than Timeout.
//   - policy-failed: ctx is cancelled, which is reachable through errors.Is.
func Compare(ctx context.Context, from, to *routing.Policy) (Diff, error) {
	d := Diff{To: to.Identity()}
	if from == nil {
		d.Categories = compareRoutes(nil, to.RouteTable())
		d.Destinations = compareDestinations(nil, to.Destinations())
		d.Precedence = comparePrecedence(nil, to.Precedence())
		d.Decisions = newTally().decisions()
		return d, nil
	}
	identity := from.Identity()
	d.From = &identity
	d.Categories = compareRoutes(from.RouteTable(), to.RouteTable())
	d.Destinations = compareDestinations(from.Destinations(), to.Destinations())
	d.Precedence = comparePrecedence(from.Precedence(), to.Precedence())
	ctx, stop := context.WithTimeout(ctx, Timeout)
	defer stop()
	var err error
	d.Decisions, d.Gaps, err = compareDecisions(ctx, from, to)
	if err != nil {
		return Diff{}, err
	}
	return d, nil
}

// Empty says that both policies have the same meaning, for every possible input.
// It is false where that cannot be said: see Gaps. Two policies of one text are
// always equal.
func (d Diff) Empty() bool { return !d.differs() && !d.open() }

// differs says that a difference was found.
func (d Diff) differs() bool {
	return d.From == nil || d.Categories.changed() || d.Destinations.changed() || d.Precedence != nil ||
		len(d.Decisions.Flips) > 0 || len(d.Decisions.Reasons) > 0
}

// open says that there may be differences that cannot be found.
func (d Diff) open() bool {
	return len(d.Gaps) > 0 && d.From != nil && d.From.Digest != d.To.Digest
}
