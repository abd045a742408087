package bundle

import (
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Trust holds the keys that a bundle must be signed with one of. It is read-only
// once it is in use, and then safe for concurrent use.
type Trust struct {
	// Keys are public keys. There is at least one, and each has an ID of
	// its own.
	Keys []Key
	// Now tells the time that signatures are checked against; nil is time.Now.
	Now func() time.Time
}

// Check says whether every key can be used, so that a mistake in a key is told
// before any bundle is blamed for it. Read checks too. No Trust, a nil one, has
// nothing to check, but one without keys is a mistake: it would trust nobody, and
// whoever wrote it may have meant to.
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

// now is the time that signatures are checked against.
func (t *Trust) now() time.Time {
	if t.Now == nil {
		return time.Now()
	}
	return t.Now()
}

// candidates are the keys that a signature may be by: the one it names, or any
// where it names none, as those of opa sign do.
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
