package release

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// LintOptions says what there is to hold a tree against besides itself.
type LintOptions struct {
	// Raised are the categories that somebody raises, and who does: agents' modules
	// and the host. The newest version is checked against it. Nil means that nobody
	// knows.
	Raised map[string][]string
	// Replay makes a ledger's decisions again. Nil means that there is no ledger; then
	// a record's replay is checked against its own policy alone.
	Replay Replayer
}

// LintReport is all that is wrong with a tree. The same tree always gives the same
// report.
type LintReport struct {
	// Versions are those of the tree, oldest first.
	Versions []Version `json:"versions"`
	// Records is how many decision records were looked at.
	Records int `json:"records"`
	// Findings come by version, file and line.
	Findings []Finding `json:"findings"`
}

// Clean says that nothing is wrong.
func (r LintReport) Clean() bool { return len(r.Findings) == 0 }

// Version is a version of a tree.
type Version struct {
	// Policy is what the version says that it is, with its digest; without one where it
	// does not load.
	Policy routing.Identity `json:"policy"`
	// Folder is relative to the tree's root.
	Folder string `json:"folder"`
	// Released says that versions.lock has it.
	Released bool `json:"released"`
	// BuiltIn says that this program has it too.
	BuiltIn bool `json:"built_in"`
	// Tests is how many there are, and Coverage how much of the lines they reach, in
	// per cent.
	Tests    int     `json:"tests"`
	Coverage float64 `json:"coverage"`
	// States is how many classes of inputs the invariants were checked for.
	States int `json:"states"`
	// Step is how large the change from the version before is.
	Step diff.Step `json:"step,omitzero"`
}

// Lint checks every version of the tree against every rule. It takes some tenths of
// a second for each version, on all processors.
//
// # Errors
//
// policy-tree-unreadable where the tree cannot be read or has no versions' folder, the errors of
// the Replayer, and the error of ctx. What is wrong with the tree's contents is no
// error but a Finding.
func (t Tree) Lint(ctx context.Context, o LintOptions) (LintReport, error) {
	root, err := t.open()
	if err != nil {
		return LintReport{}, err
	}
	defer root.Close()
	s, err := t.scan(ctx, root)
	if err != nil {
		return LintReport{}, err
	}
	if len(s.versions) == 0 && s.lock.missing {
		return LintReport{}, noTree(t)
	}
	return s.lint(ctx, o)
}

// lint checks a tree that was read against every rule.
func (s *workspace) lint(ctx context.Context, o LintOptions) (LintReport, error) {
	l := &linter{workspace: s, options: o}
	history, err := s.history(ctx)
	if err != nil {
		return LintReport{}, err
	}
	if err := l.shared(ctx); err != nil {
		return LintReport{}, err
	}
	report := LintReport{Versions: []Version{}, Records: len(s.records)}
	for _, v := range s.versions {
		w := &versionLinter{linter: l, version: v, newest: len(history) > 0 && v == history[len(history)-1]}
		for i, other := range history {
			if other == v && i > 0 {
				w.before = history[i-1]
			}
		}
		seen, err := w.look(ctx)
		if err != nil {
			return LintReport{}, err
		}
		report.Versions = append(report.Versions, seen)
	}
	report.Findings = sorted(l.findings)
	return report, nil
}

// linter collects what is wrong with a tree.
type linter struct {
	*workspace
	options  LintOptions
	findings []Finding
}

func (l *linter) add(found ...Finding) { l.findings = append(l.findings, found...) }

func finding(rule Rule, file, format string, args ...any) Finding {
	return Finding{Rule: rule, File: file, Message: fmt.Sprintf(format, args...)}
}

// noTree says that there are no versions here.
func noTree(t Tree) error {
	return errs.New(errs.PolicyTreeUnreadable, "there are no versions of a policy in %s", t.versions()).With("path", t.versions())
}
