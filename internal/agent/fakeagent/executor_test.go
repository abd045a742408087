package fakeagent_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// TestExecutorsEdit: what a preset does to a working tree, whichever CLI it imitates.
func TestExecutorsEdit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for name, status := range map[string]string{
		"executor":            "?? draft.txt",
		"executor-idle":       "",
		"executor-crash":      "?? draft.txt",
		"executor-commits":    "",
		"executor-stages":     "A  draft.txt",
		"executor-submodules": "?? .gitmodules\n?? draft.txt",
		"executor-settings":   "?? draft.txt\n?? switchyard.yaml",
		"executor-hook":       "?? draft.txt",
		"executor-branches":   "?? draft.txt",
		"executor-remote":     "?? draft.txt",
	} {
		for _, args := range [][]string{nil, {"-p"}, {"exec", "--json"}} {
			t.Run(name+strings.Join(args, " "), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, fakeagent.Presets()[name])
				s.dir = t.TempDir()
				s.git(t, "init", "-q", "-b", "main")
				s.git(t, "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", "m")
				stdout, stderr, code := s.call(t, args...)
				if crashed := name == "executor-crash"; crashed != (code != 0) || crashed == strings.Contains(stdout, "Do the task of round 2") {
					t.Errorf("code %d, %q %q", code, stdout, stderr)
				}
				if got := s.git(t, "status", "--porcelain"); got != status {
					t.Errorf("status %q, want %q", got, status)
				}
			})
		}
	}
}

func (s runner) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestExecutorDeletesItsTree(t *testing.T) {
	s := newStage(t, fakeagent.Presets()["executor-gone"])
	s.dir = filepath.Join(t.TempDir(), "tree")
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := s.call(t, "-p"); code != 0 {
		t.Errorf("code %d, %q", code, stderr)
	}
	if _, err := os.Lstat(s.dir); !os.IsNotExist(err) {
		t.Errorf("the tree is still there: %v", err)
	}
}

// TestRolesAndRounds: a script may say what an agent does in a role and round, whatever
// other calls there are.
func TestRolesAndRounds(t *testing.T) {
	says := func(text string) fakeagent.Scenario {
		return fakeagent.Plays(fakeagent.Step{Final: &fakeagent.Final{Text: &text}})
	}
	dir := t.TempDir()
	s := runner{dir, fakeagent.WriteScript(t, dir, fakeagent.Script{
		Calls: []fakeagent.Scenario{says("another, {task_id}")},
		Roles: map[string][]fakeagent.Scenario{"executor": {says("first, {round}"), says("second, {round} {run_id} {report_path}")}},
	})}
	for _, c := range [][3]string{
		{"executor", "3", "second, 3 run-7 /r"}, {"executor", "1", "first, 1"}, {"executor", "", "first, 0"}, {"critic", "1", "another, T-7"}, {"", "", "another, T-7"},
	} {
		cmd := s.command(t)
		cmd.Env = append(cmd.Env, "SWITCHYARD_ROLE="+c[0], "SWITCHYARD_ROUND="+c[1], "SWITCHYARD_TASK=T-7", "SWITCHYARD_RUN=run-7", "SWITCHYARD_REPORT=/r")
		if out, err := cmd.Output(); err != nil || strings.TrimSpace(string(out)) != c[2] {
			t.Errorf("%s in round %s says %q, %v", c[0], c[1], out, err)
		}
	}
}
