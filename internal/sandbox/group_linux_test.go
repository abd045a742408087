//go:build amd64 || arm64

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDelegated looks for a group that may be divided, in a copy of what a systemd user's
// system shows: a process in a scope, whose parent shares out controllers.
func TestDelegated(t *testing.T) {
	for name, c := range map[string]struct {
		self, parent, own string // "" for no file
		want, reason      string
	}{
		"the parent":                 {"0::/app.slice/run.scope\n", "cpu memory pids\n", "", "app.slice", ""},
		"the group itself":           {"0::/app.slice/run.scope\n", "memory\n", "cpu memory pids\n", "app.slice/run.scope", ""},
		"beside version 1":           {"9:pids:/x\n0::/app.slice/run.scope\n", "cpu memory pids", "", "app.slice", ""},
		"without a controller":       {"0::/app.slice/run.scope\n", "memory pids\n", "memory pids\n", "", "the controller cpu"},
		"not mounted":                {"0::/app.slice/run.scope\n", "", "", "", "no control groups of version 2"},
		"a system of version 1 only": {"9:pids:/x\n", "cpu memory pids\n", "", "", "no control groups of version 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			self := filepath.Join(dir, "cgroup")
			mount := filepath.Join(dir, "mount")
			scope := filepath.Join(mount, "app.slice", "run.scope")
			if err := os.MkdirAll(scope, 0o700); err != nil {
				t.Fatal(err)
			}
			for path, text := range map[string]string{
				self: c.self, filepath.Join(filepath.Dir(scope), "cgroup.subtree_control"): c.parent, filepath.Join(scope, "cgroup.subtree_control"): c.own,
			} {
				if text == "" {
					continue
				}
				for _, file := range []string{path, filepath.Join(filepath.Dir(path), "cgroup.procs")} {
					if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			got, err := delegatedGroup(self, mount, []string{"cpu", "memory", "pids"})
			switch {
			case c.want != "" && (err != nil || got != filepath.Join(mount, c.want)):
				t.Errorf("got %s, %v", got, err)
			case c.want == "" && (err == nil || !strings.Contains(err.Error(), c.reason)):
				t.Errorf("got %s, %v, want %s", got, err, c.reason)
			}
		})
	}
}

func TestGroup(t *testing.T) {
	parent := t.TempDir()
	g, err := newGroup(parent, Limits{Memory: 1 << 30, Processes: 100, CPU: 1500})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"memory.max": "1073741824", "memory.oom.group": "1", "pids.max": "100", "cpu.max": "150000 100000"} {
		if got, err := os.ReadFile(filepath.Join(g.path, file)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", file, got, err, want)
		}
	}
	if err := g.enter(12); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(g.path, "cgroup.procs")); err != nil || string(got) != "12" {
		t.Errorf("the group has the processes %q, %v", got, err)
	}
	if g, err = newGroup(parent, Limits{Processes: 7}); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"memory.max", "cpu.max"} {
		if _, err := os.Stat(filepath.Join(g.path, file)); err == nil {
			t.Errorf("%s is set without a limit", file)
		}
	}
}

// TestRemoveGroup removes a group with a process, which takes a moment to end.
func TestRemoveGroup(t *testing.T) {
	parent, err := delegatedGroup(procSelfCgroup, cgroupMount, nil)
	if err != nil { // A system with both versions has the second one here.
		parent, err = delegatedGroup(procSelfCgroup, cgroupMount+"/unified", nil)
	}
	if err != nil {
		t.Skip(err)
	}
	g, err := newGroup(parent, Limits{})
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.enter(cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		t.Error(err)
	}
	g.remove()
	_ = cmd.Wait()
	if _, err := os.Stat(g.path); err == nil {
		t.Error("the group is still there")
		g.remove()
	}
}
