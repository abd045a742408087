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

// limits are generous for everything that is not made to be over them.
func limits() bundle.Limits {
	return bundle.Limits{Packed: 1 << 20, Unpacked: 1 << 20, Module: 1 << 16, Entries: 100}
}

// rego is a module that is somebody's policy.
const rego = "package switchyard.routing\n"

// manifest is what OPA writes.
const manifest = `{"revision":"7","roots":["switchyard/routing"],"rego_version":1}`

// tarred packs entries by hand, as no bundle writer would.
func tarred(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, h := range headers {
		content := ""
		if h.Typeflag == 0 {
			// The content stands where no header has a use for it.
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

// entry is a regular file for tarred.
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

// packed is a bundle of the files, in pairs of name and content.
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

// seeded is the key pair of a name, the same each time.
func seeded(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// seededPublic is the public half of a seeded key.
func seededPublic(name, id string) bundle.Key {
	return bundle.Key{ID: id, Algorithm: "EdDSA", Material: publicPEM(seeded(name).Public())}
}

// now is when the tests verify.
func now() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// seededPrivate is the key that shared trusts, to sign with.
func seededPrivate() *bundle.Key {
	return &bundle.Key{ID: "shared", Algorithm: "EdDSA", Material: privatePEM(seeded("shared"))}
}

// shared trusts one key by the name of "shared".
func shared() *bundle.Trust {
	return &bundle.Trust{Keys: []bundle.Key{seededPublic("shared", "shared")}, Now: now}
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// token signs any header and payload with the shared key, without the code
// under test.
func token(header, payload string) string {
	input := encode(header) + "." + encode(payload)
	return input + "." + encode(string(ed25519.Sign(seeded("shared"), []byte(input))))
}

// listed is the claim "files" over plain files, in pairs of name and content.
func listed(files ...string) string {
	var list []string
	for i := 0; i < len(files); i += 2 {
		sum := sha256.Sum256([]byte(files[i+1]))
		list = append(list, fmt.Sprintf(`{"name":%q,"hash":%q,"algorithm":"SHA-256"}`, files[i], hex.EncodeToString(sum[:])))
	}
	return `"files":[` + strings.Join(list, ",") + `]`
}

// signatures is the file .signatures.json.
func signatures(tokens ...string) string {
	return `{"signatures":["` + strings.Join(tokens, `","`) + `"]}`
}

// signed is a bundle of one module with a token over it; more are further claims.
func signed(t testing.TB, header string, more string) []byte {
	t.Helper()
	return packed(t, "/p.rego", rego, "/.signatures.json", signatures(token(header, "{"+listed("p.rego", rego)+more+"}")))
}

const goodHeader = `{"alg":"EdDSA","kid":"shared"}`
