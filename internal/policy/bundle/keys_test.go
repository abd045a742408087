package bundle_test

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

func inPEM(kind string, der []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func publicPEM(key crypto.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	return inPEM("PUBLIC KEY", der, err)
}

func privatePEM(key any) string {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return inPEM("PRIVATE KEY", der, err)
}

// pair is a signing key and its verification key.
type pair struct{ private, public bundle.Key }

func newPair(algorithm string, key crypto.Signer) pair {
	return pair{
		bundle.Key{ID: algorithm + "-1", Algorithm: algorithm, Material: privatePEM(key), Scope: "switchyard"},
		bundle.Key{ID: algorithm + "-1", Algorithm: algorithm, Material: publicPEM(key.Public()), Scope: "switchyard"},
	}
}

func ecKey(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rsaKey(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func edKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// pairs returns a pair for every algorithm.
func pairs(t testing.TB) []pair {
	t.Helper()
	return []pair{
		newPair("ES256", ecKey(t, elliptic.P256())),
		newPair("EdDSA", edKey(t)),
		newPair("RS256", rsaKey(t)),
	}
}

// draft returns a bundle of one module.
func draft(key *bundle.Key) bundle.Draft {
	d := bundle.Draft{Files: []bundle.File{{Name: "p.rego", Data: []byte(rego)}}, Revision: "7", Roots: []string{"switchyard/routing"}}
	if key != nil {
		d.Sign = &bundle.Signing{Key: *key}
	}
	return d
}

// A key is the same in every format that tools write.
func TestKeysAreReadInTheFormsThatToolsWrite(t *testing.T) {
	ec, rs, ed := ecKey(t, elliptic.P256()), rsaKey(t), edKey(t)
	sec1, err := x509.MarshalECPrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	bag := func(id string) string { return "Bag Attributes: words in front\n" + id }
	for name, tc := range map[string]struct{ algorithm, private, public string }{
		"EC, PKCS #8":         {"ES256", privatePEM(ec), publicPEM(ec.Public())},
		"EC, SEC 1":           {"ES256", inPEM("EC PRIVATE KEY", sec1, nil), publicPEM(ec.Public())},
		"EC, with parameters": {"ES256", inPEM("EC PARAMETERS", []byte("curve"), nil) + inPEM("EC PRIVATE KEY", sec1, nil), publicPEM(ec.Public())},
		"RSA, PKCS #8":        {"RS256", privatePEM(rs), publicPEM(rs.Public())},
		"RSA, PKCS #1":        {"RS256", inPEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rs), nil), inPEM("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&rs.PublicKey), nil)},
		"Ed25519":             {"EdDSA", privatePEM(ed), publicPEM(ed.Public())},
		"with words in front": {"EdDSA", bag(privatePEM(ed)), bag(publicPEM(ed.Public()))},
		"with a line at end":  {"EdDSA", privatePEM(ed) + "\n", publicPEM(ed.Public()) + "\n\n"},
	} {
		packed, err := draft(&bundle.Key{ID: "k", Algorithm: tc.algorithm, Material: tc.private}).Pack()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := bundle.Read(packed, limits(), &bundle.Trust{Keys: []bundle.Key{{ID: "k", Algorithm: tc.algorithm, Material: tc.public}}, Now: now})
		if err != nil || got.Signer != "k" {
			t.Errorf("%s: signer is %q, %v", name, got.Signer, err)
		}
	}
}

func TestKeysThatCannotVerifyAreRefused(t *testing.T) {
	ec, rs, ed := ecKey(t, elliptic.P256()), rsaKey(t), edKey(t)
	small, err := x509.ParsePKCS1PrivateKey(smallRSA(t))
	if err != nil {
		t.Fatal(err)
	}
	dh, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := bundle.Key{ID: "good", Algorithm: "ES256", Material: publicPEM(ec.Public())}
	key := func(algorithm, material string) []bundle.Key {
		return []bundle.Key{good, {ID: "bad", Algorithm: algorithm, Material: material}}
	}
	for name, tc := range map[string]struct {
		keys []bundle.Key
		want string
	}{
		"no keys":         {nil, "no key is trusted"},
		"no id":           {[]bundle.Key{{Algorithm: "ES256", Material: good.Material}}, "no id"},
		"two of one id":   {[]bundle.Key{good, good}, "another one has the same id"},
		"no algorithm":    {key("", good.Material), "is not an algorithm"},
		"none":            {key("none", ""), "is not an algorithm"},
		"none with a key": {key("none", good.Material), "is not an algorithm"},
		"in lower case":   {key("es256", good.Material), "is not an algorithm"},
		"of a blockchain": {key("ES256K", good.Material), "is not an algorithm"},
		"no material":     {key("ES256", ""), "not in PEM"},
		"words":           {key("ES256", "words"), "not in PEM"},
		"private EC key":  {key("ES256", privatePEM(ec)), "private key: give the public one"},
		"private RSA key": {key("RS256", inPEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rs), nil)), "private key: give the public one"},
		"certificate":     {key("RS256", inPEM("CERTIFICATE", []byte{1}, nil)), "certificate"},
		"something else":  {key("RS256", inPEM("X509 CRL", []byte{1}, nil)), `holds "X509 CRL"`},
		"broken key":      {key("ES256", inPEM("PUBLIC KEY", []byte{1}, nil)), "cannot be read"},
		"two keys":        {key("ES256", good.Material+good.Material), "more follows"},
		"key and words":   {key("ES256", good.Material+"more"), "more follows"},
		"RSA for EC":      {key("ES256", publicPEM(rs.Public())), "RSA key, which does not fit ES256"},
		"EC for RSA":      {key("RS256", publicPEM(ec.Public())), "curve P-256, which does not fit RS256"},
		"EC for EdDSA":    {key("EdDSA", publicPEM(ec.Public())), "curve P-256, which does not fit EdDSA"},
		"other curve":     {key("ES256", publicPEM(ecKey(t, elliptic.P384()).Public())), "curve P-384, which does not fit ES256"},
		"Ed25519 for EC":  {key("ES256", publicPEM(ed.Public())), "Ed25519 key, which does not fit ES256"},
		"key agreement":   {key("EdDSA", publicPEM(dh.PublicKey())), "a key of another type, which does not fit"},
		"short RSA":       {key("RS256", publicPEM(small.Public())), "1024 bits, and an RSA key needs 2048"},
		"a secret":        {key("HS256", strings.Repeat("s", 64)), "is not an algorithm"},
	} {
		t.Run(name, func(t *testing.T) {
			trust := &bundle.Trust{Keys: tc.keys}
			e := wantCode(t, trust.Check(), errs.PolicyKeyInvalid)
			if !strings.Contains(e.Message, tc.want) {
				t.Errorf("the message does not mention %q: %s", tc.want, e.Message)
			}
			_, err := bundle.Read(nil, limits(), trust) // a bad key is reported before the bundle
			wantCode(t, err, errs.PolicyKeyInvalid)
		})
	}
}

func TestKeysThatCannotSignAreRefused(t *testing.T) {
	ec, rs := ecKey(t, elliptic.P256()), rsaKey(t)
	for name, tc := range map[string]struct{ algorithm, material, want string }{
		"public key":    {"ES256", publicPEM(ec.Public()), "public key: signing takes the private one"},
		"old public":    {"RS256", inPEM("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&rs.PublicKey), nil), "public key: signing takes the private one"},
		"encrypted":     {"ES256", inPEM("ENCRYPTED PRIVATE KEY", []byte{1}, nil), "encrypted"},
		"old encrypted": {"ES256", "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n-----END EC PRIVATE KEY-----\n", "encrypted"},
		"broken":        {"ES256", inPEM("EC PRIVATE KEY", []byte{1}, nil), "cannot be read"},
		"certificate":   {"ES256", inPEM("CERTIFICATE", []byte{1}, nil), `holds "CERTIFICATE"`},
		"only a curve":  {"ES256", inPEM("EC PARAMETERS", []byte{1}, nil), "not in PEM"},
		"other curve":   {"ES256", privatePEM(ecKey(t, elliptic.P521())), "curve P-521"},
		"other kind":    {"EdDSA", privatePEM(rs), "RSA key"},
		"none":          {"none", "", "not an algorithm"},
		"a secret":      {"HS256", "secret", "not an algorithm"},
	} {
		t.Run(name, func(t *testing.T) {
			packed, err := draft(&bundle.Key{ID: "k", Algorithm: tc.algorithm, Material: tc.material}).Pack()
			e := wantCode(t, err, errs.PolicyKeyInvalid)
			if !strings.Contains(e.Message, tc.want) || e.Details["key_id"] != "k" {
				t.Errorf("got %s, %v, want %q", e.Message, e.Details, tc.want)
			}
			if len(packed) > 0 {
				t.Error("something was written")
			}
		})
	}
}

// Keys can be printed in many ways, some of which would show all fields.
func TestKeysDoNotShowTheirMaterial(t *testing.T) {
	k := bundle.Key{ID: "release-2026", Algorithm: "ES256", Material: "hush-hush"}
	inJSON, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	holders := []string{string(inJSON)}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		holders = append(holders, fmt.Sprintf(format, k), fmt.Sprintf(format, &k), fmt.Sprintf(format, bundle.Trust{Keys: []bundle.Key{k}}),
			fmt.Sprintf(format, bundle.Signing{Key: k}))
	}
	holders = append(holders, wantCode(t, (&bundle.Trust{Keys: []bundle.Key{k}}).Check(), errs.PolicyKeyInvalid).Message)
	for _, shown := range holders {
		if strings.Contains(shown, "hush") {
			t.Errorf("the key shows: %s", shown)
		}
		if !strings.Contains(shown, "release-2026") {
			t.Errorf("the id does not show: %s", shown)
		}
	}
}

// smallRSA returns a key of 1024 bits, which Go no longer generates.
func smallRSA(t testing.TB) []byte {
	t.Helper()
	t.Setenv("GODEBUG", "rsa1024min=0")
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	return x509.MarshalPKCS1PrivateKey(key)
}
