package bundle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/keys"

	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

// verification returns OPA's configuration for one of our keys.
func verification(k bundle.Key) *opa.VerificationConfig {
	return opa.NewVerificationConfig(map[string]*keys.Config{k.ID: {Key: k.Material, Algorithm: k.Algorithm, Scope: k.Scope}}, "", "", nil)
}

func TestOPAReadsAndVerifiesWhatWeWrite(t *testing.T) {
	for _, p := range pairs(t) {
		d := draft(&p.private)
		d.Wasm, d.Entrypoint = []byte("\x00asm\x01\x00\x00\x00"), "switchyard/routing/decision"
		packed, err := d.Pack()
		if err != nil {
			t.Fatalf("%s: %v", p.private, err)
		}
		got, err := opa.NewReader(bytes.NewReader(packed)).WithBundleVerificationConfig(verification(p.public)).Read()
		if err != nil {
			t.Errorf("%s: %v", p.public, err)
			continue
		}
		if got.Manifest.Revision != "7" || *got.Manifest.RegoVersion != 1 || len(*got.Manifest.Roots) != 1 || (*got.Manifest.Roots)[0] != "switchyard/routing" {
			t.Errorf("%s: the manifest is %s", p.public, got.Manifest)
		}
		if len(got.Modules) != 1 || string(got.Modules[0].Raw) != rego {
			t.Errorf("%s: modules are %+v", p.public, got.Modules)
		}
		if len(got.WasmModules) != 1 || len(got.WasmModules[0].Entrypoints) != 1 || got.WasmModules[0].Entrypoints[0].String() != "data.switchyard.routing.decision" {
			t.Errorf("%s: wasm is %+v", p.public, got.WasmModules)
		}
	}
}

// writtenByOPA returns a bundle written as by OPA's commands.
func writtenByOPA(t testing.TB, signing *opa.SigningConfig, keyID string, protobuf bool) []byte {
	t.Helper()
	b := opa.Bundle{Data: map[string]any{}}
	b.Manifest.Init()
	b.Manifest.Revision = "7"
	b.Manifest.SetRegoVersion(ast.RegoV1)
	b.SetManifestProto(protobuf)
	b.Modules = []opa.ModuleFile{{URL: "/p.rego", Path: "/p.rego", Raw: []byte(rego), Parsed: ast.MustParseModule(rego)}}
	if err := b.GenerateSignature(signing, keyID, false); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := opa.NewWriter(&packed).DisableFormat(true).Write(b); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestWeVerifyWhatOPASigns(t *testing.T) {
	claims := filepath.Join(t.TempDir(), "claims.json")
	if err := os.WriteFile(claims, []byte(`{"scope":"switchyard"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs(t) {
		for _, named := range []string{p.public.ID, ""} {
			for _, protobuf := range []bool{false, true} {
				packed := writtenByOPA(t, opa.NewSigningConfig(p.private.Material, p.private.Algorithm, claims), named, protobuf)
				got, err := bundle.Read(packed, limits(), &bundle.Trust{Keys: []bundle.Key{p.public}, Now: now})
				if err != nil || got.Signer != p.public.ID || got.Revision != "7" || len(got.Files) != 1 {
					t.Errorf("%s, named %q, protobuf %v: got %+v, %v", p.public, named, protobuf, got, err)
				}
			}
		}
	}
}

// OPA also rejects the signatures that we reject.
func TestOPARefusesWhatWeRefuse(t *testing.T) {
	k := shared().Keys[0]
	for name, archive := range map[string][]byte{
		"no signature":  packed(t, "/p.rego", rego),
		"two tokens":    packed(t, "/p.rego", rego, "/.signatures.json", signatures("a.b.c", "a.b.c")),
		"unknown key":   signed(t, `{"alg":"EdDSA","kid":"nobody"}`, ""),
		"another scope": signed(t, goodHeader, `,"scope":"more"`),
		"extra file":    packed(t, "/p.rego", rego, "/q.rego", rego, "/.signatures.json", signatures(token(goodHeader, "{"+listed("p.rego", rego)+"}"))),
	} {
		if _, err := opa.NewReader(bytes.NewReader(archive)).WithBundleVerificationConfig(verification(k)).Read(); err == nil {
			t.Errorf("%s: OPA reads it", name)
		}
		if _, err := bundle.Read(archive, limits(), shared()); err == nil {
			t.Errorf("%s: we read it", name)
		}
	}
}
