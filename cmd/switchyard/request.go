package main

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
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
	textVar(flags, &f.plugin, "plugin", "read reports that name no plugin with `PLUGIN`: a name, a .wasm file, a folder of them, or auto")
}

// refs returns the reports that the flags name.
func (f *reportFlags) refs(e *host.Engine) ([]api.ReportRef, error) {
	var refs []api.ReportRef
	stdins := 0
	for _, text := range f.reports {
		ref := e.Plugins().ReportRef(text, f.plugin)
		if ref.Path == "" {
			return nil, usagef("--report %q names no file", text)
		}
		if ref.Path == api.Stdin {
			stdins++
		}
		refs = append(refs, ref)
	}
	if stdins > 1 {
		return nil, usagef("only one --report can be standard input")
	}
	return refs, nil
}

// decisionFlags are the flags of the commands that decide a round on reports.
type decisionFlags struct {
	reportFlags
	round, maxRounds int
	policy           string
	exitCode         bool
}

func (f *decisionFlags) register(a *app, flags *pflag.FlagSet) {
	f.reportFlags.register(flags)
	roundVar(flags, &f.round, "the round `N` that the reports are about, from 1")
	maxRoundsVar(flags, &f.maxRounds)
	policyVar(flags, &f.policy)
	flags.BoolVar(&f.exitCode, "exit-code", false, "make the decision the exit status")
	a.engineVar(flags)
}

// request returns the request of the flags.
func (f *decisionFlags) request(a *app, e *host.Engine) (host.Request, error) {
	reports, err := f.refs(e)
	return host.Request{Reports: reports, Stdin: a.in, Round: f.round, MaxRounds: f.maxRounds, Policy: f.policy}, err
}

// showDecision prints a decision. With exitCode it also sets the exit status.
func (a *app) showDecision(d host.Decision, err error, exitCode bool) error {
	if exitCode {
		a.exit = decisionExit(d.NextAction)
		if len(d.Missing) > 0 {
			a.exit = exitOther // The commit has to wait for attestations.
		}
	}
	return show(a, d, err, (*render.Printer).Decision)
}

func maxRoundsVar(flags *pflag.FlagSet, rounds *int) {
	numberVar(flags, rounds, "max-rounds", task.MinRounds, task.MaxRounds,
		fmt.Sprintf("the task's cap of `N` rounds, %d to %d (default %d, or the project's)", task.MinRounds, task.MaxRounds, task.DefaultRounds))
}

func policyVar(flags *pflag.FlagSet, policy *string) {
	textVar(flags, policy, "policy", "decide by `POLICY`: "+policies.Default+", a directory or an OPA bundle")
}

func baseVar(flags *pflag.FlagSet, base *string) {
	textVar(flags, base, "base", "compare the task's draft with `REV`, a commit, a branch or a tag, from now on (default the commit at which the task began, or base of switchyard.yaml)")
}

func adapterVar(flags *pflag.FlagSet, adapter *string) {
	textVar(flags, adapter, "adapter", "run agents with `ADAPTER`: claude, codex, gemini, opencode, copilot, exec or one of the project's (default spawn.adapter of switchyard.yaml)")
}

// engineVar adds --engine to a command that evaluates a policy.
func (a *app) engineVar(flags *pflag.FlagSet) {
	a.policyEngine = policies.EngineRego
	choiceVar(flags, &a.policyEngine, "engine", "evaluate the policy with `ENGINE`: rego interprets it, wasm compiles it to WebAssembly; both decide alike", policies.EngineRego, policies.EngineWasm)
}

func verifyVar(flags *pflag.FlagSet, claim *policies.Verify, suffix string) {
	choiceVar(flags, claim, "verify", "the `OUTCOME` of verification: green, red or absent"+suffix, policies.Green, policies.Red, policies.Absent)
}

// verifyFlags select how a draft is verified.
type verifyFlags struct {
	claim             policies.Verify
	command, exitCode string
}

func (f *verifyFlags) register(flags *pflag.FlagSet) {
	verifyVar(flags, &f.claim, " (default the result of the project's own verification)")
	textVar(flags, &f.command, "verify-cmd", "verify by running `COMMAND` in a shell")
	flags.StringVar(&f.exitCode, "verify-exit-code", "", "verification ran already and ended with exit code `N`")
}

// request returns the verification request of the flags.
func (f *verifyFlags) request(flags *pflag.FlagSet) (host.VerifyRequest, error) {
	req := host.VerifyRequest{Claim: f.claim, Command: f.command}
	if err := checkExclusive(flags, "verify", "verify-cmd", "verify-exit-code"); err != nil {
		return req, err
	}
	if f.command != "" && strings.TrimSpace(f.command) == "" {
		return req, usagef("--verify-cmd is empty")
	}
	if flags.Changed("verify-exit-code") {
		code, err := verifycmd.ParseExitCode(f.exitCode)
		if err != nil {
			return req, err
		}
		req.ExitCode = &code
	}
	return req, nil
}

// forceFlags pass a gate on a user's word, which is recorded permanently.
type forceFlags struct {
	force  bool
	reason string
}

func (f *forceFlags) register(flags *pflag.FlagSet, effect string) {
	flags.BoolVar(&f.force, "force", false, effect+"; needs --reason, and is recorded permanently")
	flags.StringVar(&f.reason, "reason", "", "the reason: `TEXT`")
}

// request returns the recorded reason, or nil without --force.
func (f *forceFlags) request() (*task.Force, error) {
	switch {
	case !f.force && f.reason != "":
		return nil, usagef("--reason explains --force, which is missing")
	case !f.force:
		return nil, nil
	default:
		return newForce(f.reason)
	}
}

// maxReason is the number of code points of a reason that are recorded.
const maxReason = 300

// newForce returns a forced gate, which needs a reason.
func newForce(reason string) (*task.Force, error) {
	if !strings.ContainsFunc(reason, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return nil, errs.New(errs.ForceReasonMissing, "--force needs a reason")
	}
	return &task.Force{Reason: textutil.Fit(reason, maxReason), By: userName()}, nil
}

// readInput reads a file that the user named, or standard input.
func (a *app) readInput(ctx context.Context, file string, limit int64) ([]byte, error) {
	if file == api.Stdin {
		return project.ReadAll(ctx, a.in, "standard input", limit)
	}
	return a.project.Read(ctx, file, limit)
}
