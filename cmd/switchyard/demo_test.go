package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestDemoInterrupted interrupts the demonstration while its agents work. Nothing is left,
// neither a file nor a process.
func TestDemoInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted on Windows")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("demo needs git: %v", err)
	}
	temp := t.TempDir()
	cmd := exec.Command("switchyard", "demo") // TestMain has put the program on the path.
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if !seen && strings.Contains(lines.Text(), "executor (exec) edited") {
			seen = true
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); !seen || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "[interrupted]") {
		t.Errorf("agents seen: %v, %v:\n%s", seen, err, &stderr)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", left, err)
	}
	if runtime.GOOS == "linux" { // Others do not show what processes are about.
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
}
