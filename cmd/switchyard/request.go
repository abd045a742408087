package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// requestFlags are the flags of the commands that decide.
type requestFlags struct {
	reports   []string
	plugin    string
	round     int
	maxRounds int
	verify    verifyFlags
	force     forceFlags
	policy    string
	exitCode  bool
}

// register adds the flags of a command that knows no task.
func (f *requestFlags) register(flags *pflag.FlagSet) {
	f.common(flags)
	f.verify.claim = claimFlag(policies.Absent)
	flags.Var(&f.verify.claim, "verify", claimUsage)
}

// registerTask adds those of a command that decides a task's round.
func (f *requestFlags) registerTask(flags *pflag.FlagSet) {
	f.common(flags)
	f.force.register(flags, "decide without the agents' stamps that are missing")
}

// evidence adds the flags of the reports alone.
func (f *requestFlags) evidence(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.reports, "report", nil, "read a critic's report: `[PLUGIN=]FILE`; FILE - is standard input; may be repeated")
	flags.StringVar(&f.plugin, "plugin", api.Auto, "read reports that name no plugin with `PLUGIN`: a name, a .wasm file, a folder of them, or auto")
}

func (f *requestFlags) common(flags *pflag.FlagSet) {
	f.evidence(flags)
	flags.IntVar(&f.round, "round", 0, "the round `N` that the reports are about, from 1")
	flags.IntVar(&f.maxRounds, "max-rounds", 0, maxRoundsUsage())
	flags.StringVar(&f.policy, "policy", "", policyUsage())
	flags.BoolVar(&f.exitCode, "exit-code", false, "make the decision the exit status")
}

func maxRoundsUsage() string {
	return fmt.Sprintf("the task's cap of `N` rounds, %d to %d (default %d, or the project's)", task.MinRounds, task.MaxRounds, task.DefaultRounds)
}

func policyUsage() string {
	return "decide by `POLICY`: " + policies.Default + ", a directory or an OPA bundle"
}

func checkMaxRounds(flags *pflag.FlagSet, rounds int) error {
	if flags.Changed("max-rounds") && (rounds < task.MinRounds || rounds > task.MaxRounds) {
		return usagef("--max-rounds %d: the cap is from %d to %d", rounds, task.MinRounds, task.MaxRounds)
	}
	return nil
}

func checkRound(flags *pflag.FlagSet, round int) error {
	if flags.Changed("round") && round < 1 {
		return usagef("--round %d: rounds count from 1", round)
	}
	return nil
}

// baseUsage explains the flag --base.
const baseUsage = "compare the task's draft with `REV`, a commit, a branch or a tag, from now on (default the commit at which the task began, or base of switchyard.yaml)"

func checkBase(flags *pflag.FlagSet, base string) error {
	if flags.Changed("base") && base == "" {
		return usagef("--base is empty")
	}
	return nil
}

func checkPolicy(flags *pflag.FlagSet, policy string) error {
	if flags.Changed("policy") && policy == "" {
		return usagef("--policy is empty")
	}
	return nil
}

// request checks the flags and turns them into what the engine asks for.
func (f *requestFlags) request(flags *pflag.FlagSet, p project.Project, stdin io.Reader) (host.Request, error) {
	req := host.Request{Stdin: stdin, Round: f.round, MaxRounds: f.maxRounds, Policy: f.policy}
	var err error
	if req.Verify, err = f.verify.request(flags); err != nil {
		return req, err
	}
	if err := checkRound(flags, f.round); err != nil {
		return req, err
	}
	if err := checkMaxRounds(flags, f.maxRounds); err != nil {
		return req, err
	}
	if err := checkPolicy(flags, f.policy); err != nil {
		return req, err
	}
	if f.plugin == "" {
		return req, usagef("--plugin is empty")
	}
	stdins := 0
	for _, r := range f.reports {
		ref := parseReport(r, f.plugin, p)
		if ref.Path == "" {
			return req, usagef("--report %q names no file", r)
		}
		if ref.Path == api.Stdin {
			stdins++
		}
		req.Reports = append(req.Reports, ref)
	}
	if stdins > 1 {
		return req, usagef("only one --report can be standard input")
	}
	return req, nil
}

// parseReport splits [PLUGIN=]FILE. What stands before the first "=" is a
// plugin if it is a plugin's name or the path of a module, and also if it is
// there and the whole text is not: then it is a folder of plugins, or something
// that was taken for one, which the engine can tell. Else the whole text is a
// file that happens to have "=" in its name.
func parseReport(text, plugin string, p project.Project) api.ReportRef {
	before, after, ok := strings.Cut(text, "=")
	switch {
	case !ok || before == "":
	case abi.IsName(before), strings.HasSuffix(before, project.ModuleSuffix), !p.Exists(text) && p.Exists(before):
		return api.ReportRef{Plugin: before, Path: after}
	}
	return api.ReportRef{Plugin: plugin, Path: text}
}
