package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

// limits returns generous limits, for tests that do not exceed them.
func limits() bundle.Limits {
	return bundle.Limits{Packed: 1 << 20, Unpacked: 1 << 20, Module: 1 << 16, Entries: 100}
}

// rego is a policy module.
const rego = "package switchyard.routing\n"

// manifest is a manifest as written by OPA.
const manifest = `{"revision":"7","roots":["switchyard/routing"],"rego_version":1}`

// tarred packs entries that no bundle writer would produce.
func tarred(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, h := range headers {
		content := ""
		if h.Typeflag == 0 {
			// The content is passed in a field that is otherwise unused.
			h.Typeflag, content, h.Uname = tar.TypeReg, h.Uname, ""
			h.Size = int64(len(content))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// entry returns a regular file for tarred.
func entry(name, content string) tar.Header {
	return tar.Header{Name: name, Uname: content, Mode: 0o600}
}

func zipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// packed returns a bundle of the files, given as pairs of name and content.
func packed(t testing.TB, files ...string) []byte {
	t.Helper()
	var headers []tar.Header
	for i := 0; i < len(files); i += 2 {
		headers = append(headers, entry(files[i], files[i+1]))
	}
	return zipped(t, tarred(t, headers...))
}

func wantCode(t testing.TB, err error, code errs.Code) *errs.Error {
	t.Helper()
	e, ok := errors.AsType[*errs.Error](err)
	if !ok || e.Code != code {
		t.Fatalf("error is %v (%s), want %s", err, errs.CodeOf(err), code)
	}
	return e
}

// seeded returns the key pair of a name; it is the same each time.
func seeded(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// seededPublic returns the public half of a seeded key.
func seededPublic(name, id string) bundle.Key {
	return bundle.Key{ID: id, Algorithm: "EdDSA", Material: publicPEM(seeded(name).Public())}
}

// now is the time of the tests.
func now() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// seededPrivate returns the signing key that shared trusts.
func seededPrivate() *bundle.Key {
	return &bundle.Key{ID: "shared", Algorithm: "EdDSA", Material: privatePEM(seeded("shared"))}
}

// shared trusts one key with the ID "shared".
func shared() *bundle.Trust {
	return &bundle.Trust{Keys: []bundle.Key{seededPublic("shared", "shared")}, Now: now}
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// token signs any header and payload with the shared key, without the code under test.
func token(header, payload string) string {
	input := encode(header) + "." + encode(payload)
	return input + "." + encode(string(ed25519.Sign(seeded("shared"), []byte(input))))
}

// listed returns the claim "files" for files, given as pairs of name and content.
func listed(files ...string) string {
	var list []string
	for i := 0; i < len(files); i += 2 {
		sum := sha256.Sum256([]byte(files[i+1]))
		list = append(list, fmt.Sprintf(`{"name":%q,"hash":%q,"algorithm":"SHA-256"}`, files[i], hex.EncodeToString(sum[:])))
	}
	return `"files":[` + strings.Join(list, ",") + `]`
}

// signatures returns the file .signatures.json.
func signatures(tokens ...string) string {
	return `{"signatures":["` + strings.Join(tokens, `","`) + `"]}`
}

// signed returns a bundle of one module with a token over it; more has additional claims.
func signed(t testing.TB, header string, more string) []byte {
	t.Helper()
	return packed(t, "/p.rego", rego, "/.signatures.json", signatures(token(header, "{"+listed("p.rego", rego)+more+"}")))
}

const goodHeader = `{"alg":"EdDSA","kid":"shared"}`
