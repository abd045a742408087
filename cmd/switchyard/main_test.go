package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

// runnerVariable is a command that the scripts run as the program, such as an emulator and
// a binary of its platform.
const runnerVariable = "SWITCHYARD_RUNNER"

// TestMain makes the test binary serve as the real program in the scripts.
func TestMain(m *testing.M) {
	program := checkedMain
	if runner := strings.Fields(os.Getenv(runnerVariable)); len(runner) > 0 {
		program = func() {
			path, err := exec.LookPath(runner[0])
			if err == nil {
				err = syscall.Exec(path, append(runner, os.Args[1:]...), os.Environ())
			}
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
	}
	testscript.Main(m, map[string]func(){"switchyard": program})
}

// TestScripts runs every script in testdata/script against the real program, each in a
// new project. UPDATE=1 rewrites the outputs that the scripts compare.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	if testing.Short() {
		all := len(scripts)
		scripts = slices.DeleteFunc(scripts, func(path string) bool { return !concurrent.MatchString(path) })
		t.Logf("short mode: %d of %d scripts, those in which the program does several things at once", len(scripts), all)
	}
	reports, err := filepath.Abs("../../testdata/reports")
	if err != nil {
		t.Fatal(err)
	}
	hostile, err := filepath.Abs("../../plugins/testdata/hostile")
	if err != nil {
		t.Fatal(err)
	}
	integrations, err := filepath.Abs(filepath.Join("..", "..", "integrations"))
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := filepath.Abs(schemaFolder)
	if err != nil {
		t.Fatal(err)
	}
	// Programs inherit that a signal is ignored, as with nohup.
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	agent := newFakeAgent(t)
	cache := filepath.Join(t.TempDir(), "cache") // Each plugin is compiled once for all scripts.
	testscript.Run(t, testscript.Params{
		Files:               scripts,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		Cmds:                scriptCommands(),
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			// Short processes need not collect garbage, which takes a fifth of the time
			// of an exhaustive check.
			env.Vars = append(env.Vars, raceAtExit, "GOGC=400")
			env.Setenv(runnerVariable, os.Getenv(runnerVariable))
			env.Setenv("REPORTS", reports)
			env.Setenv("HOSTILE", hostile)
			env.Setenv("INTEGRATIONS", integrations)
			env.Setenv(schemaVariable, schemas)
			// A script that does not name a fake agent must not run the user's real
			// one.
			env.Setenv("SWITCHYARD_CLAUDE_BIN", filepath.Join(env.WorkDir, "no-such-claude"))
			env.Setenv(cli.CacheVariable, cache)
			if err := agent.enter(env); err != nil {
				return err
			}
			// Make it a project root, so that no marker above the work directory
			// counts.
			return os.Mkdir(filepath.Join(env.WorkDir, ".git"), 0o755)
		},
	})
}

// concurrent matches the scripts that may meet a data race: in the others the program
// uses one goroutine, except for code that host's tests also run.
var concurrent = regexp.MustCompile(`/(compat-spawn|headless|metrics|round-reports|run|signals|spawn|verify)[^/]*$`)

// condition adds the conditions [root], whether the tests run as root, and
// [confines:LEVEL], whether processes can be confined at that level.
func condition(name string) (bool, error) {
	if level, ok := strings.CutPrefix(name, "confines:"); ok {
		return sandbox.Probe(confinement.Level(level)) == nil, nil
	}
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}
