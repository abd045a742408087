package diff_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
)

func TestNextVersion(t *testing.T) {
	for _, tc := range []struct {
		from string
		step diff.Step
		want string
	}{
		{"", diff.None, "1.0.0"},
		{"", diff.Major, "1.0.0"},
		{"1.2.3", diff.None, "1.2.4"},
		{"1.2.3", diff.Minor, "1.3.0"},
		{"1.2.3", diff.Major, "2.0.0"},
		{"1.2.3", "enormous", "2.0.0"},
		{"0.9.9", diff.Minor, "0.10.0"},
		{"1.2", diff.None, ""},
		{"1.2.3.4", diff.None, ""},
		{"1.2.03", diff.None, ""},
		{"1.2.+3", diff.None, ""},
		{"1.2.3-rc.1", diff.None, ""},
		{"v1.2.3", diff.None, ""},
		{"1.2.99999999999", diff.None, ""},
	} {
		if got := diff.NextVersion(tc.from, tc.step); got != tc.want {
			t.Errorf("NextVersion(%q, %s) = %q, want %q", tc.from, tc.step, got, tc.want)
		}
	}
}

func TestEnough(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		step     diff.Step
		want     bool
	}{
		{"1.2.0", "1.2.1", diff.None, true},
		{"1.2.0", "1.3.0", diff.None, true},
		{"1.2.0", "2.0.0", diff.None, true},
		{"1.2.0", "1.2.1", diff.Minor, false},
		{"1.2.0", "1.3.0", diff.Minor, true},
		{"1.2.0", "2.0.0", diff.Minor, true},
		{"1.2.0", "1.3.0", diff.Major, false},
		{"1.2.0", "2.0.0", diff.Major, true},
		{"1.2.0", "1.3.0", "enormous", false},
		{"1.2.0", "1.2.2", diff.None, false},  // 1.2.1 is skipped
		{"1.2.0", "1.4.0", diff.Minor, false}, // 1.3.0 is skipped
		{"1.2.0", "3.0.0", diff.Major, false}, // 2.0.0 is skipped
		{"1.2.0", "1.3.1", diff.Minor, false}, // a minor version begins at .0
		{"1.2.0", "1.2.0", diff.None, false},
		{"1.2.0", "1.1.0", diff.None, false},
		{"1.2.0", "1.3.0-rc.1", diff.None, false},
		{"1.2.0", "", diff.None, false},
		{"nonsense", "", diff.None, false},
		{"nonsense", "1.0.0", diff.None, false},
		{"", "1.0.0", diff.Major, true},
		{"", "0.4.2", diff.None, true},
		{"", "first", diff.None, false},
	} {
		if got := diff.Enough(tc.from, tc.to, tc.step); got != tc.want {
			t.Errorf("Enough(%q, %q, %s) = %v", tc.from, tc.to, tc.step, got)
		}
	}
}

// Enough accepts exactly the versions that NextVersion returns for that step or a larger
// one.
func TestEnoughAgreesWithNextVersion(t *testing.T) {
	steps := []diff.Step{diff.None, diff.Minor, diff.Major}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, 3)
		version := rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("%d.%d.%d", number.Draw(t, "major"), number.Draw(t, "minor"), number.Draw(t, "patch"))
		})
		from, to := version.Draw(t, "from"), version.Draw(t, "to")
		needed := rapid.IntRange(0, 2).Draw(t, "step")
		want := false
		for _, step := range steps[needed:] {
			want = want || diff.NextVersion(from, step) == to
		}
		if got := diff.Enough(from, to, steps[needed]); got != want {
			t.Errorf("Enough(%q, %q, %s) = %v", from, to, steps[needed], got)
		}
	})
}
