package childenv_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// insideVar has a copy of this program say what Inside says of an empty
// environment.
const insideVar = "ENVIRON_TEST_INSIDE"

func TestMain(m *testing.M) {
	if os.Getenv(insideVar) != "" {
		if errs.CodeOf(childenv.Inside(nil)) == errs.SpawnReentrant {
			os.Exit(0)
		}
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func TestInsideOfAnAgent(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		code errs.Code
	}{
		"nothing":                 {nil, ""},
		"ours":                    {[]string{"SWITCHYARD_HEADLESS=1"}, errs.SpawnReentrant},
		"off":                     {[]string{"SWITCHYARD_HEADLESS=0"}, ""},
		"a hook of nubos-pilot":   {[]string{"NUBOS_PILOT_HOOK_DEPTH=1"}, ""},
		"an agent of nubos-pilot": {[]string{"NUBOS_PILOT_HEADLESS=1"}, ""},
	} {
		if err := childenv.Inside(c.env); errs.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
}

// TestInsideSeesAboveUs: an agent that clears the environment of what it starts is
// still the one that starts it.
func TestInsideSeesAboveUs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the environments of other processes cannot be read on " + runtime.GOOS)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for mark, want := range map[string]int{"SWITCHYARD_HEADLESS=1": 0, "SWITCHYARD_HEADLESS=0": 3} {
		cmd := exec.Command("sh", "-c", `env -i `+insideVar+`=1 "$0"; exit $?`, program)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), mark}
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
			t.Errorf("below %s: %v, want exit code %d", mark, err, want)
		}
	}
}
