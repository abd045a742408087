package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/project"
	"github.com/switchyard-dev/switchyard/host/task"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
)

// requestFlags are the flags of the commands that decide.
type requestFlags struct {
	reports   []string
	plugin    string
	round     int
	maxRounds int
	verify    verifyFlag
	policy    string
	exitCode  bool
}

func (f *requestFlags) register(flags *pflag.FlagSet) {
	f.verify = verifyFlag(policies.Absent)
	flags.StringArrayVar(&f.reports, "report", nil, "read a critic's report: `[PLUGIN=]FILE`; FILE - is standard input; may be repeated")
	flags.StringVar(&f.plugin, "plugin", host.Auto, "read reports that name no plugin with `PLUGIN`: a name, a .wasm file, a folder of them, or auto")
	flags.IntVar(&f.round, "round", 0, "the round that the reports are about, from 1")
	flags.IntVar(&f.maxRounds, "max-rounds", 0, fmt.Sprintf("the task's cap of rounds, %d to %d (default %d, or the project's)", task.MinRounds, task.MaxRounds, task.DefaultRounds))
	flags.Var(&f.verify, "verify", "the outcome of verification: green, red or absent")
	flags.StringVar(&f.policy, "policy", "", "decide by `POLICY`: "+policies.Default+", a directory or an OPA bundle")
	flags.BoolVar(&f.exitCode, "exit-code", false, "make the decision the exit status")
}

// request checks the flags and turns them into what the engine asks for.
func (f *requestFlags) request(flags *pflag.FlagSet, p project.Project, stdin io.Reader) (host.Request, error) {
	req := host.Request{Stdin: stdin, Verify: policies.Verify(f.verify), Round: f.round, MaxRounds: f.maxRounds, Policy: f.policy}
	if flags.Changed("round") && f.round < 1 {
		return req, usagef("--round %d: rounds count from 1", f.round)
	}
	if flags.Changed("max-rounds") && (f.maxRounds < task.MinRounds || f.maxRounds > task.MaxRounds) {
		return req, usagef("--max-rounds %d: the cap is from %d to %d", f.maxRounds, task.MinRounds, task.MaxRounds)
	}
	if flags.Changed("policy") && f.policy == "" {
		return req, usagef("--policy is empty")
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
		if ref.Path == host.Stdin {
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
func parseReport(text, plugin string, p project.Project) host.ReportRef {
	before, after, ok := strings.Cut(text, "=")
	switch {
	case !ok || before == "":
	case plugins.IsName(before), strings.HasSuffix(before, project.ModuleSuffix), !p.Exists(text) && p.Exists(before):
		return host.ReportRef{Plugin: before, Path: after}
	}
	return host.ReportRef{Plugin: plugin, Path: text}
}

// verifyFlag is the flag --verify.
type verifyFlag policies.Verify

func (v *verifyFlag) String() string { return string(*v) }

func (v *verifyFlag) Type() string { return "outcome" }

func (v *verifyFlag) Set(s string) error {
	switch policies.Verify(s) {
	case policies.Green, policies.Red, policies.Absent:
		*v = verifyFlag(s)
		return nil
	default:
		return fmt.Errorf("%q is neither green, red nor absent", s)
	}
}
