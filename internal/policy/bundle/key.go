package bundle

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// minRSABits is the shortest accepted RSA key.
const minRSABits = 2048

// Key is a key that signs or verifies bundles. Formatting it in any way prints only its
// ID, never its material.
type Key struct {
	// ID is the name by which signatures refer to the key.
	ID string
	// Algorithm is ES256, EdDSA or RS256 (RFC 7518, RFC 8037). A signature with another
	// algorithm is rejected.
	Algorithm string
	// Material is the key in PEM: a public key to verify, an unencrypted private key to
	// sign.
	Material string `json:"-"`
	// File is the file that the material was read from, for errors, or "".
	File string `json:"-"`
	// Scope is the scope that the key signs for. A signature must state exactly this
	// scope, even if it is "".
	Scope string
}

// String returns the key's ID.
func (k Key) String() string { return k.ID }

// GoString returns the key's ID.
func (k Key) GoString() string { return k.ID }

// checkVerifying returns an error if k cannot verify.
func (k Key) checkVerifying() error {
	if err := k.checkForm(); err != nil {
		return err
	}
	block, err := k.onlyBlock(k.Material)
	if err != nil {
		return err
	}
	var public any
	switch block.Type {
	case "PUBLIC KEY":
		public, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		public, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		return k.invalid("a certificate is not checked as one: give its public key, as openssl x509 -pubkey -noout prints it")
	default:
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return k.invalid("it is a private key: give the public one, and keep the private one secret")
		}
		return k.invalid("its PEM holds %q and not a public key", textutil.Clip(block.Type, maxShown))
	}
	if err != nil {
		return k.invalid("its public key cannot be read")
	}
	return k.checkFit(public)
}

// signer returns the private key.
func (k Key) signer() (crypto.Signer, error) {
	if err := k.checkForm(); err != nil {
		return nil, err
	}
	material := k.Material
	if block, rest := pem.Decode([]byte(material)); block != nil && block.Type == "EC PARAMETERS" {
		material = string(rest) // written by openssl ecparam -genkey; the key itself names its curve
	}
	block, err := k.onlyBlock(material)
	if err != nil {
		return nil, err
	}
	var private any
	switch {
	case block.Headers["DEK-Info"] != "" || block.Type == "ENCRYPTED PRIVATE KEY":
		return nil, k.invalid("it is encrypted: decrypt it first, as with openssl pkey")
	case block.Type == "PRIVATE KEY":
		private, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case block.Type == "RSA PRIVATE KEY":
		private, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case block.Type == "EC PRIVATE KEY":
		private, err = x509.ParseECPrivateKey(block.Bytes)
	case strings.HasSuffix(block.Type, "PUBLIC KEY"):
		return nil, k.invalid("it is a public key: signing takes the private one")
	default:
		return nil, k.invalid("its PEM holds %q and not a private key", textutil.Clip(block.Type, maxShown))
	}
	if err != nil {
		return nil, k.invalid("its private key cannot be read")
	}
	signer, ok := private.(crypto.Signer)
	if !ok {
		return nil, k.invalid("a key of its type cannot sign")
	}
	return signer, k.checkFit(signer.Public())
}

// onlyBlock returns the only PEM block of the material. A second one would be ignored
// silently.
func (k Key) onlyBlock(material string) (*pem.Block, error) {
	block, rest := pem.Decode([]byte(material))
	switch {
	case block == nil:
		return nil, k.invalid("it is not in PEM")
	case strings.TrimSpace(string(rest)) != "":
		return nil, k.invalid("more follows its key in the PEM")
	}
	return block, nil
}

// checkFit checks that a public key fits k's algorithm. Go and OPA would verify ES256
// with a key on any curve.
func (k Key) checkFit(public any) error {
	kind, fits := "", ""
	switch public := public.(type) {
	case *rsa.PublicKey:
		if kind, fits = "an RSA key", "RS256"; fits == k.Algorithm && public.N.BitLen() < minRSABits {
			return k.invalid("it has %d bits, and an RSA key needs %d", public.N.BitLen(), minRSABits)
		}
	case *ecdsa.PublicKey:
		if kind = "a key on the curve " + public.Curve.Params().Name; public.Curve == elliptic.P256() {
			fits = "ES256"
		}
	case ed25519.PublicKey:
		kind, fits = "an Ed25519 key", "EdDSA"
	default:
		kind = "a key of another type"
	}
	if fits != k.Algorithm {
		return k.invalid("it is %s, which does not fit %s", kind, k.Algorithm)
	}
	return nil
}

// checkForm requires an ID and a known algorithm.
func (k Key) checkForm() error {
	if !slices.Contains([]string{"ES256", "EdDSA", "RS256"}, k.Algorithm) {
		return k.invalid("%q is not an algorithm that bundles are signed with: use ES256, EdDSA or RS256", textutil.Clip(k.Algorithm, maxShown))
	}
	if k.ID == "" {
		return k.invalid("it has no id")
	}
	return nil
}

// invalid returns policy-key-invalid for this key. It omits errors of parsers, which may
// quote the key.
func (k Key) invalid(format string, args ...any) error {
	id := textutil.Clip(k.ID, maxShown)
	name := fmt.Sprintf("the key %q", id)
	if k.File != "" {
		name = "the key in " + k.File
	}
	return errs.New(errs.PolicyKeyInvalid, "%s cannot be used: %s", name, fmt.Sprintf(format, args...)).With("key_id", id)
}
