package routing

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func TestLockFormat(t *testing.T) {
	sum := digest.Prefix + strings.Repeat("0a", 32)
	good := "# header\n\nrouting@1.9.0 " + sum + "\nrouting@1.10.0 " + sum + "\n"
	want := map[string]string{"routing@1.9.0": sum, "routing@1.10.0": sum}
	for _, text := range []string{good, strings.ReplaceAll(good, "\n", "\r\n")} { // as git writes it on Windows
		if got, err := ParseLock(text); err != nil || !maps.Equal(got, want) {
			t.Errorf("ParseLock(%q) = %v, %v", text, got, err)
		}
	}
	for name, text := range map[string]string{
		"no digest":       "routing@1.0.0\n",
		"short digest":    "routing@1.0.0 " + sum[:70] + "\n",
		"upper case":      "routing@1.0.0 " + strings.ToUpper(sum) + "\n",
		"no algorithm":    "routing@1.0.0 " + sum[len(digest.Prefix):] + "\n",
		"not hex":         "routing@1.0.0 " + digest.Prefix + strings.Repeat("g", 64) + "\n",
		"no version":      "routing " + sum + "\n",
		"two spaces":      "routing@1.0.0  " + sum + "\n",
		"trailing words":  "routing@1.0.0 " + sum + " ok\n",
		"carriage return": "routing@1.0.0 " + sum + "\r\r\n",
		"twice":           "routing@1.0.0 " + sum + "\nrouting@1.0.0 " + sum + "\n",
		"unsorted":        "routing@1.10.0 " + sum + "\nrouting@1.9.0 " + sum + "\n",
		"names unsorted":  "routing@1.0.0 " + sum + "\nother@2.0.0 " + sum + "\n",
	} {
		if _, err := ParseLock(text); errs.CodeOf(err) != errs.PolicyLockInvalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestIsVersion(t *testing.T) {
	for _, s := range []string{"0.0.0", "1.2.3", "10.20.30", "1.0.0-rc.1", "1.0.0-0a", "1.0.0+2026.007", "1.0.0-x-y.z+b-c"} {
		if !isVersion(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{"", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.2.03", "1.2.x", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-a..b", "1.2.3-ä", "1.2.3-[", "1.2.3-@", "-1.2.3", "1..3", " 1.2.3", "1.2.3\n", "1.2.3/.."} {
		if isVersion(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestCompareVersionsIsByNumber(t *testing.T) {
	want := []string{"0.9.9", "1.0.0", "1.0.2", "1.0.10", "1.2.0", "1.10.0", "2.0.0", "10.0.0"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, compareVersions)
	if !slices.Equal(got, want) {
		t.Errorf("sorted: %v, want %v", got, want)
	}
}

func TestIsName(t *testing.T) {
	for _, s := range []string{"a", "0", "no-findings", "rule-9", "a-", strings.Repeat("a", 64)} {
		if !IsName(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{"", "-a", "A", "a b", "a_b", "a.b", "ä", "a\n", strings.Repeat("a", 65)} {
		if IsName(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}
