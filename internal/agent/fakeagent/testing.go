package fakeagent

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TB is the part of testing.TB that this package needs. switchyard demo must not import
// package testing.
type TB interface {
	Helper()
	Fatal(args ...any)
	TempDir() string
}

// callsSuffix is appended to a script's path to name the directory of its calls.
const callsSuffix = ".calls"

// programVariable is the path of the program that Prebuilt has built.
const programVariable = "SWITCHYARD_FAKE_PROGRAM"

const program = "github.com/switchyard-dev/switchyard/internal/agent/fakeagent/fakeagent"

// Write writes a script of these scenarios into a new file in dir and returns its path,
// for ScenarioVariable.
func Write(t TB, dir string, scenarios ...Scenario) string {
	t.Helper()
	return WriteScript(t, dir, Script{Calls: scenarios})
}

// WriteScript is Write for a whole script.
func WriteScript(t TB, dir string, script Script) string {
	t.Helper()
	data, err := json.Marshal(script, json.Deterministic(true), jsontext.Multiline(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parse(data); err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(dir, "script-*.json")
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// Calls returns the calls of a script, the oldest first.
func Calls(t TB, script string) []Call {
	t.Helper()
	calls, err := ReadCalls(script + callsSuffix)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// Build returns the path of the fake agent's program. Without Prebuilt, it builds the
// program for this test, which takes about a second.
func Build(t TB) string {
	t.Helper()
	if path := os.Getenv(programVariable); path != "" {
		return path
	}
	path, err := build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Runner runs tests, like *testing.M.
type Runner interface{ Run() int }

// Prebuilt returns a runner that builds the program once for all tests of m, for a
// TestMain:
//
//	os.Exit(fakeagent.Prebuilt(m).Run())
func Prebuilt(m Runner) Runner { return prebuilt{m} }

type prebuilt struct{ tests Runner }

// Run returns the tests' exit code, or 1 if the program cannot be built.
func (p prebuilt) Run() int {
	dir, err := os.MkdirTemp("", "fakeagent")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	path, err := build(dir)
	if err == nil {
		err = os.Setenv(programVariable, path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return p.tests.Run()
}

func build(dir string) (string, error) {
	path := filepath.Join(dir, "fakeagent")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", path, program).CombinedOutput(); err != nil {
		return "", fmt.Errorf("the fake agent cannot be built: %w: %s", err, out)
	}
	return path, nil
}
