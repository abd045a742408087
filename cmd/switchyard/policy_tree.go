package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/internal/project"
)

// treeFlags say where a project's versions and their decision records lie.
type treeFlags struct {
	versions, records string
}

func (f *treeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.versions, "policies", "", "the versions lie in `DIR`, in the project (default policies)")
	flags.StringVar(&f.records, "adrs", "", "the decision records lie in `DIR`, in the project (default docs/adr)")
}

// inTree is where the flags say that the tree lies. ledger is the value of --ledger,
// where the command has it.
func (a *app) inTree(f treeFlags, flags *pflag.FlagSet, ledger string) (treeFlags, error) {
	if flags.Changed("ledger") && ledger == "" {
		return f, usagef("--ledger is empty")
	}
	p, err := a.project()
	if err != nil {
		return f, err
	}
	return f.in(flags, p)
}

// in turns the flags into folders relative to the project's root.
func (f *treeFlags) in(flags *pflag.FlagSet, p project.Project) (treeFlags, error) {
	var rel treeFlags
	for _, dir := range []struct {
		flag, path string
		rel        *string
	}{{"policies", f.versions, &rel.versions}, {"adrs", f.records, &rel.records}} {
		if !flags.Changed(dir.flag) {
			continue
		}
		if dir.path == "" {
			return rel, usagef("--%s is empty", dir.flag)
		}
		var inside bool
		if *dir.rel, inside = p.Rel(dir.path); !inside {
			return rel, usagef("--%s %s lies outside of the project", dir.flag, dir.path)
		}
	}
	return rel, nil
}

// asVersion reads a version of a tree, as routing@1.3.0 or 1.3.0; "" stays what it is.
func asVersion(text string) string {
	if text == "" || strings.Contains(text, "@") {
		return text
	}
	return "routing@" + text
}
