package routing

import (
	"context"
	"fmt"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// branches returns the name of the rule that holds the branches of a rule. The space keeps
// it from colliding with a rule or variable of a policy.
func (r Rule) branches() string { return string(r) + " branches" }

// branchesQuery queries every matching branch, by its index.
func (r Rule) branchesQuery() string { return "data." + packageName + `["` + r.branches() + `"]` }

// Branches holds the branches of a policy's rule decision or bar. It reports every branch
// that matches an input, while Decide and Bar report only the value of the first one. It
// always uses the interpreter, whatever the policy's engine. It is safe for concurrent
// use.
type Branches struct {
	policy   *Policy
	rule     Rule
	branches []Branch
	compiler *ast.Compiler
	all      evaluator // for all branches
}

// Branch is one branch of rule decision or bar: a rule or one of its else branches.
type Branch struct {
	// Index is the branch's position in Branches.All, from 0.
	Index int `json:"index"`
	// Chain numbers the rules of that name, from 0. Branches of one chain are tried in
	// order and the first that matches decides; if two chains decide differently, there
	// is no decision. A default rule is the last chain and applies only if no other
	// branch matches.
	Chain int `json:"chain"`
	// Location is where the branch begins.
	Location Location `json:"place"`
	// Decision is the branch's decision, with "" for a computed part. It is nil if all of
	// it is computed, and for a branch of rule bar.
	Decision *Decision `json:"decision,omitzero"`
}

// Match is a branch whose condition is true for an input.
type Match struct {
	// Branch is the Index of the branch.
	Branch int `json:"rung"`
	// Decision is the branch's decision for that input. It is not checked against the
	// host's rules; Decide does that. It is zero for a branch of rule bar.
	Decision Decision `json:"decision"`
}

// Branches returns the branches of a rule, which are empty for a missing rule bar. The first
// call compiles them, which takes about as long as loading the policy; later calls return
// the same value.
//
// # Errors
//
// policy-invalid, policy-timeout and policy-unreadable as in Load.
func (p *Policy) Branches(ctx context.Context, rule Rule) (*Branches, error) {
	if err := ctx.Err(); err != nil {
		return nil, errs.New(errs.PolicyUnreadable, "failed to compile the branches of policy %s: %w", p, err).With("policy", p.ref)
	}
	p.lazyMu.Lock()
	defer p.lazyMu.Unlock()
	if p.branches[rule] == nil {
		b, err := inTime(ctx, p.ref, func() (*Branches, error) { return p.buildBranches(ctx, rule) })
		if err != nil {
			return nil, err
		}
		p.branches[rule] = b
	}
	return p.branches[rule], nil
}

// All returns every branch in evaluation order. It must not be modified.
func (b *Branches) All() []Branch { return b.branches }

// Matching returns every branch that matches in, in order. The first one decides; the
// others are outranked by it. A branch whose evaluation fails does not match; Decide
// fails if it reaches such a branch.
//
// # Errors
//
// policy-invalid-input, policy-failed, policy-timeout and policy-invalid-decision as in
// Decide.
func (b *Branches) Matching(ctx context.Context, in Input) ([]Match, error) {
	in, err := b.policy.Read(in)
	if err != nil {
		return nil, err
	}
	values, err := b.matching(ctx, in)
	if err != nil {
		return nil, err
	}
	matches := []Match{}
	for i := range b.branches {
		value, ok := values[strconv.Itoa(i)]
		if !ok {
			continue
		}
		d, ok := decision(value)
		if !ok && b.rule == DecisionRule {
			return nil, b.policy.fault(errs.PolicyInvalidDecision, in, "branch %d of policy %s returned something that is not a decision", i, b.policy).
				With("returned", shown(value))
		}
		matches = append(matches, Match{Branch: i, Decision: d})
	}
	return matches, nil
}

// matching returns the values of the matching branches, by index.
func (b *Branches) matching(ctx context.Context, in Input) (map[string]any, error) {
	a, err := b.policy.ask(ctx, b.all, in, in.value(b.rule))
	if errs.CodeOf(err) == errs.PolicyFailed && ctx.Err() == nil {
		return b.matchEach(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	values, _ := a.value.(map[string]any)
	return values, nil
}

// matchEach queries each branch separately, because a rule conflict in one of them fails
// a common query.
func (b *Branches) matchEach(ctx context.Context, in Input) (map[string]any, error) {
	values := make(map[string]any)
	for i := range b.branches {
		single, err := b.policy.interpret(ctx, b.compiler, fmt.Sprintf("%s[%d]", b.rule.branchesQuery(), i), false)
		if err != nil {
			return nil, err
		}
		a, err := b.policy.ask(ctx, single, in, in.value(b.rule))
		switch {
		case err == nil && a.defined:
			values[strconv.Itoa(i)] = a.value
		case err != nil && (errs.CodeOf(err) != errs.PolicyFailed || ctx.Err() != nil):
			return nil, err
		}
	}
	return values, nil
}

// buildBranches compiles the policy's modules again, with an additional rule for every
// branch of the given rule. Each rule is in the module of its branch, so all names keep
// their meaning.
func (p *Policy) buildBranches(ctx context.Context, rule Rule) (*Branches, error) {
	b := &Branches{policy: p, rule: rule}
	modules := make(map[string]*ast.Module, len(p.parsed))
	addDefault, chain := func() {}, 0
	for _, m := range p.modules {
		mod := p.parsed[m.shown].Copy()
		modules[m.shown] = mod
		if !isRouting(mod.Package) {
			continue
		}
		for _, r := range p.parsed[m.shown].Rules {
			switch {
			case ruleName(r) != string(rule):
			case r.Default: // there is at most one
				addDefault = func() { b.add(mod, r, chain) }
			default:
				for branch := r; branch != nil; branch = branch.Else {
					b.add(mod, branch, chain)
				}
				chain++
			}
		}
	}
	addDefault()

	var err error
	if b.compiler, err = p.compile(modules); err != nil {
		return nil, err
	}
	b.all, err = p.interpret(ctx, b.compiler, rule.branchesQuery(), false)
	return b, err
}

// add appends a branch to All, and to mod a rule whose value is the branch's decision.
func (b *Branches) add(mod *ast.Module, branch *ast.Rule, chain int) {
	index := len(b.branches)
	head := ast.RefHead(ast.Ref{ast.VarTerm(b.rule.branches()), ast.IntNumberTerm(index)})
	head.Value = branch.Head.Value.Copy()
	head.Assign = true
	head.Location = branch.Location
	mod.Rules = append(mod.Rules, &ast.Rule{
		Head: head, Body: branch.Body.Copy(), Module: mod, Location: branch.Location,
	})
	b.branches = append(b.branches, Branch{
		Index: index, Chain: chain, Location: b.policy.location(branch.Location), Decision: written(branch.Head.Value.Value),
	})
}

// written returns the part of a branch's value that is known without evaluation.
func written(value ast.Value) *Decision {
	object, ok := value.(ast.Object)
	if !ok {
		return nil
	}
	text := func(name string) string {
		if field := object.Get(ast.StringTerm(name)); field != nil {
			s, _ := field.Value.(ast.String)
			return string(s)
		}
		return ""
	}
	return &Decision{NextAction: text("next_action"), Reason: text("reason")}
}
