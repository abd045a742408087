package project

import "slices"

// TrustKey is a key that verifies signatures.
type TrustKey struct {
	// ID is the key id in signatures.
	ID string
	// Algorithm is one of RFC 7518 section 3.1, such as ES256.
	Algorithm string
	// File has the public key as PEM, relative to the project's root and inside it. If it
	// is "", Env is the environment variable that has the key.
	File, Env string
	// Scope is the scope that signatures must have, or "".
	Scope string
}

const maxTrustKeys = 32

// readTrust reads keys. There must be at least one, and their ids are unique.
func readTrust(v value) (keys []TrustKey) {
	ok := v.mapping(fields{
		"keys": func(v value) {
			v.list(maxTrustKeys, func(v value) {
				key := readTrustKey(v)
				if slices.ContainsFunc(keys, func(k TrustKey) bool { return k.ID == key.ID }) {
					v.fail(" has the key %s twice", key.ID)
				}
				keys = append(keys, key)
			})
		},
	})
	if ok && len(keys) == 0 {
		v.fail(".keys must have a key at least")
	}
	return keys
}

// readTrustKey reads a key. Package bundle checks the algorithm and the key itself.
func readTrustKey(v value) (k TrustKey) {
	const printable, rule = `^[!-~]{1,128}$`, "1 to 128 visible characters of ASCII"
	switch ok := v.mapping(fields{
		"id":        func(v value) { k.ID = v.word(printable, rule) },
		"algorithm": func(v value) { k.Algorithm = v.word(`^[A-Za-z0-9]{1,16}$`, "an algorithm such as ES256") },
		"file":      func(v value) { k.File = v.localPath() },
		"env":       func(v value) { k.Env = v.word(variableName, variableRule) },
		"scope":     func(v value) { k.Scope = v.word(printable, rule) },
	}); {
	case !ok:
	case k.ID == "" || k.Algorithm == "":
		v.fail(": a key needs id and algorithm")
	case (k.File == "") == (k.Env == ""):
		v.fail(": the key %s needs file or env, and not both", k.ID)
	}
	return k
}
