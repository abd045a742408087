package childenv_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// TestGuard is behaviours 193 and 200.
func TestGuard(t *testing.T) {
	for env, want := range map[string]errs.Code{
		"":                                                         "",
		"SWITCHYARD_HEADLESS=1":                                    errs.SpawnReentrant,
		"NUBOS_PILOT_HEADLESS=1":                                   errs.SpawnReentrant,
		"NUBOS_PILOT_HEADLESS=0":                                   "",
		"NUBOS_PILOT_HEADLESS=true":                                "",
		"NUBOS_PILOT_HEADLESS=11":                                  "",
		"SWITCHYARD_HEADLESS= 1":                                   "",
		"NUBOS_PILOT_HOOK_DEPTH=0":                                 "",
		"NUBOS_PILOT_HOOK_DEPTH=":                                  "",
		"NUBOS_PILOT_HOOK_DEPTH=1":                                 errs.SpawnDepthExceeded,
		"SWITCHYARD_DEPTH=1":                                       errs.SpawnDepthExceeded,
		"SWITCHYARD_DEPTH=99999":                                   errs.SpawnDepthExceeded,
		"NUBOS_PILOT_HOOK_DEPTH=-1":                                errs.SpawnDepthExceeded,
		"NUBOS_PILOT_HOOK_DEPTH=x":                                 errs.SpawnDepthExceeded,
		"NUBOS_PILOT_HOOK_DEPTH=1.0":                               errs.SpawnDepthExceeded,
		"NUBOS_PILOT_MAX_HOOK_DEPTH=0":                             errs.SpawnDepthExceeded,
		"NUBOS_PILOT_MAX_HOOK_DEPTH=":                              "",
		"NUBOS_PILOT_MAX_HOOK_DEPTH=x":                             "",
		"NUBOS_PILOT_HOOK_DEPTH=2|NUBOS_PILOT_MAX_HOOK_DEPTH=3":    "",
		"NUBOS_PILOT_HOOK_DEPTH=3|NUBOS_PILOT_MAX_HOOK_DEPTH=3":    errs.SpawnDepthExceeded,
		"NUBOS_PILOT_HOOK_DEPTH=1|NUBOS_PILOT_MAX_HOOK_DEPTH=many": errs.SpawnDepthExceeded,
		"SWITCHYARD_DEPTH=3|NUBOS_PILOT_HOOK_DEPTH=0|NUBOS_PILOT_MAX_HOOK_DEPTH=3": errs.SpawnDepthExceeded,
		"NUBOS_PILOT_HOOK_DEPTH=1|NUBOS_PILOT_HEADLESS=1":                          errs.SpawnReentrant,
		"NUBOS_PILOT_HEADLESS=1|NUBOS_PILOT_HEADLESS=0":                            "",
	} {
		if got := errs.CodeOf(childenv.Guard(strings.Split(env, "|"))); got != want {
			t.Errorf("%s: got %q, want %q", env, got, want)
		}
	}
}

func TestGuardSaysWhichVariable(t *testing.T) {
	err, ok := childenv.Guard([]string{"NUBOS_PILOT_HOOK_DEPTH=" + strings.Repeat("9", 1000)}).(*errs.Error)
	if !ok || err.Details["variable"] != "NUBOS_PILOT_HOOK_DEPTH" || len(err.Message) > 100 {
		t.Errorf("got %v, %v", err, err.Details)
	}
}

// TestMarks tests that a child knows that it is one, and how deep.
func TestMarks(t *testing.T) {
	for env, depth := range map[string]string{
		"":                          "1",
		"NUBOS_PILOT_HOOK_DEPTH=2":  "3",
		"SWITCHYARD_DEPTH=4":        "5",
		"SWITCHYARD_DEPTH=nonsense": "1",
	} {
		want := []string{
			"NUBOS_PILOT_HEADLESS=1", "NUBOS_PILOT_HOOK_DEPTH=" + depth,
			"SWITCHYARD_DEPTH=" + depth, "SWITCHYARD_HEADLESS=1", "SWITCHYARD_RUN=r-1",
		}
		if got := childenv.Marks([]string{env}, "r-1"); !slices.Equal(got, want) {
			t.Errorf("%s: got %v", env, got)
		}
	}
}

// TestAMarkedChildIsRefused: the marks outlive the allow-list and end the recursion,
// also where those of another run stand before them.
func TestAMarkedChildIsRefused(t *testing.T) {
	ours := []string{"PATH=/bin", "SWITCHYARD_HEADLESS=0", "NUBOS_PILOT_HOOK_DEPTH=0"}
	child := append(childenv.Child(ours), childenv.Marks(ours, "r")...)
	if err := childenv.Guard(child); errs.CodeOf(err) != errs.SpawnReentrant {
		t.Errorf("got %v", err)
	}
	if err := childenv.Guard(childenv.Child(child)); errs.CodeOf(err) != errs.SpawnReentrant {
		t.Errorf("the child's own child: %v", err)
	}
}
