package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// redraws is how many samples of a class are drawn in search of a simple one that is
// decided differently from its representative.
const redraws = 200

// checkClasses requires that inputs of one class are decided alike, and that the policy uses
// numbers only in ways that can be bounded.
func (c *checker) checkClasses(ctx context.Context) {
	f := c.found[Classes]
	for _, gap := range c.domain.Gaps() {
		f.add(gapViolation(gap))
	}
	f.checked = c.asked.classes
	var unlike []int
	for class, state := range c.asked.states {
		if !state.same(c.asked.probes[class]) {
			unlike = append(unlike, class)
		}
	}
	slices.SortStableFunc(unlike, func(a, b int) int {
		return cmp.Compare(inputspace.Size(c.domain.Sample(a, seed)), inputspace.Size(c.domain.Sample(b, seed)))
	})
	for i, class := range unlike {
		if i >= MaxViolations {
			f.violated += len(unlike) - i
			break
		}
		probe, other := c.simplestUnlike(ctx, class)
		in, state := c.domain.At(class), c.asked.states[class]
		f.add(Violation{
			Message: fmt.Sprintf("%s, but another input of the same class %s", comesTo(state), comesTo(other)),
			Input:   &in, Decision: state.made(), Code: state.code,
			Other: &Answer{Input: probe, Decision: other.made(), Code: other.code},
		})
	}
}

func gapViolation(gap routing.Location) Violation {
	return Violation{
		Message:  "it is not known which numbers matter here, so there may be more classes than were tried",
		Location: &gap,
	}
}

// simplestUnlike returns the simplest sample of a class that the policy decides differently
// from the representative.
func (c *checker) simplestUnlike(ctx context.Context, class int) (routing.Input, answer) {
	simplest, other := c.domain.Sample(class, seed), c.asked.probes[class]
	for more := range uint64(redraws) {
		probe := c.domain.Sample(class, seed+1+more)
		if inputspace.Size(probe) >= inputspace.Size(simplest) {
			continue
		}
		if a := decide(ctx, c.policy, probe); !a.same(c.asked.states[class]) {
			simplest, other = probe, a
		}
	}
	return simplest, other
}

// comesTo describes the answer for an input.
func comesTo(a answer) string {
	if a.code != "" {
		return "ends in " + string(a.code)
	}
	return fmt.Sprintf("goes to %q (%s)", a.decision.NextAction, a.decision.Reason)
}

// seed draws the samples. It is fixed, so that results are reproducible.
const seed = 1

// answer is the policy's result for an input: a decision or an error code.
type answer struct {
	decision routing.Decision
	code     errs.Code
	message  string // of the error
}

// made returns the decision, or nil if there is none.
func (a answer) made() *routing.Decision {
	if a.code != "" {
		return nil
	}
	return &a.decision
}

// isRefused reports whether the policy made a decision that the host rejects.
func (a answer) isRefused() bool {
	return a.code == errs.PolicyUnsafeCommit || a.code == errs.PolicyUndeclaredDestination
}

// same reports whether two answers are equal.
func (a answer) same(b answer) bool { return a.decision == b.decision && a.code == b.code }

// answers holds the policy's answers by class.
type answers struct {
	states, probes []answer
	// classes is how many classes were decided, from the first on: all, unless the last
	// of these timed out.
	classes int
	slow    bool
}

// ask has the policy decide two inputs of each class.
func ask(ctx context.Context, p *routing.Policy, d *inputspace.Domain, progress func(done, total int)) (answers, error) {
	a := answers{states: make([]answer, d.Len()), probes: make([]answer, d.Len()), classes: d.Len()}
	var slow atomic.Bool
	report := func(done int) {
		if progress != nil && (done%64 == 0 || done == d.Len()) {
			progress(2*done, 2*d.Len())
		}
	}
	timedOut := func(i int) bool {
		return a.states[i].code == errs.PolicyTimeout || a.probes[i].code == errs.PolicyTimeout
	}
	// Representatives with equal values in the fields that the policy reads share an answer.
	// The samples, which are all decided, show whether that is correct.
	d.Each(func(i int) bool {
		if ctx.Err() != nil {
			return false
		}
		a.states[i] = answerOf(p.AskOnce(ctx, routing.DecisionRule, d.At(i)))
		if !timedOut(i) {
			a.probes[i] = decide(ctx, p, d.Sample(i, seed))
		}
		if timedOut(i) {
			slow.Store(true)
		}
		return !slow.Load()
	}, report)
	if ctx.Err() != nil {
		return answers{}, interrupted(ctx, p)
	}
	if a.slow = slow.Load(); a.slow {
		// Every class before the first slow one was decided. Some after it were too, but
		// not always the same ones.
		a.classes = 1
		for !timedOut(a.classes - 1) {
			a.classes++
		}
	}
	return a, nil
}

// decide asks the policy about an input.
func decide(ctx context.Context, p *routing.Policy, in routing.Input) answer {
	return answerOf(p.Ask(ctx, routing.DecisionRule, in))
}

func answerOf(made routing.Decision, err error) answer {
	if err != nil {
		return answer{code: errs.CodeOf(err), message: err.Error()}
	}
	return answer{decision: made}
}
