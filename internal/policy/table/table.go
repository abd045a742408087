// Package table remembers the decisions of a policy, for commands that make many.
//
// A table begins with the decisions for single inputs. After thousands of different inputs
// it checks the policy exhaustively (package check). If inputs of one class are decided
// alike, the table remembers a decision for each class (package inputspace) instead, and
// soon has seen every class. Otherwise it continues with single inputs, up to a limit. A
// table exists only in memory and belongs to one loaded policy, so no decision outlives its
// policy.
package table

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// maxInputs bounds the single inputs of a rule, at some 300 bytes each. Interpreting that
// many takes about as long as the check, so a table takes at most twice the time of one
// that never checks, or that checks at the start. Rounds repeat: most ledgers have a few
// hundred different inputs.
const maxInputs = 1 << 14

// Table answers as its policy does. It is not safe for concurrent use.
type Table struct {
	policy   *routing.Policy
	evaluate func(context.Context, routing.Rule, routing.Input) (routing.Decision, error)
	rules    map[routing.Rule]*rule
	checked  bool
	key      []byte
}

// rule is a rule of the policy with its answers.
type rule struct {
	answers map[string]routing.Decision
	classes *inputspace.Domain // nil while answers are by single inputs
}

// New returns an empty table.
func New(p *routing.Policy) *Table {
	t := &Table{policy: p, evaluate: p.AskOrCode, rules: make(map[routing.Rule]*rule)}
	for _, name := range []routing.Rule{routing.DecisionRule, routing.BarRule} {
		t.rules[name] = &rule{answers: make(map[string]routing.Decision)}
	}
	return t
}

// Policy returns the policy.
func (t *Table) Policy() *routing.Policy { return t.policy }

// Ask is AskOrCode of routing.Policy.
func (t *Table) Ask(ctx context.Context, name routing.Rule, in routing.Input) (routing.Decision, error) {
	r := t.rules[name]
	if r.classes == nil {
		t.key = in.AppendKey(t.key[:0], nil)
	} else {
		seen, err := t.policy.Read(in)
		if err != nil {
			return t.evaluate(ctx, name, in)
		}
		t.key = r.classes.AppendKey(t.key[:0], seen)
	}
	if d, ok := r.answers[string(t.key)]; ok {
		return d, nil
	}
	d, err := t.evaluate(ctx, name, in)
	if err != nil {
		return d, err
	}
	r.answers[string(t.key)] = d
	if r.classes == nil && len(r.answers) == maxInputs {
		clear(r.answers) // frequent inputs soon come back
		return d, t.useClasses(ctx)
	}
	return d, nil
}

// useClasses changes the table to classes if the policy decides the inputs of a class
// alike. It tries that once.
func (t *Table) useClasses(ctx context.Context) error {
	if t.checked {
		return nil
	}
	t.checked = true
	report, err := check.Verify(ctx, t.policy, check.Options{})
	if err != nil || !slices.ContainsFunc(report.Results, func(r check.Result) bool { return r.Invariant == check.Classes && r.Holds }) {
		return ctx.Err() // any other error means that the policy cannot be checked
	}
	for name, r := range t.rules {
		if r.classes, err = inputspace.Of(name, t.policy); err != nil {
			return err
		}
		clear(r.answers)
	}
	return nil
}
