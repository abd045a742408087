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

// Signing configures how a bundle is signed.
type Signing struct {
	// Key is the private key; the signature states its ID and scope.
	Key Key
	// Expires is the time at which the signature expires, with a resolution of seconds;
	// the zero time means never.
	Expires time.Time
}

// sign returns the file .signatures.json for the other files. The token is built here
// because OPA's signer reads the key and the scope from files.
//
// It contains neither the current time nor random data: the same key gives the same
// signature for the same files.
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

// signedFile returns a token's entry for a file. OPA digests the meaning of a document
// and the bytes of any other file.
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

// signingInput returns the signed part of a token (RFC 7515, 5.1).
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

// deterministicECDSA is an ECDSA key with deterministic signatures (RFC 6979), as made by
// crypto/ecdsa without a source of randomness.
type deterministicECDSA struct{ *ecdsa.PrivateKey }

// Sign ignores the given source of randomness.
func (r deterministicECDSA) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return r.PrivateKey.Sign(nil, digest, opts)
}
