package environ_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/spawner/environ"
)

// TestGuard is behaviours 193 and 200.
func TestGuard(t *testing.T) {
	for env, want := range map[string]fault.Code{
		"":                                                         "",
		"SWITCHYARD_HEADLESS=1":                                    environ.CodeReentrant,
		"NUBOS_PILOT_HEADLESS=1":                                   environ.CodeReentrant,
		"NUBOS_PILOT_HEADLESS=0":                                   "",
		"NUBOS_PILOT_HEADLESS=true":                                "",
		"NUBOS_PILOT_HEADLESS=11":                                  "",
		"SWITCHYARD_HEADLESS= 1":                                   "",
		"NUBOS_PILOT_HOOK_DEPTH=0":                                 "",
		"NUBOS_PILOT_HOOK_DEPTH=":                                  "",
		"NUBOS_PILOT_HOOK_DEPTH=1":                                 environ.CodeDepth,
		"SWITCHYARD_DEPTH=1":                                       environ.CodeDepth,
		"SWITCHYARD_DEPTH=99999":                                   environ.CodeDepth,
		"NUBOS_PILOT_HOOK_DEPTH=-1":                                environ.CodeDepth,
		"NUBOS_PILOT_HOOK_DEPTH=x":                                 environ.CodeDepth,
		"NUBOS_PILOT_HOOK_DEPTH=1.0":                               environ.CodeDepth,
		"NUBOS_PILOT_MAX_HOOK_DEPTH=0":                             environ.CodeDepth,
		"NUBOS_PILOT_MAX_HOOK_DEPTH=":                              "",
		"NUBOS_PILOT_MAX_HOOK_DEPTH=x":                             "",
		"NUBOS_PILOT_HOOK_DEPTH=2|NUBOS_PILOT_MAX_HOOK_DEPTH=3":    "",
		"NUBOS_PILOT_HOOK_DEPTH=3|NUBOS_PILOT_MAX_HOOK_DEPTH=3":    environ.CodeDepth,
		"NUBOS_PILOT_HOOK_DEPTH=1|NUBOS_PILOT_MAX_HOOK_DEPTH=many": environ.CodeDepth,
		"SWITCHYARD_DEPTH=3|NUBOS_PILOT_HOOK_DEPTH=0|NUBOS_PILOT_MAX_HOOK_DEPTH=3": environ.CodeDepth,
		"NUBOS_PILOT_HOOK_DEPTH=1|NUBOS_PILOT_HEADLESS=1":                          environ.CodeReentrant,
		"NUBOS_PILOT_HEADLESS=1|NUBOS_PILOT_HEADLESS=0":                            "",
	} {
		if got := fault.CodeOf(environ.Guard(strings.Split(env, "|"))); got != want {
			t.Errorf("%s: got %q, want %q", env, got, want)
		}
	}
}

func TestGuardSaysWhichVariable(t *testing.T) {
	err, ok := environ.Guard([]string{"NUBOS_PILOT_HOOK_DEPTH=" + strings.Repeat("9", 1000)}).(*fault.Error)
	if !ok || err.Details["variable"] != "NUBOS_PILOT_HOOK_DEPTH" || len(err.Message) > 100 {
		t.Errorf("got %v, %v", err, err.Details)
	}
}

// TestMarks is behaviour 194: a child knows that it is one, and how deep.
func TestMarks(t *testing.T) {
	for env, depth := range map[string]string{
		"":                          "1",
		"NUBOS_PILOT_HOOK_DEPTH=2":  "3",
		"SWITCHYARD_DEPTH=4":        "5",
		"SWITCHYARD_DEPTH=nonsense": "1",
	} {
		want := []string{
			"NUBOS_PILOT_HEADLESS=1", "NUBOS_PILOT_HOOK_DEPTH=" + depth, "NUBOS_PILOT_RUN_ID=r-1",
			"SWITCHYARD_DEPTH=" + depth, "SWITCHYARD_HEADLESS=1", "SWITCHYARD_RUN_ID=r-1",
		}
		if got := environ.Marks([]string{env}, "r-1"); !slices.Equal(got, want) {
			t.Errorf("%s: got %v", env, got)
		}
	}
}

// TestAMarkedChildIsRefused: the marks outlive the allow-list and end the recursion,
// also where those of another run stand before them.
func TestAMarkedChildIsRefused(t *testing.T) {
	ours := []string{"PATH=/bin", "SWITCHYARD_HEADLESS=0", "NUBOS_PILOT_HOOK_DEPTH=0"}
	child := append(environ.Child(ours, environ.Policy{}), environ.Marks(ours, "r")...)
	if err := environ.Guard(child); fault.CodeOf(err) != environ.CodeReentrant {
		t.Errorf("got %v", err)
	}
	if err := environ.Guard(environ.Child(child, environ.Policy{})); fault.CodeOf(err) != environ.CodeReentrant {
		t.Errorf("the child's own child: %v", err)
	}
}
