package release

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"github.com/switchyard-dev/switchyard/internal/policy/regotest"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// versionLinter checks one version of the tree.
type versionLinter struct {
	*linter
	*version
	latest bool
}

// say adds findings about the version.
func (w *versionLinter) say(found ...Finding) {
	for _, f := range found {
		f.Policy = w.ref
		w.add(f)
	}
}

// check checks the version against every rule. If the policy does not load, the checks
// that need it are skipped: there is a finding already.
func (w *versionLinter) check(ctx context.Context) (Version, error) {
	_, released := w.lock.digests[w.ref]
	seen := Version{Policy: identity(w.ref), Folder: w.folder, Released: released}
	if !isVersion(w.ref) {
		w.say(finding(FolderName, w.folder, "the name of a version's directory must be three numbers, such as 1.3.0").hint("rename it, or move it elsewhere"))
	}
	if w.err != nil {
		w.say(problems(finding(Loads, w.folder, ""), w.err)...)
		return seen, ctx.Err()
	}
	seen.Policy = w.policy.Identity()
	if got := seen.Policy.String(); got != w.ref {
		w.say(finding(FolderName, w.folder, "its METADATA says that it is %s", got).hint("rename the directory, or correct custom.version"))
	}
	w.checkMetadata()
	if err := w.checkTests(ctx, &seen); err != nil {
		return Version{}, err
	}
	w.checkFormat()
	w.checkUnchanged(&seen)
	return seen, w.checkRecord(ctx, &seen)
}

// checkMetadata requires METADATA for everything public. The loader checks the package's.
func (w *versionLinter) checkMetadata() {
	titled := make(map[string]bool)
	at := make(map[string]*ast.Location)
	for _, f := range w.modules {
		module, err := ast.ParseModuleWithOpts(path.Join(w.folder, f.Name), f.Text, ast.ParserOptions{
			Capabilities: routing.Capabilities(), RegoVersion: ast.RegoV1, ProcessAnnotation: true,
		})
		if err != nil {
			w.say(problems(finding(Metadata, w.folder, ""), err)...)
			return
		}
		if module.Package.Path.String() != "data.switchyard."+policyName {
			continue
		}
		for _, rule := range module.Rules {
			name := rule.Head.Ref().String()
			if at[name] == nil {
				at[name] = rule.Loc()
			}
			for _, a := range rule.Annotations {
				titled[name] = titled[name] || strings.TrimSpace(a.Title) != ""
			}
		}
	}
	for _, name := range []string{"destinations", "route_table", "precedence", "decision"} {
		if loc := at[name]; loc != nil && !titled[name] {
			f := finding(Metadata, loc.File, "%s has no METADATA with a title", name).hint("describe it in a METADATA comment above it")
			w.say(f.at(routing.Location{File: loc.File, Row: loc.Row, Col: loc.Col, Text: name}))
		}
	}
}

func (w *versionLinter) checkTests(ctx context.Context, seen *Version) error {
	want := path.Join(w.folder, testFile)
	if len(w.tests) == 0 {
		w.say(finding(Tested, want, "it has no tests").hint("write %s; the version before has some to begin with", want))
		return ctx.Err()
	}
	report, err := regotest.Run(ctx, w.files())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.say(problems(finding(Tested, want, ""), err)...)
		return nil
	}
	seen.Tests, seen.Coverage = len(report.Tests), report.Coverage.Percent
	for _, t := range report.Tests {
		if t.Outcome != regotest.Passed {
			w.say(notPassed(t))
		}
	}
	if len(report.Tests) == 0 {
		w.say(finding(Tested, want, "it has no tests").hint("rules that begin with test_ are tests"))
	}
	if missing := report.Coverage.Missing; len(missing) > 0 {
		f := finding(Covered, missing[0].File, "its tests reach %g %% of its lines; not %s", report.Coverage.Percent, lines(missing))
		w.say(f.at(missing[0]).hint("add tests that need these lines, or remove the lines"))
	}
	return nil
}

// testFile is the name of a version's test file, as created by New.
const testFile = policyName + "_test.rego"

func notPassed(t regotest.Test) Finding {
	what := t.Message
	switch {
	case what != "":
	case t.Outcome == regotest.Skipped:
		what = "its name says that it is still to be written"
	case len(t.Cases) > 0:
		what = "not for " + textutil.List(t.Cases, 5)
	case t.FailedAt != nil:
		what = fmt.Sprintf("line %d does not hold: %s", t.FailedAt.Row, t.FailedAt.Text)
	default:
		what = "it does not hold"
	}
	f := finding(Tested, t.Location.File, "%s %s: %s", t.Name, t.Outcome, textutil.Clip(what, 500))
	if t.FailedAt != nil {
		return f.at(*t.FailedAt)
	}
	return f.at(t.Location)
}

// lines lists the first few lines.
func lines(places []routing.Location) string {
	var words []string
	for _, p := range places {
		words = append(words, fmt.Sprintf("%s:%d", path.Base(p.File), p.Row))
	}
	return textutil.List(words, 8)
}

// checkFormat requires every file to be formatted by opa fmt, so that a diff shows only
// real changes.
func (w *versionLinter) checkFormat() {
	for _, f := range w.files() {
		want, err := format.SourceWithOpts(f.Name, []byte(f.Text), format.Opts{RegoVersion: ast.RegoV1})
		if err == nil && string(want) != f.Text {
			at, line := firstDifference(f.Name, f.Text, string(want))
			g := finding(Formatted, f.Name, "it is not formatted: opa fmt writes %s here", line)
			w.say(g.at(at).hint("tabs and spaces count; opa fmt --write %s formats the whole file", f.Name))
		}
	}
}

// firstDifference returns the first location at which a text differs from want, and the
// wanted line in quotes, because the difference may be only a tab.
func firstDifference(file, text, want string) (routing.Location, string) {
	lines, others := strings.Split(text, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(lines)-1 && i < len(others) && lines[i] == others[i] {
		i++
	}
	line := "nothing more"
	if i < len(others)-1 {
		line = strconv.Quote(others[i])
	}
	return routing.Location{File: file, Row: i + 1, Col: 1, Text: strings.TrimSpace(lines[i])}, line
}

// checkUnchanged checks the version against the lock. If the lock does not have it and it
// begins the tree's line, it is checked against the built-in version. A released version,
// and any version after it, is valid whatever a later program has built in.
func (w *versionLinter) checkUnchanged(seen *Version) {
	digest, ours := seen.Policy.Digest, ""
	if v := find(w.builtIn, w.ref); v != nil {
		ours = v.policy.Identity().Digest
	}
	seen.BuiltIn = ours == digest
	begins := w.before == nil || w.before.folder == ""
	switch locked, ok := w.lock.digests[w.ref]; {
	case w.lock.err != nil: // there is a finding already
	case w.edited():
		w.say(finding(Unchanged, w.folder, "it was released as %s, and is %s now", locked, digest).
			hint("restore it from version control, and make the change in a new version: switchyard policy new"))
	case ok:
	case begins && ours != "" && ours != digest:
		w.say(finding(Unchanged, w.folder, "this program has it built in as %s, and it is %s here", ours, digest).
			hint("a version has only one digest: remove directory and record and begin again with switchyard policy new, or rename the directory, custom.version and the record's policy, and remove its supersedes"))
	default:
		w.say(finding(Locked, w.folder, "%s does not have it", lockPath).hint("switchyard policy release %s", w.ref))
	}
}
