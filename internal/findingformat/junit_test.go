package findingformat_test

import (
	"encoding/xml"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/findingformat"
)

func TestJUnitCountsItsCases(t *testing.T) {
	all := review(
		found("style", "fail", "a.go", 1, "Rename it"),
		found("style", `a"<b`, "b.go", 2, "Rename it"), // A severity that a critic invented.
		found("style", "nit", "c.go", 3, "Rename it"),
	)
	deferred := all
	deferred.Deferred = true
	for name, tc := range map[string]struct {
		review                   findingformat.Review
		tests, failures, skipped int
	}{
		"open":     {all, 3, 2, 0},
		"deferred": {deferred, 3, 0, 3},
		"clean":    {review(), 1, 0, 0},
		"missing":  {findingformat.Review{TaskID: "T-1"}, 1, 1, 0},
	} {
		var report struct {
			Suite struct {
				Tests    int `xml:"tests,attr"`
				Failures int `xml:"failures,attr"`
				Skipped  int `xml:"skipped,attr"`
				Cases    []struct {
					Failure *struct{} `xml:"failure"`
					Skipped *struct{} `xml:"skipped"`
				} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		if err := xml.Unmarshal([]byte(write(t, "junit", tc.review)), &report); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		failures, skipped := 0, 0
		for _, c := range report.Suite.Cases {
			if c.Failure != nil {
				failures++
			}
			if c.Skipped != nil {
				skipped++
			}
		}
		s := report.Suite
		if s.Tests != tc.tests || len(s.Cases) != tc.tests || s.Failures != tc.failures || failures != tc.failures || s.Skipped != tc.skipped || skipped != tc.skipped {
			t.Errorf("%s: %+v with %d failures and %d skipped, want %d, %d, %d", name, s, failures, skipped, tc.tests, tc.failures, tc.skipped)
		}
	}
}
