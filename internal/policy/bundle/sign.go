package bundle

import (
	"crypto"
	"crypto/ecdsa"
	"encoding/base64"
	"encoding/hex"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/lestrrat-go/jwx/v3/jws/jwsbb"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/util"
)

// Signing says how a bundle is signed.
type Signing struct {
	// Key is the private key; the signature states its ID and scope.
	Key Key
	// Expires is when the signature ends to be good, to the second; the zero time is
	// never.
	Expires time.Time
}

// sign is the file .signatures.json over the other files. The token is put together
// here because OPA's own signer reads the key and the scope from files.
//
// No time and nothing random goes into it: the same key signs the same files alike.
func (s Signing) sign(files []File) (File, error) {
	key, err := s.Key.signer()
	if err != nil {
		return File{}, err
	}
	if ec, ok := key.(*ecdsa.PrivateKey); ok {
		key = deterministicECDSA{ec}
	}
	says := claims{Files: make([]bundle.FileInfo, len(files)), Scope: s.Key.Scope}
	for i, f := range files {
		if says.Files[i], err = signedFile(f); err != nil {
			return File{}, err
		}
	}
	if !s.Expires.IsZero() {
		seconds := float64(s.Expires.Unix())
		says.Expires = &seconds
	}
	payload, err := signingInput(header{Algorithm: s.Key.Algorithm, KeyID: s.Key.ID, Type: "JWT"}, says)
	if err != nil {
		return File{}, malformedFile(signaturesName, "it cannot be written: %v", err)
	}
	signature, err := jwsbb.Sign(key, s.Key.Algorithm, []byte(payload), nil)
	if err != nil {
		return File{}, s.Key.invalid("it does not sign")
	}
	token := payload + "." + base64.RawURLEncoding.EncodeToString(signature)
	data, err := json.Marshal(signatures{Tokens: []string{token}})
	if err != nil {
		return File{}, malformedFile(signaturesName, "it cannot be written: %v", err)
	}
	return File{Name: signaturesName, Data: data}, nil
}

// signedFile is what a token says about a file. OPA digests the meaning of a
// document and the bytes of anything else.
func signedFile(f File) (bundle.FileInfo, error) {
	var content any = f.Data
	if bundle.IsStructuredDoc(f.Name) {
		if err := util.Unmarshal(f.Data, &content); err != nil {
			return bundle.FileInfo{}, malformedFile(f.Name, "it cannot be read")
		}
	}
	hasher, err := bundle.NewSignatureHasher(bundle.SHA256)
	if err != nil {
		return bundle.FileInfo{}, malformedFile(f.Name, "it cannot be signed: %v", err)
	}
	sum, err := hasher.HashFile(content)
	if err != nil {
		return bundle.FileInfo{}, malformedFile(f.Name, "it cannot be signed: %v", err)
	}
	return bundle.NewFile(f.Name, hex.EncodeToString(sum), bundle.SHA256.String()), nil
}

// signingInput is the part of a token that is signed (RFC 7515, 5.1).
func signingInput(h header, c claims) (string, error) {
	head, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(body), nil
}

// deterministicECDSA is an ECDSA key that signs the same message always alike (RFC 6979),
// as crypto/ecdsa does where it is given no randomness.
type deterministicECDSA struct{ *ecdsa.PrivateKey }

// Sign ignores the randomness that it is offered.
func (r deterministicECDSA) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return r.PrivateKey.Sign(nil, digest, opts)
}
