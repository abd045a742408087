package release

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// LintOptions gives Lint data from outside the tree.
type LintOptions struct {
	// Raised is as in check.Options, for the latest version.
	Raised map[string][]string
	// Replay replays a ledger. If it is nil, the figures of a record's replay are not
	// checked, only that it was a replay of that policy.
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
// policy-tree-unreadable if the tree cannot be read or has no versions directory, the errors
// of the Replayer, and the error of ctx. Defects of the tree's contents are Findings, not
// errors.
func (t Tree) Lint(ctx context.Context, o LintOptions) (LintReport, error) {
	s, err := t.load(ctx)
	if err != nil {
		return LintReport{}, err
	}
	defer s.root.Close()
	if len(s.versions) == 0 && s.lock.missing {
		return LintReport{}, noTree()
	}
	return s.lint(ctx, o)
}

// lint checks a loaded tree against every rule.
func (s *workspace) lint(ctx context.Context, o LintOptions) (LintReport, error) {
	l := &linter{workspace: s, options: o}
	l.checkShared()
	report := LintReport{Versions: []Version{}, Records: len(s.records)}
	for _, v := range s.versions {
		w := &versionLinter{linter: l, version: v, latest: v == s.latest()}
		seen, err := w.check(ctx)
		if err != nil {
			return LintReport{}, err
		}
		report.Versions = append(report.Versions, seen)
	}
	slices.SortFunc(l.findings, compareFindings)
	report.Findings = l.findings
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
func noTree() error {
	return errs.New(errs.PolicyTreeUnreadable, "there are no versions of a policy in %s", versionsDir).With("path", versionsDir)
}

// checkShared checks the parts of the tree that do not belong to one version.
func (l *linter) checkShared() {
	for _, name := range l.stray {
		l.add(finding(FolderName, name, "it is neither a directory nor a file").hint("versions are directories: put one there, or remove it"))
	}
	files := make(map[int]string)
	for _, r := range l.records {
		if r.IsForeign {
			continue // A project may record other decisions there, in its own format.
		}
		if r.Err != nil {
			l.add(problems(finding(RecordValid, r.File, ""), r.Err)...)
			continue
		}
		if other, taken := files[r.Record.Number]; taken {
			l.add(finding(RecordValid, r.File, "%s is %s too", other, r.Record.Name).hint("give one of them the next free number; if its version is released, begin it again with switchyard policy new"))
		}
		files[r.Record.Number] = r.File
	}
	l.checkLock()
}

// checkLock checks the lock, and its entries without a version in the tree.
func (l *linter) checkLock() {
	switch {
	case l.lock.missing:
		l.add(finding(LockValid, lockPath, "there is no lock").hint("switchyard policy release writes it"))
	case l.lock.err != nil:
		l.add(finding(LockValid, lockPath, "%s", l.lock.err.Error()).hint("restore it from version control"))
	}
	for _, ref := range slices.Sorted(maps.Keys(l.lock.digests)) {
		if find(l.versions, ref) != nil {
			continue
		}
		var f Finding
		if ours := find(l.builtIn, ref); ours != nil {
			if ours.policy.Identity().Digest == l.lock.digests[ref] {
				continue
			}
			f = finding(Unchanged, lockPath, "%s is built in with another digest", ref).hint("restore from version control whichever was changed: the line, or %s", versionDir(identity(ref).Version))
		} else {
			f = finding(Stored, lockPath, "%s was released, and its directory is gone", ref).hint("restore %s from version control", versionDir(identity(ref).Version))
		}
		f.Policy = ref
		l.add(f)
	}
}
