package digest_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/digest"
)

func TestDigest(t *testing.T) {
	const want = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	h := sha256.New()
	h.Write([]byte("abc"))
	for _, got := range []string{digest.Of("abc"), digest.Of([]byte("abc")), digest.OfHash(h), digest.Prefix + digest.Hex("abc"), digest.Prefix + digest.Bare(want)} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestValid(t *testing.T) {
	digits := strings.Repeat("0a", 32)
	for s, want := range map[string]bool{
		digest.Of(""):                          true,
		"sha256:" + digits:                     true,
		digits:                                 false,
		"sha256:" + digits[1:]:                 false,
		"sha256:" + digits + "0":               false,
		"sha256:" + strings.ToUpper(digits):    false,
		"sha256:g" + digits[1:]:                false,
		"sha256:" + digits[:30] + "-" + digits: false,
		"":                                     false,
	} {
		if got := digest.Valid(s); got != want {
			t.Errorf("%q: %t", s, got)
		}
	}
}
