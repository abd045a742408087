package routing_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	opa "github.com/open-policy-agent/opa/v1/bundle"
	_ "github.com/open-policy-agent/opa/v1/features/wasm" // OPA's engine for policy.wasm
	"github.com/open-policy-agent/opa/v1/rego"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// A policy survives packing and loading unchanged.
func TestABundleIsTheSamePolicy(t *testing.T) {
	for _, ref := range policies.Versions() {
		want := load(t, ref)
		for _, wasm := range []bool{false, true} {
			path := pack(t, want, routing.PackOptions{Wasm: wasm})
			got := load(t, path)
			if got.Identity().Digest != want.Identity().Digest || got.Identity().Revision != want.Identity().Version {
				t.Errorf("%s: identity is %+v", ref, got.Identity())
			}
			if !slices.Equal(got.Sources(), want.Sources()) {
				t.Errorf("%s: sources are %+v", ref, got.Sources())
			}
			first, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			again, err := got.Pack(t.Context(), routing.PackOptions{Wasm: wasm})
			if err != nil || !bytes.Equal(first, again) {
				t.Errorf("%s: packed again it differs: %v", ref, err)
			}
			rapid.Check(t, func(r *rapid.T) {
				in := anyInput(r)
				if d, err := got.Decide(t.Context(), in); err != nil || d != oracle(ref, in) {
					r.Fatalf("%s: Decide(%+v) = %+v, %v", ref, in, d, err)
				}
			})
		}
	}
}

// A bundle does not depend on where and when it is made.
func TestABundleIsReproducibleToTheByte(t *testing.T) {
	private, _ := keyPair(t, "release-2026")
	o := routing.PackOptions{Revision: "7", Wasm: true, Sign: &bundle.Signing{Key: private}}
	var first []byte
	for _, ref := range []string{"routing@1.2.0", "../../../policies/routing/1.2.0", "./../../../policies/routing/../routing/1.2.0", "routing@1.2.0"} {
		packed, err := load(t, ref).Pack(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = packed
		}
		if !bytes.Equal(first, packed) {
			t.Errorf("%s: %d bytes differ from the first %d", ref, len(packed), len(first))
		}
	}
}

func TestABundleKeepsToThePackagesThatItHas(t *testing.T) {
	files := map[string]string{
		"deep/helper.rego":      "package switchyard.routing.helpers\n\nfixer := \"fixer\"\n",
		"deep/helper_test.rego": "package switchyard.routing.helpers_test\n",
		"odd name.rego":         "package lib[\"odd/name\"]\n\nx := 1\n",
		"README.md":             "words",
	}
	for name, content := range spread {
		files[name] = content
	}
	packed := pack(t, load(t, writeDir(t, files)), routing.PackOptions{Wasm: true})
	f, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := opa.NewReader(f).Read() // OPA checks the packages against the roots
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"lib", "switchyard/routing"}; !slices.Equal(*got.Manifest.Roots, want) {
		t.Errorf("roots are %q, want %q", *got.Manifest.Roots, want)
	}
	var names []string
	for _, m := range got.Modules {
		names = append(names, m.Path)
	}
	want := []string{"/decision.rego", "/deep/helper.rego", "/lib/names.rego", "/odd name.rego", "/tables.rego"}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("modules are %q, want %q", names, want)
	}
	if p := load(t, packed); p.Identity().Digest != load(t, writeDir(t, files)).Identity().Digest {
		t.Errorf("the digest differs")
	}
}

// OPA evaluates policy.wasm if a bundle has one, and makes the same decisions.
func TestOPADecidesAsWeDo(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for _, ref := range policies.Versions() {
		for _, wasm := range []bool{false, true} {
			path := pack(t, load(t, ref), routing.PackOptions{Wasm: wasm})
			query, err := rego.New(rego.Query("data.switchyard.routing.decision"), rego.LoadBundle(path)).PrepareForEval(t.Context())
			if err != nil {
				t.Fatalf("%s, wasm %v: %v", ref, wasm, err)
			}
			for _, in := range []routing.Input{
				input(1, 3, routing.Green, map[string]int{}),
				input(1, 3, routing.Red, map[string]int{}),
				input(3, 3, routing.Green, map[string]int{"executor": 1}),
				input(2, 3, routing.Absent, map[string]int{"executor": 2, "askuser": 1}),
				input(2, 9, routing.Red, map[string]int{"stuck": 1, "researcher": 4}),
			} {
				results, err := query.Eval(t.Context(), rego.EvalInput(in))
				if err != nil || len(results) != 1 {
					t.Fatalf("%s, wasm %v: %v, %v", ref, wasm, results, err)
				}
				d, _ := results[0].Expressions[0].Value.(map[string]any)
				if want := oracle(ref, in); d["next_action"] != want.NextAction || d["reason"] != want.Reason {
					t.Errorf("%s, wasm %v: OPA decides %v, want %+v", ref, wasm, d, want)
				}
			}
		}
	}
}

func TestPackSaysWhatCannotBePacked(t *testing.T) {
	p := load(t, policies.Default)
	_, public := keyPair(t, "release-2026")
	for name, tc := range map[string]struct {
		o    routing.PackOptions
		code string
	}{
		"revision": {routing.PackOptions{Revision: "a\nb"}, string(errs.PolicyInvalid)},
		"key":      {routing.PackOptions{Sign: &bundle.Signing{Key: public}}, string(errs.PolicyKeyInvalid)},
	} {
		packed, err := p.Pack(t.Context(), tc.o)
		f := asFault(err)
		if f == nil || string(f.Code) != tc.code || f.Details["policy"] != policies.Default {
			t.Errorf("%s: %v", name, err)
		}
		if packed != nil {
			t.Errorf("%s: a bundle came with the error", name)
		}
	}
	t.Run("a name that no bundle may have", func(t *testing.T) {
		dir := writeDir(t, map[string]string{"back\\slash.rego": goodPolicy})
		if _, err := os.Stat(filepath.Join(dir, `back\slash.rego`)); err != nil {
			t.Skip("here a backslash separates directories: ", err)
		}
		_, err := load(t, dir).Pack(t.Context(), routing.PackOptions{})
		wantCode(t, err, errs.PolicyInvalid)
		if got := problemsOf(t, err); !strings.Contains(got, "backslash") {
			t.Error(got)
		}
	})
	t.Run("too late", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		packed, err := p.Pack(ctx, routing.PackOptions{Wasm: true})
		wantCode(t, err, errs.PolicyFailed)
		if packed != nil {
			t.Error("a bundle came with the error")
		}
	})
}

func BenchmarkPack(b *testing.B) {
	p, err := policies.Load(b.Context(), policies.Default)
	if err != nil {
		b.Fatal(err)
	}
	for name, o := range map[string]routing.PackOptions{"rego": {}, "wasm": {Wasm: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Pack(b.Context(), o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
