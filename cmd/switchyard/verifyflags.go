package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
	"github.com/switchyard-dev/switchyard/policies"
)

const claimUsage = "the `OUTCOME` of verification: green, red or absent"

// verifyFlags say how a draft is verified.
type verifyFlags struct {
	claim    claimFlag
	command  string
	exitCode string
}

func (f *verifyFlags) register(flags *pflag.FlagSet) {
	flags.Var(&f.claim, "verify", claimUsage+" (default what the project's own says)")
	flags.StringVar(&f.command, "verify-cmd", "", "verify by running `COMMAND` in a shell")
	flags.StringVar(&f.exitCode, "verify-exit-code", "", "verification ran already and ended with exit code `N`")
}

// request checks the flags and turns them into what the engine asks for.
func (f *verifyFlags) request(flags *pflag.FlagSet) (host.VerifyRequest, error) {
	req := host.VerifyRequest{Claim: policies.Verify(f.claim), Command: f.command}
	var given []string
	for _, name := range []string{"verify", "verify-cmd", "verify-exit-code"} {
		if flags.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 1 {
		return req, usagef("%s say the same in two ways; give one", strings.Join(given, " and "))
	}
	if flags.Changed("verify-cmd") && strings.TrimSpace(f.command) == "" {
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

// claimFlag is the flag --verify.
type claimFlag policies.Verify

func (v *claimFlag) String() string { return string(*v) }

func (v *claimFlag) Type() string { return "outcome" }

func (v *claimFlag) Set(s string) error {
	switch policies.Verify(s) {
	case policies.Green, policies.Red, policies.Absent:
		*v = claimFlag(s)
		return nil
	default:
		return fmt.Errorf("%q is neither green, red nor absent", s)
	}
}
