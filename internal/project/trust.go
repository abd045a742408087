package project

import (
	"path/filepath"
	"slices"
)

// Trust says whose signatures a policy needs.
type Trust struct {
	// Keys are those that may have signed it. Where there are none, nothing is
	// checked; where there are some, a policy without a good signature is refused,
	// unless it is built in.
	Keys []TrustKey
	// AllowRollback lets an older policy follow a newer one.
	AllowRollback bool
}

// TrustKey is a key that verifies signatures.
type TrustKey struct {
	// ID is the name that a signature asks for it by.
	ID string
	// Algorithm is one of those of RFC 7518 section 3.1, as ES256.
	Algorithm string
	// File has the public key as PEM, relative to the project's root and inside of
	// it; or else Env is the variable of the environment that has the key.
	File, Env string
	// Scope is what signatures have to say that they are for, "" for nothing.
	Scope string
}

// maxTrustKeys is how many keys a project may have.
const maxTrustKeys = 32

// read reads the keys. A project that says something of trust means it, so it has to
// name one.
func (t *Trust) read(r *reader, v value) {
	before := r.problemCount()
	r.mapping(v, fields{
		"keys":           func(v value) { t.Keys = r.trustKeys(v) },
		"allow_rollback": func(v value) { t.AllowRollback = r.boolean(v) },
	})
	if r.problemCount() == before && len(t.Keys) == 0 {
		r.addProblem(v.line, "%s.keys must have a key at least", v.path)
	}
}

// trustKeys reads the keys, each of which is named once.
func (r *reader) trustKeys(v value) []TrustKey {
	var keys []TrustKey
	r.list(v, maxTrustKeys, func(v value) {
		key := r.trustKey(v)
		if slices.ContainsFunc(keys, func(k TrustKey) bool { return k.ID == key.ID }) {
			r.addProblem(v.line, "%s has the key %s twice", v.path, key.ID)
		}
		keys = append(keys, key)
	})
	return keys
}

// trustKey reads a key. Which algorithms there are, and whether the key fits, is for
// whoever uses it to say.
func (r *reader) trustKey(v value) TrustKey {
	const printable = `^[!-~]{1,128}$`
	var k TrustKey
	before := r.problemCount()
	r.mapping(v, fields{
		"id":        func(v value) { k.ID = r.name(v, printable, "1 to 128 visible characters of ASCII") },
		"algorithm": func(v value) { k.Algorithm = r.name(v, `^[A-Za-z0-9]{1,16}$`, "an algorithm such as ES256") },
		"file": func(v value) {
			if k.File = r.text(v); v.isText() && !filepath.IsLocal(k.File) {
				r.addProblem(v.line, "%s: %s does not lie in the project", v.path, v)
			}
		},
		"env":   func(v value) { k.Env = r.name(v, variableName, variableRule) },
		"scope": func(v value) { k.Scope = r.name(v, printable, "1 to 128 visible characters of ASCII") },
	})
	switch {
	case r.problemCount() > before:
	case k.ID == "" || k.Algorithm == "":
		r.addProblem(v.line, "%s: a key needs id and algorithm", v.path)
	case (k.File == "") == (k.Env == ""):
		r.addProblem(v.line, "%s: the key %s needs file or env, and not both", v.path, k.ID)
	}
	return k
}
