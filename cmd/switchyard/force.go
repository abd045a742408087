package main

import (
	"strings"
	"unicode"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// forceFlags pass a gate on a person's word, which is recorded for ever.
type forceFlags struct {
	force  bool
	reason string
}

func (f *forceFlags) register(flags *pflag.FlagSet, what string) {
	flags.BoolVar(&f.force, "force", false, what+"; needs --reason, and is recorded for ever")
	flags.StringVar(&f.reason, "reason", "", "why: `TEXT`")
}

// request returns the person's word, nil for none.
func (f *forceFlags) request(a *app) (*task.Force, error) {
	switch {
	case !f.force && f.reason != "":
		return nil, usagef("--reason says why a gate is forced; --force is missing")
	case !f.force:
		return nil, nil
	default:
		return newForce(a, f.reason)
	}
}

// newForce is a person's word, which needs its reason.
func newForce(a *app, reason string) (*task.Force, error) {
	if !strings.ContainsFunc(reason, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return nil, errs.New(errs.ForceReasonMissing, "a gate is forced without a reason")
	}
	return &task.Force{Reason: render.Clip(reason, maxReason), By: a.by()}, nil
}
