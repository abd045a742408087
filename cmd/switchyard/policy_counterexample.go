package main

import (
	"bytes"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// brokenIn lists the invariants that are broken and not waived.
func brokenIn(r check.Report) []string {
	var names []string
	for _, result := range r.Results {
		if isBroken(result) {
			names = append(names, string(result.Invariant))
		}
	}
	return names
}

func isBroken(r check.Result) bool {
	return !r.Holds && r.WaivedBy == "" && r.Skipped == ""
}

// simplest returns the violation with the simplest input, and what it violates; nil
// where no input shows it. Of inputs that are equally simple the first one counts.
func simplest(r check.Report) (*check.Violation, check.Invariant) {
	var best *check.Violation
	var broken check.Invariant
	for _, result := range r.Results {
		if !isBroken(result) {
			continue
		}
		for i, v := range result.Violations {
			if v.Input != nil && (best == nil || inputspace.Size(*v.Input) < inputspace.Size(*best.Input)) {
				best, broken = &result.Violations[i], result.Invariant
			}
		}
	}
	return best, broken
}

// writeCounterexample writes the counterexample, if there is one, and notes where.
func writeCounterexample(p project.Project, file string, c *render.Counterexample) error {
	if c == nil {
		return nil
	}
	var text bytes.Buffer
	if err := render.JSON(&text, c.Input); err != nil {
		return err
	}
	if err := writeFile(p, file, text.Bytes()); err != nil {
		return err
	}
	c.File = file
	return nil
}
