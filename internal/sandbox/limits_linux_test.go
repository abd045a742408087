//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

// namedTasks counts the processes with a variable in their environment, with their threads.
func namedTasks(t *testing.T, variable string) (n int) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		if env, err := os.ReadFile(path + "/environ"); err == nil && strings.Contains(string(env), variable) {
			threads, _ := os.ReadDir(path + "/task")
			n += len(threads)
		}
	}
	return n
}

// TestForkStorm tests that a process that starts others without end, each in a session of
// its own, has as many as its limit at most, and that all of them end when it is killed.
func TestForkStorm(t *testing.T) {
	const most = 400
	for _, level := range confinement.Levels()[1:] {
		t.Run(string(level), func(t *testing.T) {
			s := newScene(t, level)
			s.spec.Limits = sandbox.Limits{Processes: most}
			variable := "SWITCHYARD_TEST_STORM=" + strconv.Itoa(os.Getpid()) + string(level)
			cmd := exec.Command("/bin/sh", "-c", `storm() { while :; do setsid sleep 300 & done; }; storm & storm & storm & wait; : >full; exec sleep 300`)
			cmd.Dir, cmd.Env = s.writable, []string{"PATH=" + os.Getenv("PATH"), variable}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			c, err := sandbox.Start(cmd, s.spec)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			limited := len(c.Notes) == 0 || !strings.Contains(strings.Join(c.Notes, "\n"), "processes are not limited")
			if !limited {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				_ = cmd.Wait()
				t.Skip("there is no limit here: ", c.Notes)
			}
			// A shell ends where it cannot fork, and the first one writes the file when all
			// the others did. A busy machine needs long for that, and has more time if this
			// process is not always looking.
			full, peak := false, 0
			for deadline := time.Now().Add(3 * time.Minute); !full && peak <= most && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
				_, err := os.Stat(filepath.Join(s.writable, "full"))
				full = err == nil
				peak = max(peak, namedTasks(t, variable))
			}
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait()
			for deadline := time.Now().Add(20 * time.Second); namedTasks(t, variable) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d tasks are left", namedTasks(t, variable))
				}
			}
			// The helper's threads are in the namespace too.
			if !full || peak > most || peak < most/4 {
				t.Errorf("it had %d tasks, with a limit of %d, which it reached: %t", peak, most, full)
			}
		})
	}
}
