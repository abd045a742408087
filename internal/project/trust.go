package project

import (
	"path/filepath"
	"slices"
)

// Trust says whose signatures a policy needs.
type Trust struct {
	// Keys are the accepted keys. Without keys nothing is checked; otherwise a policy
	// without a valid signature is refused, unless it is built in.
	Keys []TrustKey
	// AllowRollback lets an older policy follow a newer one.
	AllowRollback bool
}

// TrustKey is a key that verifies signatures.
type TrustKey struct {
	// ID is the key id in signatures.
	ID string
	// Algorithm is one of RFC 7518 section 3.1, such as ES256.
	Algorithm string
	// File has the public key as PEM, relative to the project's root and inside it. If it
	// is "", Env is the environment variable that has the key.
	File, Env string
	// Scope is the scope that signatures must have, "" for none.
	Scope string
}

// maxTrustKeys limits the keys of a project.
const maxTrustKeys = 32

// read reads the keys. A trust section must name at least one.
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

// trustKeys reads the keys, whose ids must be unique.
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

// trustKey reads a key. The code that uses it checks the algorithm and the key itself.
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
