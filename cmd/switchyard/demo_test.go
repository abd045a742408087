package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestDemoInterrupted interrupts the demonstration while its agents work.
func TestDemoInterrupted(t *testing.T) {
	temp := t.TempDir()
	interruptOnce(t, temp, exec.Command("switchyard", "demo"), filepath.Join(temp, "switchyard-demo-*", "home", "switchyard", "worktrees", "*", "*"))
}

// TestEvaluateInterrupted interrupts an evaluation while a verification runs.
func TestEvaluateInterrupted(t *testing.T) {
	project, temp := t.TempDir(), t.TempDir()
	out, err := inShell(t, project)(`git init -q -b main && git config user.name ann && git config user.email ann@example.com
printf 'verify: touch begun; sleep 60\nreports: [{run: exit 3}]\n' >switchyard.yaml
git add -A && git commit -q -m Begin`)
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	interruptOnce(t, temp, exec.Command("switchyard", "-C", project, "evaluate", "--last", "1"), filepath.Join(temp, "switchyard-evaluate-*", "*", "begun"))
}

// interruptOnce starts a command with the directory temp for temporary files, and interrupts
// it once a file has appeared that matches a pattern. Nothing may be left, neither a file
// nor a process.
func interruptOnce(t *testing.T, temp string, cmd *exec.Cmd, pattern string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted on Windows")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("the command needs git: %v", err)
	}
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended before anything matched %s: %v\n%s", pattern, err, &stderr)
		case <-time.After(time.Millisecond):
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "[interrupted]") {
		t.Errorf("%v:\n%s", err, &stderr)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the directory for temporary files: %v, %v", left, err)
	}
	if runtime.GOOS != "linux" {
		return // Others do not show what processes are about.
	}
	processes, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(processes) == 0 {
		t.Fatalf("%d processes, %v", len(processes), err)
	}
	for _, path := range processes {
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(temp)) {
			t.Errorf("a process is left: %s", path)
		}
	}
}
