package main

import (
	"context"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
	"github.com/switchyard-dev/switchyard/policies"
)

// reportFlags name critics' reports.
type reportFlags struct {
	reports []string
	plugin  string
}

func (f *reportFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.reports, "report", nil, "read a critic's report: `[PLUGIN=]FILE`; FILE - is standard input; may be repeated")
	f.plugin = api.Auto
	cli.TextVar(flags, &f.plugin, "plugin", "read reports that name no plugin with `PLUGIN`: a name, a .wasm file, a directory of them, or auto")
}

func (f *reportFlags) refs(e *host.Engine) ([]api.ReportRef, error) {
	var refs []api.ReportRef
	stdins := 0
	for _, text := range f.reports {
		ref := e.Plugins().ReportRef(text, f.plugin)
		if ref.Path == "" {
			return nil, cli.Usagef("--report %q names no file", text)
		}
		if ref.Path == api.Stdin {
			stdins++
		}
		refs = append(refs, ref)
	}
	if stdins > 1 {
		return nil, cli.Usagef("only one --report can be standard input")
	}
	return refs, nil
}

// decisionFlags are the flags of the commands that decide a round on reports.
type decisionFlags struct {
	reportFlags
	req      host.Request
	exitCode bool
}

func (f *decisionFlags) register(a *app, flags *pflag.FlagSet) {
	f.reportFlags.register(flags)
	roundVar(flags, &f.req.Round, "the round `N` that the reports are about, from 1")
	cli.MaxRoundsVar(flags, &f.req.MaxRounds)
	cli.PolicyVar(flags, &f.req.Policy)
	flags.BoolVar(&f.exitCode, "exit-code", false, "make the decision the exit status")
	a.engineVar(flags)
}

func (f *decisionFlags) request(a *app, e *host.Engine) (_ host.Request, err error) {
	f.req.Stdin = a.In
	f.req.Reports, err = f.refs(e)
	return f.req, err
}

// showDecision prints a decision. With exitCode it also sets the exit status.
func (a *app) showDecision(d host.Decision, err error, exitCode bool) error {
	if exitCode {
		a.Exit = cli.ExitOf(d.NextAction)
		if len(d.Missing) > 0 {
			a.Exit = cli.ExitOther // The commit has to wait for attestations.
		}
	}
	return showFindings(a, d, err, (*render.Printer).Decision, decidedReview)
}

func baseVar(flags *pflag.FlagSet, base *string) {
	cli.TextVar(flags, base, "base", "compare the task's draft with `REV`, a commit, a branch or a tag, from now on (default the commit at which the task began, or base of switchyard.yaml)")
}

// engineVar adds --engine to a command that evaluates a policy.
func (a *app) engineVar(flags *pflag.FlagSet) {
	a.policyEngine = policies.EngineRego
	cli.ChoiceVar(flags, &a.policyEngine, "engine", "evaluate the policy with `ENGINE`: rego interprets it, wasm compiles it to WebAssembly; both decide alike", policies.EngineRego, policies.EngineWasm)
}

func verifyVar(flags *pflag.FlagSet, claim *policies.Verify, suffix string) {
	cli.ChoiceVar(flags, claim, "verify", "the `OUTCOME` of verification: green, red or absent"+suffix, policies.Green, policies.Red, policies.Absent)
}

// verifyFlags select how a draft is verified.
type verifyFlags struct {
	req      host.VerifyRequest
	exitCode string
}

func (f *verifyFlags) register(flags *pflag.FlagSet) {
	verifyVar(flags, &f.req.Claim, " (default the result of the project's own verification)")
	cli.TextVar(flags, &f.req.Command, "verify-cmd", "verify by running `COMMAND` in a shell")
	flags.StringVar(&f.exitCode, "verify-exit-code", "", "verification ran already and ended with exit code `N`")
}

func (f *verifyFlags) request(flags *pflag.FlagSet) (host.VerifyRequest, error) {
	if err := cli.CheckExclusive(flags, "verify", "verify-cmd", "verify-exit-code"); err != nil {
		return f.req, err
	}
	if f.req.Command != "" && strings.TrimSpace(f.req.Command) == "" {
		return f.req, cli.Usagef("--verify-cmd is empty")
	}
	if flags.Changed("verify-exit-code") {
		code, err := verifycmd.ParseExitCode(f.exitCode)
		if err != nil {
			return f.req, err
		}
		f.req.ExitCode = &code
	}
	return f.req, nil
}

// forceVar adds --force and --reason, which pass a gate for a reason that is recorded permanently.
// Before the command runs, it sets force if --force is given.
func forceVar(cmd *cobra.Command, force **task.Force, effect string) {
	given := cmd.Flags().Bool("force", false, effect+"; needs --reason, and is recorded permanently")
	reason := cmd.Flags().String("reason", "", "the reason: `TEXT`")
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		switch {
		case *given:
			*force, err = newForce(*reason)
		case *reason != "":
			err = cli.Usagef("--reason explains --force, which is missing")
		}
		return err
	}
}

// maxReason is the maximum length of a recorded reason, in code points.
const maxReason = 300

func newForce(reason string) (*task.Force, error) {
	if !strings.ContainsFunc(reason, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return nil, errs.New(errs.ForceReasonMissing, "a gate is forced without a reason")
	}
	return &task.Force{Reason: textutil.Fit(reason, maxReason), By: cli.UserName()}, nil
}

func roundVar(flags *pflag.FlagSet, value *int, usage string) {
	cli.NumberVar(flags, value, "round", 1, 0, usage)
}

// splitList splits a list at its commas and drops empty items.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// readInput reads a file that the user named, or standard input.
func (a *app) readInput(ctx context.Context, file string, limit int64) ([]byte, error) {
	return a.ReadInput(ctx, a.project, file, limit)
}
