package finding_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/finding"
)

func ptr[T any](v T) *T { return &v }

// naive is the definition of a fingerprint, written the slow way.
func naive(category string, file *string, line, remediation string) string {
	norm := func(s string) string {
		return strings.Join(strings.FieldsFunc(strings.ToLower(s), unicode.IsSpace), " ")
	}
	f := ""
	if file != nil {
		f = norm(*file)
	}
	points := []rune(norm(remediation))
	sum := sha256.Sum256([]byte(category + "|" + f + "|" + line + "|" + string(points[:min(80, len(points))])))
	return hex.EncodeToString(sum[:])[:16]
}

func TestFingerprintFollowsItsDefinition(t *testing.T) {
	long := strings.Repeat("Remove the TODO. ", 20)
	for _, c := range []struct {
		name        string
		file        *string
		line        *int
		lineText    string
		remediation string
	}{
		{"plain", ptr("src/api.php"), ptr(42), "42", "Remove the TODO"},
		{"no file, no line", nil, nil, "", "Need GetAG webhook spec"},
		{"white space and case", ptr("  SRC/\tApi.php "), nil, "", "  Mixed\u00a0CASE\n\n text  "},
		{"beyond 80 points", nil, nil, "", long},
		{"80 points then space", nil, nil, "", strings.Repeat("x", 80) + " y"},
		{"space at point 80", nil, nil, "", strings.Repeat("x", 79) + " y"},
		{"trailing space at point 80", nil, nil, "", strings.Repeat("x", 79) + " "},
		{"wide runes", nil, nil, "", strings.Repeat("Ä", 100)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := finding.Fingerprint("todo-marker", c.file, c.line, c.remediation)
			if want := naive("todo-marker", c.file, c.lineText, c.remediation); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestFingerprintMatchesTheSlowDefinitionForAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := rapid.Ptr(rapid.String(), true).Draw(t, "file")
		remediation := rapid.StringN(0, 120, -1).Draw(t, "remediation")
		if got, want := finding.Fingerprint("style", file, nil, remediation), naive("style", file, "", remediation); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestFingerprintIgnoresWhatComesAfter80Points(t *testing.T) {
	base := strings.Repeat("a", 80)
	if finding.Fingerprint("style", nil, nil, base+"one") != finding.Fingerprint("style", nil, nil, base+"two") {
		t.Error("text beyond 80 code points changes the fingerprint")
	}
	if finding.Fingerprint("style", nil, nil, base[:79]+"x") == finding.Fingerprint("style", nil, nil, base[:79]+"y") {
		t.Error("the 80th code point does not count")
	}
}
