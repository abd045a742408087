package routing_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// A policy rebuilt from its sources is the same, whatever it was loaded from.
func TestAPolicyIsRebuiltFromItsSources(t *testing.T) {
	dir := writeDir(t, spread)
	for _, ref := range append(policies.Versions(), dir, opaBundle(t, dir)) {
		p := load(t, ref)
		sources := p.Sources()
		trusting := routing.Loader{Trust: &bundle.Trust{}} // sources need no signature
		again, err := trusting.FromSources(t.Context(), "kept", sources)
		if err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		if again.Identity() != p.Identity() || again.Title() != p.Title() || !slices.Equal(again.Sources(), sources) {
			t.Errorf("%s: rebuilt it is %+v, want %+v", ref, again.Identity(), p.Identity())
		}
		want, _ := p.Decide(t.Context(), clean())
		if got, err := again.Decide(t.Context(), clean()); err != nil || got != want {
			t.Errorf("%s: rebuilt it decides %+v, %v, want %+v", ref, got, err, want)
		}
	}
}

func TestSourcesAreTheModulesByTheirNames(t *testing.T) {
	var names []string
	sources := load(t, writeDir(t, spread)).Sources()
	for _, s := range sources {
		names = append(names, s.Name)
		if s.Text != spread[s.Name] {
			t.Errorf("%s has the text %q", s.Name, s.Text)
		}
	}
	if want := []string{"decision.rego", "lib/names.rego", "tables.rego"}; !slices.Equal(names, want) {
		t.Errorf("the sources are %v, want %v", names, want)
	}
	p := load(t, policies.Default)
	p.Sources()[0] = routing.Source{}
	if got := p.Sources()[0].Name; got != "routing.rego" {
		t.Errorf("the caller's change is seen by others: %q", got)
	}
}

func TestSourcesThatAreNoneAreRefused(t *testing.T) {
	good := routing.Source{Name: "policy.rego", Text: goodPolicy}
	many := []routing.Source{good}
	for i := range routing.MaxModules {
		many = append(many, routing.Source{Name: string(rune('a'+i/26)) + string(rune('a'+i%26)) + ".rego", Text: "package lib\n"})
	}
	for name, sources := range map[string][]routing.Source{
		"none":          nil,
		"no name":       {{Text: goodPolicy}},
		"twice":         {good, good},
		"a test":        {good, {Name: "policy_test.rego", Text: "package x_test\n"}},
		"absolute":      {{Name: "/policy.rego", Text: goodPolicy}},
		"outside":       {{Name: "../policy.rego", Text: goodPolicy}},
		"a page":        {{Name: "policy.txt", Text: goodPolicy}},
		"no Rego":       {{Name: "policy.rego", Text: "words"}},
		"too many":      many,
		"not a routing": {{Name: "policy.rego", Text: "package lib\n"}},
	} {
		_, err := routing.Loader{}.FromSources(t.Context(), "kept", sources)
		if wantCode(t, err, errs.PolicyInvalid); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestReadDirReadsOnlyTests(t *testing.T) {
	dir := writeDir(t, map[string]string{
		"routing.rego": "package a", "routing_test.rego": "package b", "deep/more_test.rego": "package c", "notes_test.md": "none",
	})
	tests, err := routing.ReadDir(dir, routing.IsTest)
	if err != nil {
		t.Fatal(err)
	}
	want := []routing.Source{{Name: "deep/more_test.rego", Text: "package c"}, {Name: "routing_test.rego", Text: "package b"}}
	if len(tests) != len(want) || tests[0] != want[0] || tests[1] != want[1] {
		t.Errorf("got %v, want %v", tests, want)
	}
}

func TestReadDirHoldsTheLimits(t *testing.T) {
	large := strings.Repeat("#", routing.MaxModuleBytes-1)
	linked := writeDir(t, nil)
	if err := os.Symlink(writeDir(t, map[string]string{"x_test.rego": ""})+"/x_test.rego", filepath.Join(linked, "y_test.rego")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for name, c := range map[string]struct {
		dir  string
		code errs.Code
	}{
		"nothing there":  {filepath.Join(linked, "nowhere"), errs.PolicyUnreadable},
		"a link outside": {linked, errs.PolicyUnreadable},
		"a directory":    {writeDir(t, map[string]string{"a_test.rego/b": ""}), ""},
		"too much":       {writeDir(t, map[string]string{"a_test.rego": large, "b_test.rego": "##"}), errs.PolicyInvalid},
		"just enough":    {writeDir(t, map[string]string{"a_test.rego": large, "b_test.rego": "#"}), ""},
	} {
		if _, err := routing.ReadDir(c.dir, routing.IsTest); errs.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}
