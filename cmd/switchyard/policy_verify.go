package main

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/policies"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func newPolicyVerifyCmd(a *app) *cobra.Command {
	var f proofFlags
	cmd := &cobra.Command{
		Use:   "verify [POLICY ...]",
		Short: "Prove a policy over everything that it can be asked",
		Long: `Verify has a policy decide every kind of input that there is: each combination
of destinations with findings, of verification, of the round against the cap and
of progress, and every number around those that the rules compare with. It holds
each decision, each branch and each row of the tables against the invariants:

  every input comes to exactly one decision, to a declared destination
  a clean round commits, and nothing else does
  a finding for stuck ends the loop, and so does the last round
  people are asked before agents are sent off
  the strongest destination wins, and none is dead
  every branch of the decision decides something
  every category is raised by some agent, and every raised category is known

Switchyard's docs/proof.md has them all, and which of them a policy's decision
record may waive. Who raises which category is asked of the newest version
alone, of the project's own if it has any.

What does not hold is shown with the smallest input that shows it, which
--counterexample writes to a file, for switchyard route --input; where all
holds, none is written. --all takes every version that is built in or lies in
policies/routing.`,
		Example: `  switchyard policy verify
  switchyard policy verify --all
  switchyard policy verify policies/routing/1.3.0 --counterexample smallest.json
  switchyard route --input smallest.json --policy policies/routing/1.3.0 --explain`,
		ValidArgsFunction: policyRefs,
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "verify every version that is built in or in the project")
	flags.StringVar(&f.counterexample, "counterexample", "", "write the smallest counterexample to `FILE`, as JSON")
	allowUnsignedFlag(flags, &f.allowUnsigned)
	f.tree.register(flags)
	a.registerEngine(flags)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		for _, arg := range args {
			if arg == "" {
				return usagef("the POLICY is empty")
			}
		}
		if f.all && len(args) > 0 {
			return usagef("--all takes no policy: %s is one", args[0])
		}
		if flags.Changed("counterexample") && (f.counterexample == "" || f.counterexample == api.Stdin) {
			return usagef("--counterexample needs the name of a file")
		}
		p, err := a.project()
		if err != nil {
			return err
		}
		if f.tree, err = f.tree.in(flags, p); err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			proofs, err := f.check(ctx, a, e, args)
			if err != nil {
				return err
			}
			if f.counterexample != "" {
				if err := writeCounterexample(p, f.counterexample, proofs.Counterexample); err != nil {
					return err
				}
			}
			text := func(p *render.Printer) { p.PolicyCheck(proofs) }
			if !proofs.Proven {
				return a.after(text, notProven(proofs))
			}
			return a.print(proofs, text)
		})
	})
	return cmd
}

// proofFlags are those of verify.
type proofFlags struct {
	all, allowUnsigned bool
	counterexample     string
	tree               treeFlags
}

// check checks the policies that the command line names, one after another.
func (f *proofFlags) check(ctx context.Context, a *app, e *host.Engine, refs []string) (render.PolicyChecks, error) {
	checks, err := e.Policies().Workspace(f.tree.versions, f.tree.records).Check(ctx, api.CheckRequest{
		Policies: refs, All: f.all, AllowUnsigned: f.allowUnsigned,
		Observe: func(id policies.Identity) (func(done, total int), func()) {
			see, end := a.counting("proving " + render.PolicyRef(id))
			return func(done, total int) { see(int64(done), int64(total)) }, end
		},
	})
	result := render.PolicyChecks{Proven: true}
	for _, c := range checks {
		add(&result, c.Ref, c.Report)
	}
	return result, err
}

// add adds a policy's report.
func add(all *render.PolicyChecks, ref string, r check.Report) {
	all.Reports = append(all.Reports, r)
	if r.Proven() {
		return
	}
	all.Proven = false
	if all.Counterexample != nil {
		return
	}
	if v, broken := simplest(r); v != nil {
		all.Counterexample = &render.Counterexample{Policy: ref, Invariant: broken, Input: *v.Input}
	}
}

// notProven says which policies are not proven.
func notProven(all render.PolicyChecks) *errs.Error {
	var broken []string
	for _, r := range all.Reports {
		if !r.Proven() {
			broken = append(broken, fmt.Sprintf("%s does not keep %s", render.PolicyRef(r.Policy), textutil.List(brokenIn(r), render.MaxNamed)))
		}
	}
	f := errs.New(errs.PolicyNotProven, "policy %s", textutil.List(broken, render.MaxNamed)).With("reports", all.Reports)
	if all.Counterexample != nil {
		f = f.With("counterexample", *all.Counterexample)
	}
	return f
}
