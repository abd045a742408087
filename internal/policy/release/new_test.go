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

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// TestNewInAnEmptyProject checks that a project's first version follows the built-in
// ones.
func TestNewInAnEmptyProject(t *testing.T) {
	tree := release.Tree{BuiltIn: policies.Files(), Root: t.TempDir()}
	made, err := tree.New(t.Context(), release.NewOptions{Title: "  Secrets in code: stop at once!  ", Date: day()})
	if err != nil {
		t.Fatal(err)
	}
	versions := policies.Versions()
	last := versions[len(versions)-1]
	newest, err := policies.Load(t.Context(), last)
	if err != nil {
		t.Fatal(err)
	}
	next := diff.NextVersion(newest.Identity().Version, diff.Minor)
	folder := "policies/routing/" + next + "/"
	record := "docs/adr/0001-secrets-in-code-stop-at-once.md"
	if made.Policy != "routing@"+next || made.From != last || made.Before != last || made.BeforeRef != last || made.ADR != "ADR-0001" ||
		!slices.Equal(made.Files, []string{folder + "routing.rego", folder + "routing_test.rego", record, lockFile}) {
		t.Errorf("%+v", made)
	}
	got := content(t, tree)
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, slices.Sorted(slices.Values(made.Files))) {
		t.Errorf("files are %v", names)
	}
	tests, err := (routing.Loader{Released: policies.Files()}).TestSources(last)
	if err != nil || got[folder+"routing_test.rego"] != tests[0].Text {
		t.Errorf("the tests are no copy: %v", err)
	}
	want := strings.NewReplacer("version: "+newest.Identity().Version, "version: "+next, "adr: "+newest.Identity().ADR, "adr: ADR-0001").Replace(newest.Sources()[0].Text)
	if got[folder+"routing.rego"] != want {
		t.Errorf("the rules are no copy:\n%s", got[folder+"routing.rego"])
	}
	locked, err := routing.ParseLock(got[lockFile])
	if err != nil || len(locked) != len(versions) || locked[last] != newest.Identity().Digest || !strings.HasPrefix(got[lockFile], "#") {
		t.Errorf("%v\n%s", err, got[lockFile])
	}
	head := "---\nstatus: proposed\ndate: 2026-12-24\npolicy: routing@" + next + "\nsupersedes: " + last +
		"\n---\n\n# ADR-0001: Secrets in code: stop at once!\n\n## Context\n\n"
	if text := got[record]; !strings.HasPrefix(text, head) || !strings.Contains(text, "\n## Decision\n") || !strings.Contains(text, "\n## Consequences\n") ||
		!strings.Contains(text, "\n<!-- switchyard:diff -->\n<!-- /switchyard:diff -->\n") || !strings.HasSuffix(text, ".\n") {
		t.Errorf("%s", text)
	}
}

// TestNewLacksOnlyTheDecision checks that a new version has no defect except that its
// record is not accepted.
func TestNewLacksOnlyTheDecision(t *testing.T) {
	tree := plant(t, released(t))
	made, err := tree.New(t.Context(), release.NewOptions{Title: "More", Date: day()})
	if err != nil {
		t.Fatal(err)
	}
	got := rules(lint(t, tree, everything()).Findings)
	v := made.Policy + " "
	if want := []string{v + "adr-accepted", v + "adr-diff", v + "adr-replay", v + "adr-text", v + "locked"}; !slices.Equal(got, want) {
		t.Errorf("broken are %q", got)
	}
}

func TestNewNumbers(t *testing.T) {
	good := released(t)
	for name, c := range map[string]struct {
		options release.NewOptions
		add     files
		want    release.Created
	}{
		"a minor version": {release.NewOptions{}, nil, release.Created{Policy: "routing@0.3.0", From: "routing@0.2.0", ADR: "ADR-0003"}},
		"a patch":         {release.NewOptions{Step: diff.None}, nil, release.Created{Policy: "routing@0.2.1", From: "routing@0.2.0", ADR: "ADR-0003"}},
		"a major version, of a number that is built in too": {
			release.NewOptions{Step: diff.Major}, nil, release.Created{Policy: "routing@1.0.0", From: "routing@0.2.0", ADR: "ADR-0003"},
		},
		"an older copy": {release.NewOptions{From: "routing@0.1.0"}, nil, release.Created{Policy: "routing@0.3.0", From: "routing@0.1.0", ADR: "ADR-0003"}},
		"a gap in the records": {
			release.NewOptions{}, files{"docs/adr/0041-x.md": "no record, but the number is taken", "docs/adr/9-x.md": ""},
			release.Created{Policy: "routing@0.3.0", From: "routing@0.2.0", ADR: "ADR-0042"},
		},
	} {
		tree := plant(t, with(good, c.add))
		c.options.Title, c.options.Date = "Title", day()
		made, err := tree.New(t.Context(), c.options)
		if err != nil || made.Policy != c.want.Policy || made.From != c.want.From || made.Before != "routing@0.2.0" || made.BeforeRef != "policies/routing/0.2.0" || made.ADR != c.want.ADR {
			t.Errorf("%s: %+v, %v", name, made, err)
			continue
		}
		p, err := policies.Load(t.Context(), filepath.Join(tree.Root, "policies", "routing", p(made.Policy)))
		if err != nil || p.Identity().ADR != made.ADR || p.String() != made.Policy {
			t.Errorf("%s: %v, %v", name, p, err)
			continue
		}
		_, spelling := p.Route("spelling")
		if spelling != (made.From == "routing@0.2.0") {
			t.Errorf("%s: it is a copy of another version", name)
		}
	}
}

// p returns the number of a reference.
func p(ref string) string { return strings.TrimPrefix(ref, "routing@") }

func with(all, more files) files {
	all = maps.Clone(all)
	maps.Copy(all, more)
	return all
}

// TestNewCopiesWhateverMETADATALooksLike checks other YAML notations: quotes, another
// order, one line.
func TestNewCopiesWhateverMETADATALooksLike(t *testing.T) {
	const plain = "# custom:\n#   version: 0.2.0\n#   adr: ADR-0002\n"
	for _, custom := range []string{
		"# custom:\n#   adr: 'ADR-0002'\n#   version: \"0.2.0\"\n",
		"# custom: {version: 0.2.0, adr: ADR-0002}\n",
		"# custom: { adr: \"ADR-0002\" , version: '0.2.0' }\n",
		"# custom:\n#   was_version: 0.2.0\n#   version: 0.2.0   # of 0.2.0\n#   adr: ADR-0002\n#   note: version 0.2.0\n",
	} {
		f := released(t)
		f.replace(t, rego, plain, custom)
		tree := plant(t, f)
		made, err := tree.New(t.Context(), release.NewOptions{Title: "Title", Date: day()})
		if err != nil {
			t.Errorf("%q: %v", custom, err)
			continue
		}
		want := strings.Replace(f[rego], custom, "", 1)
		got := content(t, tree)["policies/routing/0.3.0/routing.rego"]
		start := strings.Index(got, "# custom")
		end := strings.Index(got, "package ")
		if made.Policy != "routing@0.3.0" || got[:start]+got[end:] != want {
			t.Errorf("%q: more than METADATA changed:\n%s", custom, got)
		}
	}
}

// TestNewRefuses checks that New fails and leaves the tree unchanged.
func TestNewRefuses(t *testing.T) {
	good := released(t)
	for name, c := range map[string]struct {
		options release.NewOptions
		add     files
		code    errs.Code
	}{
		"no title":              {release.NewOptions{Title: " "}, nil, errs.PolicyTitleInvalid},
		"two lines of title":    {release.NewOptions{Title: "a\n---\nstatus: accepted"}, nil, errs.PolicyTitleInvalid},
		"a title that turns":    {release.NewOptions{Title: "a \u202e b"}, nil, errs.PolicyTitleInvalid},
		"an endless title":      {release.NewOptions{Title: strings.Repeat("long ", 100)}, nil, errs.PolicyTitleInvalid},
		"not UTF-8":             {release.NewOptions{Title: "a\xff"}, nil, errs.PolicyTitleInvalid},
		"no such version":       {release.NewOptions{Title: "A", From: "routing@7.0.0"}, nil, errs.PolicySourceUnfit},
		"another policy":        {release.NewOptions{Title: "A", From: "stranger@0.1.0"}, nil, errs.PolicySourceUnfit},
		"a path":                {release.NewOptions{Title: "A", From: "policies/routing/0.1.0"}, nil, errs.PolicySourceUnfit},
		"one that is newer":     {release.NewOptions{Title: "A", From: "routing@1.2.0"}, nil, errs.PolicySourceUnfit},
		"one that is broken":    {release.NewOptions{Title: "A", From: "routing@0.1.0"}, files{first + "routing.rego": "package x"}, errs.PolicySourceUnfit},
		"one to be released":    {release.NewOptions{Title: "A"}, files{"policies/routing/0.3.0/routing.rego": small}, errs.PolicyVersionExists},
		"one that is gone":      {release.NewOptions{Title: "A"}, files{lockFile: good[lockFile] + "routing@0.3.0 " + digest + "\n"}, errs.PolicyVersionExists},
		"a file in the way":     {release.NewOptions{Title: "A"}, files{"policies/routing/0.3.0": ""}, errs.PolicyTreeUnwritable},
		"the last record":       {release.NewOptions{Title: "A"}, files{"docs/adr/9999-last.md": ""}, errs.PolicyVersionExists},
		"a lock that is broken": {release.NewOptions{Title: "A"}, files{lockFile: "what?"}, errs.PolicyTreeUnreadable},
	} {
		tree := plant(t, with(good, c.add))
		before := content(t, tree)
		c.options.Date = day()
		made, err := tree.New(t.Context(), c.options)
		if errs.CodeOf(err) != c.code || strings.ContainsAny(err.Error(), "\n\r\u202e") {
			t.Errorf("%s: %+v, %v", name, made, err)
		}
		if after := content(t, tree); !maps.Equal(before, after) {
			t.Errorf("%s: the tree changed: %v", name, slices.Sorted(maps.Keys(after)))
		}
	}
}

// TestNewIsAllOrNothing checks that the version's directory is removed if the record cannot
// be written.
func TestNewIsAllOrNothing(t *testing.T) {
	tree := release.Tree{BuiltIn: policies.Files(), Root: t.TempDir()}
	if err := os.Symlink("nowhere", filepath.Join(tree.Root, "docs")); err != nil {
		t.Fatal(err)
	}
	if made, err := tree.New(t.Context(), release.NewOptions{Title: "A", Date: day()}); errs.CodeOf(err) != errs.PolicyTreeUnwritable {
		t.Errorf("%+v, %v", made, err)
	}
	entries, err := os.ReadDir(tree.Root)
	if err != nil || len(entries) != 1 {
		t.Errorf("something was left behind: %v, %v", entries, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	empty := release.Tree{BuiltIn: policies.Files(), Root: t.TempDir()}
	if _, err := empty.New(ctx, release.NewOptions{Title: "A", Date: day()}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if after := content(t, empty); len(after) != 0 {
		t.Errorf("it was cancelled, and there is %v", after)
	}
}
