package bundle

import (
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Trust holds keys, one of which must have signed a bundle. It must not be modified while
// in use, and is then safe for concurrent use.
type Trust struct {
	// Keys are public keys. There is at least one, and their IDs are unique.
	Keys []Key
	// Now returns the time that signatures are checked against; nil means time.Now.
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
		return errs.New(errs.PolicyKeyInvalid, "no key is trusted, so no bundle could ever be")
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

func (t *Trust) now() time.Time {
	if t.Now == nil {
		return time.Now()
	}
	return t.Now()
}

// candidates returns the keys that may have made a signature: the one it names, or all if
// it names none, as signatures of opa sign do.
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
