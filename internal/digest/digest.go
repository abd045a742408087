// Package digest writes and reads the SHA-256 digests that identify reports, plugins,
// policies and events: "sha256:" and 64 lower-case hex digits.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
)

// Prefix begins every digest.
const Prefix = "sha256:"

// Of returns the digest of data.
func Of[T ~[]byte | ~string](data T) string { return Prefix + Hex(data) }

// Hex returns the SHA-256 of data as 64 hex digits, without the prefix.
func Hex[T ~[]byte | ~string](data T) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

// OfHash returns the digest of the data written to h, which is a SHA-256.
func OfHash(h hash.Hash) string { return Prefix + hex.EncodeToString(h.Sum(nil)) }

// Bare returns a digest without its prefix.
func Bare(digest string) string { return strings.TrimPrefix(digest, Prefix) }

// Valid reports whether s is a digest.
func Valid(s string) bool {
	digits, ok := strings.CutPrefix(s, Prefix)
	return ok && len(digits) == hex.EncodedLen(sha256.Size) && strings.Trim(digits, "0123456789abcdef") == ""
}
