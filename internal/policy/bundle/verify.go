package bundle

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/keys"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// defaultPlugin is OPA's name for its own signature format.
const defaultPlugin = "_default"

// Verify checks files against the contents of a file .signatures.json.
//
// # Errors
//
// policy-signature-invalid, policy-signature-expired, policy-scope-mismatch.
func (t *Trust) Verify(files []File, signature []byte) error {
	_, err := t.verify(append(slices.Clone(files), File{Name: signaturesName, Data: signature}))
	return err
}

// verify checks the files against their signature, and returns the ID of the signing key.
// A nil Trust does not look at signatures.
//
// OPA's code checks the signature and the digests. It ignores the times of a token, and
// explains a rejection only in prose; this method does the rest.
func (t *Trust) verify(files []File) (signer string, err error) {
	if t == nil {
		return "", nil
	}
	token, err := onlyToken(files)
	if err != nil {
		return "", err
	}
	head, says, err := readToken(token)
	if err != nil {
		return "", err
	}
	candidates, err := t.candidates(cmp.Or(head.KeyID, says.KeyID)) // looked up as in OPA
	if err != nil {
		return "", err
	}
	key, err := matchingKey(token, head, says, candidates)
	if err != nil {
		return "", err
	}
	if says.Scope != key.Scope {
		return "", errs.New(errs.PolicyScopeMismatch, "the bundle is signed for the scope %q, and the key %q is trusted for %q",
			textutil.Clip(says.Scope, maxShown), key.ID, key.Scope).
			With("want", key.Scope).
			With("got", textutil.Clip(says.Scope, maxShown))
	}
	if err := says.checkTime(t.Now()); err != nil {
		return "", err
	}
	if err := checkFiles(files, says.Files); err != nil {
		return "", err
	}
	return key.ID, nil
}

// onlyToken returns the token of a bundle that has exactly one.
func onlyToken(files []File) (string, error) {
	i := slices.IndexFunc(files, func(f File) bool { return f.Name == signaturesName })
	if i < 0 {
		return "", errs.New(errs.PolicyUnsigned, "the bundle is not signed, and must be signed with one of the trusted keys")
	}
	var s signatures
	if err := json.Unmarshal(files[i].Data, &s); err != nil {
		return "", badSignature("%s cannot be read", signaturesName)
	}
	switch {
	case s.Plugin != "" && s.Plugin != defaultPlugin:
		return "", badSignature("it is for the plugin %q, and only OPA's own signatures are known", textutil.Clip(s.Plugin, maxShown))
	case len(s.Tokens) != 1:
		return "", badSignature("%s holds %d tokens and not 1", signaturesName, len(s.Tokens))
	}
	return s.Tokens[0], nil
}

// matchingKey returns the candidate that made the token's signature, with the key's own
// algorithm.
func matchingKey(token string, head header, says claims, candidates []Key) (Key, error) {
	for _, k := range candidates {
		if k.Algorithm != head.Algorithm {
			continue
		}
		_, err := new(bundle.DefaultVerifier).VerifyBundleSignature(
			bundle.SignaturesConfig{Signatures: []string{token}},
			bundle.NewVerificationConfig(map[string]*keys.Config{k.ID: {
				Key:       k.Material,
				Algorithm: k.Algorithm,
				// OPA's errors for a wrong scope and for a wrong signature differ only in
				// prose. So this checks only the signature; the scope is checked later.
				Scope: says.Scope,
			}}, k.ID, "", nil))
		if err == nil {
			return k, nil
		}
	}
	if len(candidates) > 1 {
		return Key{}, badSignature("it does not name its key, and was not made by a trusted one")
	}
	k := candidates[0]
	if k.Algorithm != head.Algorithm {
		return Key{}, badSignature("it is made by %q, and the key %q is for %s", textutil.Clip(head.Algorithm, maxShown), k.ID, k.Algorithm).
			With("key_id", k.ID)
	}
	return Key{}, badSignature("it was not made by the key %q, or its content was changed", k.ID).With("key_id", k.ID)
}

// checkFiles requires the files to be exactly the signed ones.
func checkFiles(files []File, signed []bundle.FileInfo) error {
	open := make(map[string]bundle.FileInfo, len(signed))
	for _, s := range signed {
		if _, twice := open[s.Name]; twice {
			return fileFault(s.Name, "it names the file twice")
		}
		switch bundle.HashingAlgorithm(s.Algorithm) {
		case bundle.MD5, bundle.SHA1:
			return fileFault(s.Name, "it is over a digest that can be forged, "+s.Algorithm)
		}
		open[s.Name] = s
	}
	for _, f := range files {
		if f.Name == signaturesName {
			continue
		}
		if _, ok := open[f.Name]; !ok {
			return fileFault(f.Name, "it is not over this file")
		}
		if bundle.VerifyBundleFile(f.Name, *bytes.NewBuffer(f.Data), open) != nil {
			return fileFault(f.Name, "the file is not as it was signed")
		}
	}
	if missing := slices.Sorted(maps.Keys(open)); len(missing) > 0 { // VerifyBundleFile has removed the others
		return fileFault(missing[0], "the file was signed and is not there")
	}
	return nil
}

// fileFault returns the error for a mismatch between a signature and a file.
func fileFault(name, what string) *errs.Error {
	name = textutil.Clip(name, maxShown)
	return badSignature("%s: %s", name, what).With("file", name)
}

// Trust holds keys, one of which must have signed a bundle. It must not be modified while
// in use, and is then safe for concurrent use.
type Trust struct {
	// Keys are public keys. There is at least one, and their IDs are unique.
	Keys []Key
	// Now returns the time that signatures are checked against. It must be set to read a
	// bundle.
	Now func() time.Time
}

// Check returns an error if a key cannot be used, so that the mistake is reported before
// any bundle is read. Read checks too. A nil Trust is valid. One without keys is a
// mistake: it would reject every bundle.
//
// # Errors
//
// policy-key-invalid.
func (t *Trust) Check() error {
	if t == nil {
		return nil
	}
	if len(t.Keys) == 0 {
		return errs.New(errs.PolicyKeyInvalid, "no key is trusted, so no bundle could be accepted")
	}
	taken := make(map[string]bool, len(t.Keys))
	for _, k := range t.Keys {
		if err := k.checkVerifying(); err != nil {
			return err
		}
		if taken[k.ID] {
			return k.invalid("another one has the same id")
		}
		taken[k.ID] = true
	}
	return nil
}

// candidates returns the keys that may have made a signature: the named one, or all if the
// signature names no key, as with opa sign.
func (t *Trust) candidates(id string) ([]Key, error) {
	if id == "" {
		return t.Keys, nil
	}
	known := make([]string, len(t.Keys))
	for i, k := range t.Keys {
		if k.ID == id {
			return []Key{k}, nil
		}
		known[i] = k.ID
	}
	shown := textutil.Clip(id, maxShown)
	return nil, errs.New(errs.PolicyKeyUnknown, "the bundle is signed with the key %q, which is not trusted", shown).
		With("key_id", shown).
		With("known", known)
}
