package difference_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/policies/difference"
)

func TestNextVersion(t *testing.T) {
	for _, tc := range []struct {
		from string
		step difference.Step
		want string
	}{
		{"", difference.None, "1.0.0"},
		{"", difference.Major, "1.0.0"},
		{"1.2.3", difference.None, "1.2.4"},
		{"1.2.3", difference.Minor, "1.3.0"},
		{"1.2.3", difference.Major, "2.0.0"},
		{"1.2.3", "enormous", "2.0.0"},
		{"0.9.9", difference.Minor, "0.10.0"},
		{"1.2", difference.None, ""},
		{"1.2.3.4", difference.None, ""},
		{"1.2.03", difference.None, ""},
		{"1.2.+3", difference.None, ""},
		{"1.2.3-rc.1", difference.None, ""},
		{"v1.2.3", difference.None, ""},
		{"1.2.99999999999", difference.None, ""},
	} {
		if got := difference.NextVersion(tc.from, tc.step); got != tc.want {
			t.Errorf("NextVersion(%q, %s) = %q, want %q", tc.from, tc.step, got, tc.want)
		}
	}
}

func TestEnough(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		step     difference.Step
		want     bool
	}{
		{"1.2.0", "1.2.1", difference.None, true},
		{"1.2.0", "1.3.0", difference.None, true},
		{"1.2.0", "2.0.0", difference.None, true},
		{"1.2.0", "1.2.1", difference.Minor, false},
		{"1.2.0", "1.3.0", difference.Minor, true},
		{"1.2.0", "2.0.0", difference.Minor, true},
		{"1.2.0", "1.3.0", difference.Major, false},
		{"1.2.0", "2.0.0", difference.Major, true},
		{"1.2.0", "1.3.0", "enormous", false},
		{"1.2.0", "1.2.2", difference.None, false},  // 1.2.1 is left out
		{"1.2.0", "1.4.0", difference.Minor, false}, // 1.3.0 is left out
		{"1.2.0", "3.0.0", difference.Major, false}, // 2.0.0 is left out
		{"1.2.0", "1.3.1", difference.Minor, false}, // a minor version begins at .0
		{"1.2.0", "1.2.0", difference.None, false},
		{"1.2.0", "1.1.0", difference.None, false},
		{"1.2.0", "1.3.0-rc.1", difference.None, false},
		{"1.2.0", "", difference.None, false},
		{"nonsense", "", difference.None, false},
		{"nonsense", "1.0.0", difference.None, false},
		{"", "1.0.0", difference.Major, true},
		{"", "0.4.2", difference.None, true},
		{"", "first", difference.None, false},
	} {
		if got := difference.Enough(tc.from, tc.to, tc.step); got != tc.want {
			t.Errorf("Enough(%q, %q, %s) = %v", tc.from, tc.to, tc.step, got)
		}
	}
}

// Of all versions exactly those that NextVersion names for a step of that size or
// a larger one are enough.
func TestEnoughAgreesWithNextVersion(t *testing.T) {
	steps := []difference.Step{difference.None, difference.Minor, difference.Major}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, 3)
		version := rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("%d.%d.%d", number.Draw(t, "major"), number.Draw(t, "minor"), number.Draw(t, "patch"))
		})
		from, to := version.Draw(t, "from"), version.Draw(t, "to")
		needed := rapid.IntRange(0, 2).Draw(t, "step")
		want := false
		for _, step := range steps[needed:] {
			want = want || difference.NextVersion(from, step) == to
		}
		if got := difference.Enough(from, to, steps[needed]); got != want {
			t.Errorf("Enough(%q, %q, %s) = %v", from, to, steps[needed], got)
		}
	})
}
