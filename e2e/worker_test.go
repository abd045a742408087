package e2e

import (
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// roleOf returns the role that a prompt gives to its agent.
func roleOf(text string) string {
	if fakeagent.ReadBrief(text).ReportPath != "" {
		return "critic"
	}
	for line := range strings.Lines(text) {
		if role, ok := strings.CutPrefix(line, "role: "); ok {
			return strings.TrimSpace(role)
		}
	}
	return ""
}

// worker is a model that does a whole task in its worktree, which is below the directory
// state: as executor it renames the package of a.go, as critic it has these findings in
// the first round, and as build-fixer it writes a test.
func worker(state string, findings ...fakeagent.Finding) scenario {
	return func(r request) reply {
		b := fakeagent.ReadBrief(r.Text)
		role, step := roleOf(r.Text), len(r.Results)
		if aside(r) {
			return reply{text: "Rename the package"}
		}
		tree := filepath.Join(state, "switchyard", "worktrees", "*", b.Task)
		if found, err := filepath.Glob(tree); err == nil && len(found) == 1 {
			tree = found[0]
		}
		draft, test := filepath.Join(tree, "a.go"), filepath.Join(tree, "a_test.go")
		switch {
		case role == "critic" && b.Round == 1:
			return critic(findings...)(r)
		case role == "critic":
			return critic()(r)
		case role == "executor" && step == 0:
			return reads(r, draft)
		case role == "executor" && step == 1:
			return replaces(r, draft, "package a", "package b")
		case role == "build-fixer" && step == 0:
			return writes(r, test, "package b\n")
		case role == "build-fixer":
			return reply{text: "Test the package"}
		}
		return reply{text: "Rename the package\n\nIts old name says nothing."}
	}
}
