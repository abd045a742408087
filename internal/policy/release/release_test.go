package release_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// TestFromTheIdeaToTheRelease follows docs/amending.md: a new category in a user's
// project.
func TestFromTheIdeaToTheRelease(t *testing.T) {
	whole(t)
	tree := release.Tree{BuiltIn: policies.Files(), Root: t.TempDir()}
	made, err := tree.New(t.Context(), release.NewOptions{Title: "Secrets", Date: day()})
	if err != nil {
		t.Fatal(err)
	}
	folder := "policies/routing/" + p(made.Policy) + "/"
	for name, c := range map[string][2]string{
		"routing.rego":      {"\t\"shrinkable\"", "\t\"secret-in-code\": \"askuser\",\n\t\"shrinkable\""},
		"routing_test.rego": {`"question-to-user"}`, `"question-to-user", "secret-in-code"}`},
	} {
		file := filepath.Join(tree.Root, filepath.FromSlash(folder+name))
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), c[0]) {
			t.Fatalf("%s has no %q: %v", name, c[0], err)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), c[0], c[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	record := "docs/adr/0001-secrets.md"
	argue(t, tree, record)
	known := raised(t)
	known["secret-in-code"] = []string{"critic-security"}
	options := release.ReleaseOptions{Accept: true, Raised: known, Replay: replayedOf(nil)}
	done, err := tree.Release(t.Context(), options)
	if err != nil {
		t.Fatalf("%v: %+v", err, refusals(err))
	}
	if done.Already || done.Policy.Version != p(made.Policy) || done.Record.Status != adr.Accepted || !slices.Equal(done.Files, []string{record, "policies/versions.lock"}) {
		t.Errorf("%+v", done)
	}
	before, err := policies.Load(t.Context(), policies.Default)
	if err != nil {
		t.Fatal(err)
	}
	after, err := policies.Load(t.Context(), filepath.Join(tree.Root, filepath.FromSlash(folder)))
	if err != nil {
		t.Fatal(err)
	}
	change, err := diff.Compare(t.Context(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	all := content(t, tree)
	block := "<!-- switchyard:diff -->\n\n" + strings.TrimSpace(change.Markdown()) + "\n\n<!-- /switchyard:diff -->\n"
	if text := all[record]; !strings.Contains(text, block) || !strings.Contains(text, "secret-in-code") || !strings.Contains(text, "  digest: "+change.Digest()+"\n") {
		t.Errorf("%s", text)
	}
	if !strings.HasSuffix(all["policies/versions.lock"], "\n"+made.Policy+" "+after.Identity().Digest+"\n") {
		t.Errorf("%s", all["policies/versions.lock"])
	}
	if report := lint(t, tree, release.LintOptions{Raised: known, Replay: options.Replay}); !report.Clean() {
		t.Errorf("%+v", report.Findings)
	}
}

// TestReleaseIsDoneOnce checks that a second release reports that and writes nothing.
func TestReleaseIsDoneOnce(t *testing.T) {
	tree := plant(t, released(t))
	before := content(t, tree)
	done, err := tree.Release(t.Context(), release.ReleaseOptions{Version: "routing@0.2.0", Accept: true, Replay: none(t)})
	if err != nil || !done.Already || len(done.Files) != 0 || done.Record.Diff == nil || done.Policy.Version != "0.2.0" {
		t.Errorf("%+v, %v", done, err)
	}
	if after := content(t, tree); !maps.Equal(before, after) {
		t.Error("the tree changed")
	}
}

// none returns a Replayer that must not be called.
func none(t *testing.T) release.Replayer {
	return func(context.Context, *routing.Policy, int64) (replay.Report, error) {
		t.Error("the ledger was asked")
		return replay.Report{}, nil
	}
}

// TestReleaseFillsIn checks that only a record's figures and one line of the lock change.
func TestReleaseFillsIn(t *testing.T) {
	f := drafts()
	f[lockFile] = "# ours\n\nrouting@1.0.0 " + digest + "\n# the end"
	f.replace(t, firstRecord, "date:", "# of mine\ndate:")
	p := load(t, small)
	ours, err := policies.Load(t.Context(), "routing@1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	f.lockLine(t, "routing@1.0.0", "routing@1.0.0 "+ours.Identity().Digest+"\n")
	tree := plant(t, f)
	done, err := tree.Release(t.Context(), release.ReleaseOptions{Version: "routing@0.1.0", Replay: replayed})
	if err != nil {
		t.Fatalf("%v: %+v", err, refusals(err))
	}
	report, err := replayed(t.Context(), p, 0)
	if err != nil {
		t.Fatal(err)
	}
	change, err := diff.Compare(t.Context(), nil, p)
	if err != nil {
		t.Fatal(err)
	}
	want := "---\nstatus: accepted\n# of mine\ndate: 2026-11-21\npolicy: routing@0.1.0\ndiff:\n  summary: '" + change.Summary() + "'\n  digest: " + change.Digest() +
		"\nreplay:\n  summary: '" + report.Summary() + "'\n  digest: " + report.Digest() + "\n  policy: " + p.Identity().Digest + "\n  decisions: 3\n  through: 7\n" +
		"---\n\n# ADR-0001: Small\n\nText.\n\n<!-- switchyard:diff -->\n\n" + strings.TrimSpace(change.Markdown()) + "\n\n<!-- /switchyard:diff -->\n\nMore.\n"
	all := content(t, tree)
	if all[firstRecord] != want {
		t.Errorf("the record is\n%s\nwant\n%s", all[firstRecord], want)
	}
	if want := "# ours\n\nrouting@0.1.0 " + p.Identity().Digest + "\nrouting@1.0.0 " + ours.Identity().Digest + "\n# the end"; all[lockFile] != want {
		t.Errorf("the lock is\n%s\nwant\n%s", all[lockFile], want)
	}
	if !slices.Equal(done.Files, []string{firstRecord, lockFile}) {
		t.Errorf("%+v", done)
	}
	delete(all, firstRecord)
	delete(all, lockFile)
	delete(f, firstRecord)
	delete(f, lockFile)
	if !maps.Equal(all, f) {
		t.Error("something else changed")
	}
}

// raised returns the categories raised by our agents and the host's audits.
func raised(t *testing.T) map[string][]string {
	t.Helper()
	all, err := definition.Library{}.Raised()
	if err != nil {
		t.Fatal(err)
	}
	for _, category := range []string{"rule-9-violation", "skill-bar-unconsulted"} {
		all[category] = append(all[category], "the host's audit")
	}
	return all
}

func load(t *testing.T, source string) *routing.Policy {
	t.Helper()
	p, err := routing.Loader{}.FromSources(t.Context(), "policies/routing/0.1.0", []routing.Source{{Name: "routing.rego", Text: source}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestReleaseGoesOnWhereItWasKilled: the record is written before the lock.
func TestReleaseGoesOnWhereItWasKilled(t *testing.T) {
	good := released(t)
	f := maps.Clone(good)
	f.lockLine(t, "routing@0.2.0", "")
	tree := plant(t, f)
	done, err := tree.Release(t.Context(), release.ReleaseOptions{Replay: replayed})
	if err != nil || done.Already || !slices.Equal(done.Files, []string{lockFile}) {
		t.Errorf("%+v, %v", done, err)
	}
	if after := content(t, tree); !maps.Equal(after, good) {
		t.Error("the tree is not what it would have been")
	}
}

// TestReleasedMeanwhile: two processes release the same version.
func TestReleasedMeanwhile(t *testing.T) {
	good := released(t)
	f := maps.Clone(good)
	f.lockLine(t, "routing@0.2.0", "")
	tree := plant(t, f)
	done, err := tree.Release(t.Context(), release.ReleaseOptions{Replay: func(ctx context.Context, p *routing.Policy, through int64) (replay.Report, error) {
		if _, err := tree.Release(ctx, release.ReleaseOptions{Version: "routing@0.2.0", Replay: replayed}); err != nil {
			t.Errorf("the other process: %v", err)
		}
		return replayed(ctx, p, through)
	}})
	if err != nil {
		t.Errorf("%+v, %v", done, err)
	}
	if after := content(t, tree); !maps.Equal(after, good) {
		t.Errorf("the lock is\n%s", after[lockFile])
	}
}

// TestReleaseCompletesAnOldRecord fills in the figures of a version that was released
// without them. The lock is unchanged.
func TestReleaseCompletesAnOldRecord(t *testing.T) {
	f := released(t)
	lock := f[lockFile]
	f.edit(t, typoRecord, func(r *adr.Record) { r.Diff, r.Replay, r.Supersedes = nil, nil, "" })
	tree := plant(t, f)
	done, err := tree.Release(t.Context(), release.ReleaseOptions{Version: "routing@0.2.0", Replay: replayed})
	if err != nil || !slices.Equal(done.Files, []string{typoRecord}) || done.Record.Diff == nil || done.Record.Supersedes != "routing@0.1.0" {
		t.Errorf("%+v, %v", done, err)
	}
	if got := content(t, tree)[lockFile]; got != lock {
		t.Errorf("the lock is\n%s", got)
	}
}

// TestReleaseRefuses checks the findings, and that the tree is unchanged.
func TestReleaseRefuses(t *testing.T) {
	ready := released(t)
	ready.lockLine(t, "routing@0.2.0", "")
	for name, c := range map[string]struct {
		breaks  func(*testing.T, files)
		options release.ReleaseOptions
		code    errs.Code
		rules   []string
	}{
		"a failing test":    {change(tests, `== "stuck"`, `== "fixer"`), release.ReleaseOptions{}, errs.PolicyReleaseRefused, []string{v2 + "tested"}},
		"no such record":    {remove(typoRecord), release.ReleaseOptions{}, errs.PolicyReleaseRefused, []string{v2 + "adr-named"}},
		"a proposed record": {change(typoRecord, "accepted", "proposed"), release.ReleaseOptions{}, errs.PolicyReleaseRefused, []string{v2 + "adr-accepted"}},
		"a record of prompts": {
			change(typoRecord, "\nText.\n", "\nWhat goes wrong, how often, and who noticed.\n"), release.ReleaseOptions{Accept: true}, errs.PolicyReleaseRefused, []string{v2 + "adr-text"},
		},
		"a rejected record":   {change(typoRecord, "accepted", "rejected"), release.ReleaseOptions{Accept: true}, errs.PolicyReleaseRefused, []string{v2 + "adr-accepted"}},
		"an older one's test": {change(first+"routing_test.rego", `== "stuck"`, `== "fixer"`), release.ReleaseOptions{}, errs.PolicyReleaseRefused, []string{"routing@0.1.0 tested"}},
		"an older one to be released": {
			lockLine("routing@0.1.0", ""), release.ReleaseOptions{Version: "routing@0.2.0"}, errs.PolicyReleaseRefused, []string{"routing@0.1.0 locked"},
		},
		"one without a lock": {remove(lockFile), release.ReleaseOptions{Version: "routing@0.2.0"}, errs.PolicyReleaseRefused, []string{"routing@0.1.0 locked"}},
		"a changed one": {
			change(first+"routing.rego", "# title: Small", "# title: Little"), release.ReleaseOptions{Version: "routing@0.1.0"}, errs.PolicyReleaseRefused, []string{"routing@0.1.0 unchanged"},
		},
		"a broken lock":          {add(lockFile, "what?\n"), release.ReleaseOptions{Version: "routing@0.2.0"}, errs.PolicyReleaseRefused, []string{"lock-valid"}},
		"no such version":        {put("x", ""), release.ReleaseOptions{Version: "routing@0.9.0"}, errs.PolicyVersionUnknown, nil},
		"a path":                 {put("x", ""), release.ReleaseOptions{Version: "routing@.."}, errs.PolicyVersionUnknown, nil},
		"two to choose from":     {lockLine("routing@0.1.0", ""), release.ReleaseOptions{}, errs.PolicyVersionUnknown, nil},
		"a category nobody knew": {put("x", ""), release.ReleaseOptions{Raised: map[string][]string{"brand-new": {"critic"}}}, errs.PolicyReleaseRefused, []string{v2 + "proven"}},
	} {
		f := maps.Clone(ready)
		c.breaks(t, f)
		tree := plant(t, f)
		before := content(t, tree)
		c.options.Replay = none(t)
		done, err := tree.Release(t.Context(), c.options)
		if errs.CodeOf(err) != c.code || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v", name, done, err)
			continue
		}
		if got := rules(refusals(err)); c.code == errs.PolicyReleaseRefused && !slices.Equal(got, c.rules) {
			t.Errorf("%s: broken are %q, want %q", name, got, c.rules)
		}
		if after := content(t, tree); !maps.Equal(before, after) {
			t.Errorf("%s: the tree changed", name)
		}
	}
}

// TestReleasedAlready checks that Version "" means the latest version if all are
// released.
func TestReleasedAlready(t *testing.T) {
	tree := plant(t, released(t))
	done, err := tree.Release(t.Context(), release.ReleaseOptions{Replay: none(t)})
	if err != nil || !done.Already || done.Policy.Version != "0.2.0" || done.Folder != "policies/routing/0.2.0" || len(done.Files) != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err := (release.Tree{BuiltIn: policies.Files(), Root: t.TempDir()}).Release(t.Context(), release.ReleaseOptions{Replay: none(t)}); errs.CodeOf(err) != errs.PolicyTreeUnreadable {
		t.Errorf("no tree: %+v, %v", done, err)
	}
}

func TestReleaseNeedsALedger(t *testing.T) {
	tree := plant(t, drafts())
	if _, err := tree.Release(t.Context(), release.ReleaseOptions{Version: "routing@0.1.0"}); errs.CodeOf(err) != errs.PolicyReleaseRefused {
		t.Errorf("none: %v", err)
	}
	why := errors.New("the ledger is on fire")
	before := content(t, tree)
	_, err := tree.Release(t.Context(), release.ReleaseOptions{
		Version: "routing@0.1.0",
		Replay:  func(context.Context, *routing.Policy, int64) (replay.Report, error) { return replay.Report{}, why },
	})
	if !errors.Is(err, why) {
		t.Errorf("a broken one: %v", err)
	}
	if after := content(t, tree); !maps.Equal(before, after) {
		t.Error("the tree changed")
	}
}

// TestALaterDraftIsNoReasonToRefuse: it may be unfinished.
func TestALaterDraftIsNoReasonToRefuse(t *testing.T) {
	f := drafts()
	f.replace(t, rego, "_open if", "_open iff")
	tree := plant(t, f)
	if _, err := tree.Release(t.Context(), release.ReleaseOptions{Version: "routing@0.1.0", Replay: replayed}); err != nil {
		t.Errorf("%v: %+v", err, refusals(err))
	}
}
