package routing_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// opaCommand runs the real opa in a directory. Building it takes half a minute, so the tests
// do not build it: make opa does, and then runs these tests with it.
func opaCommand(t *testing.T) func(dir string, args ...string) (string, error) {
	t.Helper()
	path := os.Getenv("SWITCHYARD_OPA")
	if path == "" {
		t.Skip("SWITCHYARD_OPA names no opa command; make opa builds one and runs this test")
	}
	return func(dir string, args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), path, args...)
		c.Dir = dir
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			return "", &opaError{args, err, string(out) + stderr.String()}
		}
		return string(out), nil
	}
}

type opaError struct {
	args  []string
	cause error
	said  string
}

func (e *opaError) Error() string {
	return "opa " + strings.Join(e.args, " ") + ": " + e.cause.Error() + ": " + e.said
}

// keyFiles writes a key pair to files in the form that opa needs.
func keyFiles(t *testing.T, id string) (private, public bundle.Key, privateFile, publicFile string) {
	t.Helper()
	private, public = keyPair(t, id)
	return private, public, writeFile(t, "private.pem", []byte(private.Material)), writeFile(t, "public.pem", []byte(public.Material))
}

func TestTheOPACommandReadsOurBundles(t *testing.T) {
	opa := opaCommand(t)
	private, _, _, publicFile := keyFiles(t, "release-2026")
	in := input(2, 3, routing.Green, map[string]int{"researcher": 1, "executor": 1})
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	inputFile := writeFile(t, "input.json", text)

	for _, ref := range policies.Versions() {
		for _, wasm := range []bool{false, true} {
			path := pack(t, load(t, ref), routing.PackOptions{Revision: "7", Wasm: wasm, Sign: &bundle.Signing{Key: private}})
			dir := filepath.Dir(path)

			var shown struct {
				Manifest struct {
					Revision string
					Roots    []string
				}
			}
			out, err := opa(dir, "inspect", "--format", "json", path)
			if err == nil {
				err = json.Unmarshal([]byte(out), &shown)
			}
			if err != nil || shown.Manifest.Revision != "7" || len(shown.Manifest.Roots) != 1 || shown.Manifest.Roots[0] != "switchyard/routing" {
				t.Errorf("%s, wasm %v: inspect shows %+v, %v", ref, wasm, shown, err)
			}

			var decided routing.Decision
			out, err = opa(dir, "eval", "--bundle", path, "--input", inputFile, "--format", "raw", "data.switchyard.routing.decision")
			if err == nil {
				err = json.Unmarshal([]byte(out), &decided)
			}
			if err != nil || decided != oracle(ref, in) {
				t.Errorf("%s, wasm %v: opa decides %+v, %v, want %+v", ref, wasm, decided, err, oracle(ref, in))
			}

			verify := func(scope, id string) error {
				_, err := opa(dir, "build", "--bundle", path, "--output", "again.tar.gz", "--signing-alg", "ES256",
					"--verification-key", publicFile, "--verification-key-id", id, "--scope", scope)
				return err
			}
			if err := verify("switchyard", "release-2026"); err != nil {
				t.Errorf("%s, wasm %v: opa does not verify it: %v", ref, wasm, err)
			}
			if err := verify("elsewhere", "release-2026"); err == nil || !strings.Contains(err.Error(), "scope mismatch") {
				t.Errorf("%s, wasm %v: opa verifies it for another scope: %v", ref, wasm, err)
			}
		}
	}
}

func TestWeReadTheOPACommandsBundles(t *testing.T) {
	opa := opaCommand(t)
	_, public, privateFile, _ := keyFiles(t, "default") // the key name used by opa build
	claims := writeFile(t, "claims.json", []byte(`{"scope":"switchyard"}`))
	want := load(t, policies.Default).Identity()
	source, err := filepath.Abs(filepath.Join("../../../policies", want.Name, want.Version))
	if err != nil {
		t.Fatal(err)
	}
	sign := []string{"--signing-alg", "ES256", "--signing-key", privateFile, "--claims-file", claims}

	for name, tc := range map[string]struct {
		args     []string
		key      *bundle.Key
		revision string
	}{
		"here":            {args: []string{"--bundle", "."}},
		"by its path":     {args: []string{"--bundle", source}},
		"not as a bundle": {args: []string{"."}},
		"with a revision": {args: []string{"--bundle", ".", "--revision", "4f0c2a1"}, revision: "4f0c2a1"},
		"signed":          {args: append([]string{"--bundle", "."}, sign...), key: &public},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bundle.tar.gz")
			if _, err := opa(source, append([]string{"build", "--output", path}, tc.args...)...); err != nil {
				t.Fatal(err)
			}
			var loader routing.Loader
			if tc.key != nil {
				loader = trusting(*tc.key)
			}
			got, err := loader.Load(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			expected := want
			if expected.Revision = tc.revision; got.Identity() != expected {
				t.Errorf("identity is %+v, want %+v", got.Identity(), expected)
			}
			if tc.key != nil && got.Signer() != tc.key.ID {
				t.Errorf("signer is %q", got.Signer())
			}
		})
	}

	t.Run("signed by opa sign and packed by hand", func(t *testing.T) {
		dir := t.TempDir()
		text, err := os.ReadFile(filepath.Join(source, "routing.rego"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "routing.rego"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := opa(dir, append([]string{"sign", "--bundle", "."}, sign...)...); err != nil {
			t.Fatal(err)
		}
		signature, err := os.ReadFile(filepath.Join(dir, ".signatures.json"))
		if err != nil {
			t.Fatal(err)
		}
		path := archive(t, entry{"./.signatures.json", string(signature)}, entry{"./routing.rego", string(text)})
		got, err := trusting(public).Load(t.Context(), path)
		if err != nil || got.Signer() != public.ID || got.Identity() != want {
			t.Errorf("got %v, %v", got, err)
		}
	})

	for name, tc := range map[string]struct {
		dir  string
		args []string
		want string
	}{
		"the decision compiled away": {source, []string{"--bundle", ".", "--target", "wasm", "--entrypoint", "switchyard/routing/decision", "--ignore", "*_test.rego"}, "only in policy.wasm"},
		"all of it compiled away":    {source, []string{"--bundle", ".", "--target", "wasm", "--entrypoint", "switchyard/routing"}, "only in policy.wasm"},
		"from beside":                {filepath.Dir(source), []string{"../routing/" + want.Version + "/routing.rego"}, "leads out of the bundle"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bundle.tar.gz")
			if _, err := opa(tc.dir, append([]string{"build", "--output", path}, tc.args...)...); err != nil {
				t.Fatal(err)
			}
			_, err := policies.Load(t.Context(), path)
			wantCode(t, err, errs.PolicyInvalid)
			if got := problemsOf(t, err); !strings.Contains(got, tc.want) {
				t.Errorf("problems do not mention %q:\n%s", tc.want, got)
			}
		})
	}
}
