package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// check checks one answer against one invariant. It reports whether the invariant applies
// to the input, and describes the violation, if any. An input without a decision violates
// only the invariant that its error belongs to.
type check func(in routing.Input, a answer) (applies bool, wrong string)

// checkDecisions checks every answer against every invariant about single decisions.
func (c *checker) checkDecisions() {
	checks := map[Invariant]check{
		Total:               c.total,
		CleanCommits:        c.cleanCommits,
		OnlyCleanCommits:    c.onlyCleanCommits,
		Declared:            c.declared,
		StuckStrongest:      c.stuckStrongest,
		Ends:                c.ends,
		HumanFirst:          c.humanFirst,
		PrecedenceRespected: c.precedenceRespected(c.forRedAlone()),
	}
	judge := func(in routing.Input, a answer) {
		for invariant, check := range checks {
			f := c.found[invariant]
			applies, wrong := check(in, a)
			if applies {
				f.checked++
			}
			if wrong != "" {
				f.add(Violation{Message: wrong, Input: &in, Decision: a.made(), Code: a.code})
			}
		}
	}
	for i := range c.asked.classes {
		judge(c.domain.At(i), c.asked.states[i])
		judge(c.domain.Sample(i, seed), c.asked.probes[i])
	}
}

// total covers every error that belongs to no other invariant.
func (c *checker) total(_ routing.Input, a answer) (bool, string) {
	if a.isRefused() {
		return true, ""
	}
	return true, a.message
}

// isClean reports whether a round has no open work.
func isClean(in routing.Input) bool { return in.FindingCount == 0 && in.Verify != routing.Red }

// cleanCommits lets a policy that reads the confinement refuse a round below the highest
// level, but not send it to an agent, which would have no work.
func (c *checker) cleanCommits(in routing.Input, a answer) (bool, string) {
	refused := in.Facts != nil && in.Confinement != confinement.Network && c.kind(a) != routing.Agent
	switch {
	case !isClean(in), a.code != "", a.decision.NextAction == routing.Commit:
		return isClean(in), ""
	case refused && slices.Contains(c.policy.Thresholds(routing.DecisionRule).Reads, "confinement"):
		return true, ""
	}
	return true, fmt.Sprintf("nothing is left to do, but the decision is %q", a.decision.NextAction)
}

// onlyCleanCommits also checks the decision itself, so that it does not rely on the host
// to reject the commit.
func (c *checker) onlyCleanCommits(in routing.Input, a answer) (bool, string) {
	switch {
	case isClean(in):
		return false, ""
	case a.code == errs.PolicyUnsafeCommit:
		return true, a.message
	case a.decision.NextAction == routing.Commit:
		return true, "the decision is to commit over " + open(in)
	default:
		return true, ""
	}
}

// open describes the open work.
func open(in routing.Input) string {
	var parts []string
	if in.FindingCount > 0 {
		parts = append(parts, textutil.Count(in.FindingCount, "finding"))
	}
	if in.Verify == routing.Red {
		parts = append(parts, "a red verification")
	}
	return strings.Join(parts, " and ")
}

func (c *checker) declared(_ routing.Input, a answer) (bool, string) {
	if a.code == errs.PolicyUndeclaredDestination {
		return true, a.message
	}
	return true, ""
}

func (c *checker) stuckStrongest(in routing.Input, a answer) (bool, string) {
	applies := in.Routes[routing.Stuck] > 0
	if !applies || a.code != "" || a.decision.NextAction == routing.Stuck {
		return applies, ""
	}
	return true, fmt.Sprintf("%s for %s, but the decision is %q", textutil.Count(in.Routes[routing.Stuck], "finding"), routing.Stuck, a.decision.NextAction)
}

// ends lets a task go past its cap if it may.
func (c *checker) ends(in routing.Input, a answer) (bool, string) {
	extended := in.Facts != nil && in.MayExtend
	applies := in.Round >= in.MaxRounds && !isClean(in) && !extended
	if !applies || a.code != "" || c.kind(a) == routing.Terminal {
		return applies, ""
	}
	return true, fmt.Sprintf("round %d of %d with %s goes on, to %q", in.Round, in.MaxRounds, open(in), a.decision.NextAction)
}

// kind returns the kind of the answer's destination.
func (c *checker) kind(a answer) routing.Kind { return c.destinations[a.decision.NextAction].Kind }

func (c *checker) humanFirst(in routing.Input, a answer) (bool, string) {
	waiting := slices.IndexFunc(c.precedence, func(name string) bool {
		return c.destinations[name].Kind == routing.Human && in.Routes[name] > 0
	})
	if waiting < 0 || a.code != "" || c.kind(a) != routing.Agent {
		return waiting >= 0, ""
	}
	name := c.precedence[waiting]
	return true, fmt.Sprintf("%s for %s, a person, but the decision is the agent %q", textutil.Count(in.Routes[name], "finding"), name, a.decision.NextAction)
}

// precedenceRespected covers decisions that do not end the loop, about inputs with
// findings; stuckStrongest covers findings for stuck. A red verification counts as work
// too: forRed lists the destinations that it leads to by itself, and these may be chosen as
// if they had findings.
func (c *checker) precedenceRespected(forRed []string) check {
	return func(in routing.Input, a answer) (bool, string) {
		if in.FindingCount == 0 || in.Routes[routing.Stuck] > 0 || a.code != "" || c.kind(a) == routing.Terminal {
			return false, ""
		}
		strongest := c.policy.Strongest(in.Routes)
		wanted := []string{strongest}
		if in.Verify == routing.Red {
			for _, name := range forRed {
				if c.rank(name) < c.rank(strongest) {
					wanted = append(wanted, name)
				}
			}
		}
		// If fixes caused the findings, a stronger destination may change the task itself.
		induced := in.Facts != nil && in.InducedRounds > 0 && c.rank(a.decision.NextAction) < c.rank(strongest)
		if induced || slices.Contains(wanted, a.decision.NextAction) {
			return true, ""
		}
		return true, fmt.Sprintf("the strongest destination with findings is %q, but the decision is %q", strongest, a.decision.NextAction)
	}
}

// rank returns a destination's position in the precedence. A destination that is not
// listed comes last.
func (c *checker) rank(name string) int {
	if i := slices.Index(c.precedence, name); i >= 0 {
		return i
	}
	return len(c.precedence)
}

// forRedAlone returns the destinations, except terminal ones, to which the policy sends a
// task that has a red verification and no findings.
func (c *checker) forRedAlone() []string {
	var names []string
	for i := range c.asked.classes {
		a := c.asked.states[i]
		in := c.domain.At(i)
		if in.FindingCount == 0 && in.Verify == routing.Red && a.code == "" && c.kind(a) != routing.Terminal &&
			!slices.Contains(names, a.decision.NextAction) {
			names = append(names, a.decision.NextAction)
		}
	}
	return names
}
