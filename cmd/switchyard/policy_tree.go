package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// treeFlags name the directories of a project's versions and of their decision records.
type treeFlags struct {
	versions, records string
}

func (f *treeFlags) register(flags *pflag.FlagSet) {
	textVar(flags, &f.versions, "policies", "the versions are in `DIR`, in the project (default policies)")
	textVar(flags, &f.records, "adrs", "the decision records are in `DIR`, in the project (default docs/adr)")
}

// inTree returns the directories that the flags name, relative to the project's root.
func (a *app) inTree(f treeFlags, flags *pflag.FlagSet) (rel treeFlags, err error) {
	p, err := a.project()
	if err != nil {
		return rel, err
	}
	for _, dir := range []struct {
		flag, path string
		rel        *string
	}{{"policies", f.versions, &rel.versions}, {"adrs", f.records, &rel.records}} {
		if !flags.Changed(dir.flag) {
			continue
		}
		var inside bool
		if *dir.rel, inside = p.Rel(dir.path); !inside {
			return rel, usagef("--%s %s is outside the project", dir.flag, dir.path)
		}
	}
	return rel, nil
}

// asVersion returns the version in routing@1.3.0 or 1.3.0; "" remains "".
func asVersion(text string) string {
	if text == "" || strings.Contains(text, "@") {
		return text
	}
	return "routing@" + text
}
