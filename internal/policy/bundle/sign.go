package bundle

import (
	"crypto"
	"crypto/ecdsa"
	"encoding/base64"
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jws/jwsbb"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Signing configures how a bundle is signed.
type Signing struct {
	// Key is the private key; the signature states its ID and scope.
	Key Key
	// Expires is the time at which the signature expires, with a resolution of seconds;
	// the zero time means never.
	Expires time.Time
}

// Sign returns the content of the file .signatures.json for the other files. It contains
// neither the current time nor random data: the same key gives the same signature for the
// same files.
//
// # Errors
//
// policy-key-invalid, and policy-invalid for a file that cannot be signed.
func (s Signing) Sign(files []File) ([]byte, error) {
	// The token is built here because OPA's signer reads the key and the scope from files.
	key, err := s.Key.signer()
	if err != nil {
		return nil, err
	}
	if ec, ok := key.(*ecdsa.PrivateKey); ok {
		key = deterministicECDSA{ec}
	}
	says := claims{Files: make([]bundle.FileInfo, len(files)), Scope: s.Key.Scope}
	for i, f := range files {
		if says.Files[i], err = signedFile(f); err != nil {
			return nil, err
		}
	}
	if !s.Expires.IsZero() {
		says.Expires = new(float64(s.Expires.Unix()))
	}
	var parts []string // of the signed text (RFC 7515, 5.1)
	for _, part := range []any{header{Algorithm: s.Key.Algorithm, KeyID: s.Key.ID, Type: "JWT"}, says} {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, malformedFile(signaturesName, "it cannot be written: %v", err)
		}
		parts = append(parts, base64.RawURLEncoding.EncodeToString(text))
	}
	payload := strings.Join(parts, ".")
	signature, err := jwsbb.Sign(key, s.Key.Algorithm, []byte(payload), nil)
	if err != nil {
		return nil, s.Key.invalid("it cannot sign")
	}
	token := payload + "." + base64.RawURLEncoding.EncodeToString(signature)
	return json.Marshal(signatures{Tokens: []string{token}})
}

// signedFile returns a token's entry for a file. OPA digests the meaning of a document
// and the bytes of any other file.
func signedFile(f File) (bundle.FileInfo, error) {
	var content any = f.Data
	if bundle.IsStructuredDoc(f.Name) {
		if err := util.Unmarshal(f.Data, &content); err != nil {
			return bundle.FileInfo{}, malformedFile(f.Name, "it cannot be read")
		}
	}
	hasher, _ := bundle.NewSignatureHasher(bundle.SHA256) // it knows the algorithm
	sum, err := hasher.HashFile(content)
	if err != nil {
		return bundle.FileInfo{}, malformedFile(f.Name, "it cannot be signed: %v", err)
	}
	return bundle.NewFile(f.Name, hex.EncodeToString(sum), bundle.SHA256.String()), nil
}

// deterministicECDSA is an ECDSA key with deterministic signatures (RFC 6979), as made by
// crypto/ecdsa without a source of randomness.
type deterministicECDSA struct{ *ecdsa.PrivateKey }

// Sign ignores the given source of randomness.
func (r deterministicECDSA) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return r.PrivateKey.Sign(nil, digest, opts)
}

// header is the protected header of a token (RFC 7515, 4.1).
type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid,omitzero"`
	Type      string `json:"typ,omitzero"`
	// Critical lists extensions that must be understood. None are supported.
	Critical jsontext.Value `json:"crit,omitzero"`
}

// claims is the payload of a token, as defined by OPA and RFC 7519, 4.1.
type claims struct {
	Files []bundle.FileInfo `json:"files"`
	// KeyID is the key's ID as written by older versions of OPA.
	KeyID string `json:"keyid,omitzero"`
	Scope string `json:"scope,omitzero"`
	// IssuedAt, NotBefore and Expires are seconds since 1970.
	IssuedAt  *float64 `json:"iat,omitzero"`
	NotBefore *float64 `json:"nbf,omitzero"`
	Expires   *float64 `json:"exp,omitzero"`
}

// signatures is the file .signatures.json.
type signatures struct {
	Tokens []string `json:"signatures"`
	Plugin string   `json:"plugin,omitzero"`
}

// readToken parses a token. Its content is untrusted until the signature is verified.
func readToken(token string) (header, claims, error) {
	var h header
	var c claims
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return h, c, badSignature("its token has %d parts and not 3", len(parts))
	}
	for i, part := range []struct {
		name string
		into any
	}{{"header", &h}, {"payload", &c}} {
		text, err := base64.RawURLEncoding.Strict().DecodeString(parts[i])
		if err == nil {
			err = json.Unmarshal(text, part.into) // rejects duplicate names
		}
		if err != nil {
			return h, c, badSignature("the %s of its token cannot be read", part.name)
		}
	}
	if h.Critical != nil {
		return h, c, badSignature("its token asks for extensions that are not known here")
	}
	return h, c, nil
}

// leeway is how far the signer's clock may be ahead of ours. It does not extend the
// expiry.
const leeway = time.Minute

// checkTime checks that a token is valid at the given time. OPA does not check that.
func (c claims) checkTime(now time.Time) error {
	seconds := float64(now.Unix()) + float64(now.Nanosecond())/1e9
	if c.Expires != nil && seconds >= *c.Expires {
		return errs.New(errs.PolicySignatureExpired, "the bundle's signature expired at %s", instant(*c.Expires)).
			With("expires", instant(*c.Expires))
	}
	for _, begin := range []*float64{c.IssuedAt, c.NotBefore} {
		if begin != nil && seconds < *begin-leeway.Seconds() {
			return errs.New(errs.PolicySignatureExpired, "the bundle's signature is not valid before %s", instant(*begin)).
				With("not_before", instant(*begin))
		}
	}
	return nil
}

// lastSecond is the last second of the last year that RFC 3339 can express.
const lastSecond = 253402300799

// instant formats seconds since 1970, which in a token can be any number.
func instant(seconds float64) string {
	if math.Abs(seconds) > lastSecond {
		return strconv.FormatFloat(seconds, 'g', -1, 64)
	}
	return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339)
}

// badSignature returns the error for an invalid signature.
func badSignature(format string, args ...any) *errs.Error {
	return errs.New(errs.PolicySignatureInvalid, "the bundle's signature is not valid: "+format, args...)
}
