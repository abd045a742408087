package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// temporalVariable names the Temporal server's program, and programsVariable the directory
// of ours, which TestMain builds.
const (
	temporalVariable = "SWITCHYARD_TEMPORAL"
	programsVariable = "SWITCHYARD_FLEET_PROGRAMS"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if os.Getenv(temporalVariable) == "" {
		return m.Run() // All tests are skipped.
	}
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, program := range []struct{ module, folder string }{{"..", "./cmd/switchyard-fleet"}, {"../..", "./cmd/switchyard"}} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, filepath.Base(program.folder)), program.folder)
		cmd.Dir = program.module
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s cannot be built: %v\n%s", program.folder, err, out)
			return 1
		}
	}
	if err := os.Setenv(programsVariable, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return fakeagent.Prebuilt(m).Run()
}

// program returns the path of one of our programs.
func program(name string) string { return filepath.Join(os.Getenv(programsVariable), name) }
