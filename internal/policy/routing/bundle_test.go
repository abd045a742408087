package routing_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// keyPair returns a new signing key and its verification key.
func keyPair(t testing.TB, id string) (private, public bundle.Key) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	privateDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	publicDER, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	inPEM := func(kind string, der []byte) bundle.Key {
		material := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		return bundle.Key{ID: id, Algorithm: "ES256", Material: string(material), Scope: "switchyard"}
	}
	return inPEM("PRIVATE KEY", privateDER), inPEM("PUBLIC KEY", publicDER)
}

func pack(t *testing.T, p *routing.Policy, o routing.PackOptions) string {
	t.Helper()
	packed, err := p.Pack(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "policy.tar.gz", packed)
}

func trusting(keys ...bundle.Key) routing.Loader {
	return routing.Loader{Released: policies.Files(), Trust: &bundle.Trust{Keys: keys, Now: time.Now}}
}

func TestATrustedSignatureIsAskedOfEverythingThatIsNotBuiltIn(t *testing.T) {
	private, public := keyPair(t, "release-2026")
	_, foreign := keyPair(t, "release-2026")
	_, other := keyPair(t, "other")
	weak := bundle.Key{ID: "weak", Algorithm: "ES256", Material: "short"}
	p := load(t, policies.Default)
	signing := &bundle.Signing{Key: private}
	past := &bundle.Signing{Key: private, Expires: time.Now().Add(-time.Hour)}
	narrow := public
	narrow.Scope = "elsewhere"

	signed := pack(t, p, routing.PackOptions{Sign: signing})
	for name, tc := range map[string]struct {
		ref    string
		loader routing.Loader
		want   errs.Code
	}{
		"built in":                {policies.Default, trusting(public), ""},
		"signed":                  {signed, trusting(public), ""},
		"signed, of several keys": {signed, trusting(other, public), ""},
		"signed, with Wasm":       {pack(t, p, routing.PackOptions{Sign: signing, Wasm: true}), trusting(public), ""},
		"directory":               {"../../../policies/routing/1.2.0", trusting(public), errs.PolicyUnsigned},
		"unsigned":                {pack(t, p, routing.PackOptions{}), trusting(public), errs.PolicyUnsigned},
		"by an unknown key":       {signed, trusting(other), errs.PolicyKeyUnknown},
		"by another of its name":  {signed, trusting(foreign), errs.PolicySignatureInvalid},
		"for another scope":       {signed, trusting(narrow), errs.PolicyScopeMismatch},
		"too old":                 {pack(t, p, routing.PackOptions{Sign: past}), trusting(public), errs.PolicySignatureExpired},
		"no keys":                 {signed, trusting(), errs.PolicyKeyInvalid},
		"a key of no use":         {signed, trusting(weak), errs.PolicyKeyInvalid},
		"a hostile archive":       {archive(t, entry{"../p.rego", goodPolicy}), trusting(public), errs.PolicyInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.loader.Load(t.Context(), tc.ref)
			if tc.want != "" {
				if e := wantCode(t, err, tc.want); e.Details["policy"] != tc.ref {
					t.Errorf("the details do not say which policy: %v", e.Details)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]string{true: public.ID}[tc.ref != policies.Default]; got.Signer() != want {
				t.Errorf("signer is %q, want %q", got.Signer(), want)
			}
			if got.Identity().Digest != p.Identity().Digest {
				t.Errorf("identity is %+v", got.Identity())
			}
		})
	}

	t.Run("nobody is trusted", func(t *testing.T) {
		if got := load(t, signed); got.Signer() != "" {
			t.Errorf("signer is %q, and nothing was verified", got.Signer())
		}
	})
}

func TestABundlesRevisionIsPartOfItsIdentity(t *testing.T) {
	p := load(t, policies.Default)
	for given, want := range map[string]string{"": p.Identity().Version, "4f0c2a1": "4f0c2a1"} {
		got := load(t, pack(t, p, routing.PackOptions{Revision: given})).Identity()
		expected := p.Identity()
		expected.Revision = want
		if got != expected {
			t.Errorf("revision %q: identity is %+v, want %+v", given, got, expected)
		}
	}
	if got := load(t, "../../../policies/routing/1.2.0").Identity().Revision; got != "" {
		t.Errorf("a directory has the revision %q", got)
	}
}

// A bundle without a manifest, as made by tar, is valid.
func TestABundleMadeByHandLoads(t *testing.T) {
	want := load(t, policyDir(t, goodPolicy)).Identity()
	for _, name := range []string{"policy.rego", "/policy.rego", "./policy.rego", "some/folder/policy.rego"} {
		if got := load(t, archive(t, entry{name, goodPolicy})).Identity(); got != want {
			t.Errorf("%s: identity is %+v, want %+v", name, got, want)
		}
	}
}

func TestBundlesThatContradictThemselvesAreRefused(t *testing.T) {
	policy := entry{"/p.rego", goodPolicy}
	helper := entry{"/lib/names.rego", "package lib.names\n\nfixer := \"fixer\"\n"}
	roots := func(roots string) entry { return entry{"/.manifest", `{"roots": [` + roots + `]}`} }
	wasm := entry{"/policy.wasm", "\x00asm\x01\x00\x00\x00"}
	resolver := entry{"/.manifest", `{"wasm": [{"entrypoint": "switchyard/routing/decision", "module": "/policy.wasm"}]}`}
	pruned := strings.Replace(goodPolicy, goodDecision, "", 1)
	if pruned == goodPolicy {
		t.Fatal("the decision was not taken out")
	}
	for name, tc := range map[string]struct {
		entries []entry
		want    string
	}{
		"policy outside":     {[]entry{policy, roots(`"elsewhere"`)}, "p.rego:6:1: its package is at switchyard/routing, outside the bundle's roots: elsewhere"},
		"beside the root":    {[]entry{policy, roots(`"switchyard/rout"`)}, "outside the bundle's roots"},
		"root below it":      {[]entry{policy, roots(`"switchyard/routing/decision"`)}, "outside the bundle's roots"},
		"helper outside":     {[]entry{policy, helper, roots(`"switchyard/routing"`)}, "lib/names.rego:1:1: its package is at lib/names"},
		"no roots":           {[]entry{policy, roots(``)}, "manifest roots []"},
		"compiled away":      {[]entry{{"/p.rego", pruned}, wasm, resolver}, "its rule switchyard/routing/decision is only in policy.wasm"},
		"nothing but Wasm":   {[]entry{wasm, resolver}, "its rule switchyard/routing/decision is only in policy.wasm"},
		"Wasm without rules": {[]entry{{"/p.rego", pruned}, wasm}, "no rule named decision"},
		"deep, within roots": {[]entry{{"/p.rego", goodPolicy + "x := " + strings.Repeat("[", 100)}, roots(`"switchyard"`)}, "nests brackets more than"},
		"syntax, in roots":   {[]entry{{"/p.rego", goodPolicy + "x := {"}, roots(`"switchyard"`)}, "p.rego:15:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policies.Load(t.Context(), archive(t, tc.entries...))
			wantCode(t, err, errs.PolicyInvalid)
			if got := problemsOf(t, err); !strings.Contains(got, tc.want) {
				t.Errorf("problems do not mention %q:\n%s", tc.want, got)
			}
		})
	}
	for name, entries := range map[string][]entry{
		"all of the tree":   {policy, helper, roots(`""`)},
		"folder above":      {policy, roots(`"switchyard"`)},
		"both, with Wasm":   {policy, helper, roots(`"switchyard/routing", "lib"`), wasm},
		"Wasm beside it":    {policy, wasm, resolver},
		"slashes, as in v0": {policy, roots(`"/switchyard/routing/"`)},
	} {
		t.Run(name, func(t *testing.T) { load(t, archive(t, entries...)) })
	}
}

// A module's error is prefixed with the bundle's name, so that the location can be found.
func TestProblemsInABundleNameItAndTheFile(t *testing.T) {
	path := archive(t, entry{"/sub/p.rego", goodPolicy + "x := nope(1)\n"})
	_, err := policies.Load(t.Context(), path)
	wantCode(t, err, errs.PolicyInvalid)
	if got := problemsOf(t, err); !strings.Contains(got, path+":sub/p.rego:15:6: undefined function nope") {
		t.Error(got)
	}
}

func TestABundleIsReadAndNothingIsWritten(t *testing.T) {
	path := pack(t, load(t, policies.Default), routing.PackOptions{Wasm: true})
	dir := strings.TrimSuffix(path, "policy.tar.gz")
	load(t, path)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("loading left files behind: %v, %v", entries, err)
	}
}

func BenchmarkLoadBundle(b *testing.B) {
	private, public := keyPair(b, "k")
	p, err := policies.Load(b.Context(), policies.Default)
	if err != nil {
		b.Fatal(err)
	}
	for name, o := range map[string]routing.PackOptions{
		"rego":   {},
		"signed": {Sign: &bundle.Signing{Key: private}},
		"wasm":   {Wasm: true},
	} {
		packed, err := p.Pack(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		path := writeFile(b, "policy.tar.gz", packed)
		loader := routing.Loader{Released: policies.Files()}
		if o.Sign != nil {
			loader = trusting(public)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := loader.Load(b.Context(), path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
