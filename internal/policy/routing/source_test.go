package routing_test

import (
	"slices"
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
