package bundle

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// minRSABits is the shortest RSA key that is still taken.
const minRSABits = 2048

// Key is a key that signs bundles or verifies them. It never shows its material:
// printed in any way, it is its ID.
type Key struct {
	// ID is the name by which signatures refer to the key.
	ID string
	// Algorithm is how the key signs, and the only way that it is believed: ES256,
	// ES384, ES512, RS256, RS384, RS512, PS256, PS384, PS512, EdDSA, HS256, HS384 or
	// HS512 (RFC 7518, RFC 8037). What a signature says of itself counts for nothing.
	Algorithm string
	// Material is the key in PEM: to verify a public key, to sign a private one that
	// is not encrypted. For the HS algorithms it is the secret, byte by byte.
	Material string `json:"-"`
	// Scope is what the key signs for. A signature has to state the very same scope;
	// "" is a scope like any other.
	Scope string
}

// String is the key's ID.
func (k Key) String() string { return k.ID }

// GoString is the key's ID.
func (k Key) GoString() string { return k.ID }

// checkVerifying says whether k can verify.
func (k Key) checkVerifying() error {
	if err := k.checkForm(); err != nil {
		return err
	}
	if k.isSecret() {
		return k.checkSecret()
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
			return k.invalid("it is a private key: give the public one, and keep this one where nobody can read it")
		}
		return k.invalid("its PEM holds %q and not a public key", textutil.Clip(block.Type, maxShown))
	}
	if err != nil {
		return k.invalid("its public key cannot be read")
	}
	return k.checkFit(public)
}

// signer is what k signs with: a crypto.Signer, or the bytes of a secret.
func (k Key) signer() (any, error) {
	if err := k.checkForm(); err != nil {
		return nil, err
	}
	if k.isSecret() {
		return []byte(k.Material), k.checkSecret()
	}
	material := k.Material
	if block, rest := pem.Decode([]byte(material)); block != nil && block.Type == "EC PARAMETERS" {
		material = string(rest) // openssl ecparam -genkey puts them in front, and the key names its curve itself
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
		return nil, k.invalid("it is of a kind that does not sign")
	}
	return signer, k.checkFit(signer.Public())
}

// onlyBlock is the one PEM block of the material. A second one would go unnoticed.
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

// checkFit holds a public key against k's algorithm. Go's and OPA's code would
// verify ES256 with a key on any curve.
func (k Key) checkFit(public any) error {
	switch public := public.(type) {
	case *rsa.PublicKey:
		switch {
		case !isRSA(k.Algorithm):
			return k.invalid("it is an RSA key, which does not fit %s", k.Algorithm)
		case public.N.BitLen() < minRSABits:
			return k.invalid("it has %d bits, and an RSA key needs %d", public.N.BitLen(), minRSABits)
		}
		return nil
	case *ecdsa.PublicKey:
		curve := public.Curve.Params().Name
		if want := curves()[k.Algorithm]; curve != want {
			return k.invalid("it is a key on the curve %s, which does not fit %s", curve, k.Algorithm)
		}
		return nil
	case ed25519.PublicKey:
		if k.Algorithm != "EdDSA" {
			return k.invalid("it is an Ed25519 key, which does not fit %s", k.Algorithm)
		}
		return nil
	default:
		return k.invalid("it is of a kind that does not fit %s", k.Algorithm)
	}
}

// checkSecret wants a secret as long as the digest (RFC 7518, 3.2), and no public
// key: who mistakes one for the other lets everybody sign.
func (k Key) checkSecret() error {
	if strings.Contains(k.Material, "-----BEGIN ") {
		return k.invalid("it is a key in PEM, and %s takes a secret", k.Algorithm)
	}
	if want := secrets()[k.Algorithm]; len(k.Material) < want {
		return k.invalid("its secret is shorter than the %d bytes that %s needs", want, k.Algorithm)
	}
	return nil
}

func (k Key) isSecret() bool { return secrets()[k.Algorithm] > 0 }

// checkForm wants an ID, and an algorithm that bundles are signed with; "none" is no
// such algorithm.
func (k Key) checkForm() error {
	switch {
	case k.ID == "":
		return k.invalid("it has no id")
	case !k.isSecret() && curves()[k.Algorithm] == "" && !isRSA(k.Algorithm) && k.Algorithm != "EdDSA":
		return k.invalid("%q is not an algorithm that bundles are signed with", textutil.Clip(k.Algorithm, maxShown))
	}
	return nil
}

// secrets are the shortest secrets of the algorithms that take one, in bytes.
func secrets() map[string]int { return map[string]int{"HS256": 32, "HS384": 48, "HS512": 64} }

// curves are the curves of the algorithms that need one (RFC 7518, 3.4).
func curves() map[string]string {
	return map[string]string{"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
}

func isRSA(algorithm string) bool {
	switch algorithm {
	case "RS256", "RS384", "RS512", "PS256", "PS384", "PS512":
		return true
	}
	return false
}

// invalid is policy-key-invalid for this key. Errors of parsers are not passed on: they
// may quote what they read.
func (k Key) invalid(format string, args ...any) error {
	id := textutil.Clip(k.ID, maxShown)
	return errs.New(errs.PolicyKeyInvalid, "the key %q cannot be used: %s", id, fmt.Sprintf(format, args...)).With("key_id", id)
}
