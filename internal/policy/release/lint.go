package release

import (
	"context"
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// LintOptions gives Lint data outside of the tree.
type LintOptions struct {
	// Raised lists, for each category, the agent modules or the host that raise it. The
	// latest version is checked against it. Nil means unknown.
	Raised map[string][]string
	// Replay replays a ledger. Nil means that there is no ledger; then a record's replay
	// is checked only against its own policy.
	Replay Replayer
}

// LintReport lists the defects of a tree. It is deterministic.
type LintReport struct {
	// Versions lists the tree's versions, oldest first.
	Versions []Version `json:"versions"`
	// Records is the number of decision records checked.
	Records int `json:"records"`
	// Findings are sorted by version, file and line.
	Findings []Finding `json:"findings"`
}

// Clean reports whether there are no findings.
func (r LintReport) Clean() bool { return len(r.Findings) == 0 }

// Version describes a version of a tree.
type Version struct {
	// Policy is the version's identity; the digest is missing if it does not load.
	Policy routing.Identity `json:"policy"`
	// Folder is relative to the tree's root.
	Folder string `json:"folder"`
	// Released reports whether versions.lock has the version.
	Released bool `json:"released"`
	// BuiltIn reports whether this program has the version built in.
	BuiltIn bool `json:"built_in"`
	// Tests is the number of tests, and Coverage the lines that they cover, in percent.
	Tests    int     `json:"tests"`
	Coverage float64 `json:"coverage"`
	// States is the number of input classes checked against the invariants.
	States int `json:"states"`
	// Step is the size of the change from the previous version.
	Step diff.Step `json:"step,omitzero"`
}

// Lint checks every version of the tree against every rule. It takes some tenths of a
// second for each version, on all processors.
//
// # Errors
//
// policy-tree-unreadable if the tree cannot be read or has no versions folder, the errors
// of the Replayer, and the error of ctx. Defects of the tree's contents are Findings, not
// errors.
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

// lint checks a loaded tree against every rule.
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

// linter collects the defects of a tree.
type linter struct {
	*workspace
	options  LintOptions
	findings []Finding
}

func (l *linter) add(found ...Finding) { l.findings = append(l.findings, found...) }

func finding(rule Rule, file, format string, args ...any) Finding {
	return Finding{Rule: rule, File: file, Message: fmt.Sprintf(format, args...)}
}

// noTree returns the error for a tree without versions.
func noTree(t Tree) error {
	return errs.New(errs.PolicyTreeUnreadable, "there are no versions of a policy in %s", t.versions()).With("path", t.versions())
}
