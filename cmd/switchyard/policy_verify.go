package main

import (
	"bytes"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

func newPolicyVerifyCmd(a *app) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "verify [POLICY ...]",
		Short: "Check a policy exhaustively over all input classes",
		Long: `Verify has a policy decide every input class: each combination of destinations
with findings, of verification, of the round against the cap and of progress, and
every number next to those that the rules compare with. It checks each decision,
each branch and each row of the tables against the invariants:

  every input leads to exactly one decision, to a declared destination
  a clean round commits, and nothing else does
  a finding for stuck ends the loop, and so does the last round
  people are asked before agents run
  the strongest destination wins, and every destination can be reached
  every branch of the decision decides something
  every category is raised by some agent, and every raised category is known

Switchyard's docs/proof.md lists all of them, and which a policy's decision record
may waive. Only the latest version (the project's own, if it has any) is checked
for which agent raises which category.

A violation is shown with the smallest input that causes it. --counterexample
writes this input to a file, for switchyard route --input; if there is no
violation, no file is written. --all takes every version that is built in or in
policies/routing.`,
		Example: `  switchyard policy verify
  switchyard policy verify --all
  switchyard policy verify policies/routing/1.3.0 --counterexample smallest.json
  switchyard route --input smallest.json --policy policies/routing/1.3.0 --explain`,
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "verify every version that is built in or in the project")
	textVar(flags, &f.counterexample, "counterexample", "write the smallest counterexample to `FILE`, as JSON")
	allowUnsignedVar(flags, &f.allowUnsigned)
	f.tree.register(flags)
	a.engineVar(flags)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		if err := f.check(args); err != nil {
			return err
		}
		p, err := a.project()
		if err != nil {
			return err
		}
		if f.tree, err = a.inTree(f.tree, flags); err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			checks, err := f.verify(ctx, a, e, args)
			if err != nil {
				return err
			}
			if c := checks.Counterexample; c != nil && f.counterexample != "" {
				if err := writeCounterexample(p, f.counterexample, c); err != nil {
					return err
				}
			}
			return showCheck(a, checks, (*render.Printer).PolicyCheck, checks.Failure())
		})
	})
	return cmd
}

// checkFlags are the flags of policy verify.
type checkFlags struct {
	all, allowUnsigned bool
	counterexample     string
	tree               treeFlags
}

func (f *checkFlags) check(refs []string) error {
	switch {
	case slices.Contains(refs, ""):
		return usagef("the POLICY is empty")
	case f.all && len(refs) > 0:
		return usagef("--all takes no policy: leave %s out", refs[0])
	case f.counterexample == api.Stdin:
		return usagef("--counterexample needs the name of a file")
	}
	return nil
}

// verify checks the policies on the command line, one after another.
func (f *checkFlags) verify(ctx context.Context, a *app, e *host.Engine, refs []string) (render.PolicyChecks, error) {
	checks, err := e.Policies().Workspace(f.tree.versions, f.tree.records).Check(ctx, api.CheckRequest{
		Policies: refs, All: f.all, AllowUnsigned: f.allowUnsigned,
		Observe: func(id policies.Identity) (func(done, total int), func()) {
			see, end := a.counting("checking " + render.PolicyRef(id))
			return func(done, total int) { see(int64(done), int64(total)) }, end
		},
	})
	result := render.PolicyChecks{Proven: true}
	for _, c := range checks {
		result.Add(c.Ref, c.Report)
	}
	return result, err
}

// writeCounterexample writes a counterexample to a file, and records the path in it.
func writeCounterexample(p project.Project, file string, c *render.Counterexample) error {
	var text bytes.Buffer
	if err := render.JSON(&text, c.Input); err != nil {
		return err
	}
	c.File = file
	return writeFile(p, file, text.Bytes())
}
