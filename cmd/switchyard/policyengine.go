package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/policies"
)

// engineFlag is the flag --engine. Its zero value is the default.
type engineFlag policies.Engine

func (f *engineFlag) String() string {
	if *f == "" {
		return string(policies.EngineRego)
	}
	return string(*f)
}

func (f *engineFlag) Type() string { return "engine" }

func (f *engineFlag) Set(s string) error {
	if e := policies.Engine(s); e != policies.EngineRego && e != policies.EngineWasm {
		return fmt.Errorf("%q is neither %s nor %s", s, policies.EngineRego, policies.EngineWasm)
	}
	*f = engineFlag(s)
	return nil
}

// registerEngine adds --engine to a command that evaluates a policy.
func (a *app) registerEngine(flags *pflag.FlagSet) {
	flags.Var((*engineFlag)(&a.policyEngine), "engine", "evaluate the policy with `ENGINE`: rego interprets it, wasm compiles it to WebAssembly; both decide alike")
}
