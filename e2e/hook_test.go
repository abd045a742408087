package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// session is a session of a CLI in a project with the Stop hook, and its model.
type session struct {
	*project
	dir string
	env []string
	// mu guards the requests to the model.
	mu    sync.Mutex
	asked []request
}

// newSession installs the hook for the user of a new project, which has a commit. shim is a
// script that runs instead of switchyard, or "".
func (r *rig) newSession(t *testing.T, cli, name, shim string) *session {
	t.Helper()
	s := &session{dir: t.TempDir()}
	base := r.model.url("hook-"+cli+"-"+name, func(q request) reply {
		if !aside(q) {
			s.mu.Lock()
			s.asked = append(s.asked, q)
			s.mu.Unlock()
		}
		return reply{text: "I am done."}
	})
	s.project = r.newProject(t, base, "")
	// Without our adapters they ask other servers too, and leave temporary files.
	s.env = append(s.project.env, "HTTPS_PROXY=http://127.0.0.1:9", "TMPDIR="+t.TempDir(), "PATH="+filepath.Dir(r.switchyard)+":"+os.Getenv("PATH"))
	s.in(t, "git", "init", "-q")
	s.put(t, filepath.Join(s.dir, "a.go"), "package a\n")
	s.in(t, "git", "add", "-A")
	s.in(t, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first")
	s.in(t, "switchyard", "hook", "install", "--user", "--"+cli, "--yes")
	if shim != "" {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "switchyard"), []byte("#!/bin/sh\n"+shim), 0o755); err != nil {
			t.Fatal(err)
		}
		s.env = append(s.env, "PATH="+bin+":"+os.Getenv("PATH"))
	}
	return s
}

// in runs a program in the project and returns its output.
func (s *session) in(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), roundTime)
	defer cancel()
	if name == "switchyard" {
		name = s.switchyard
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.env, 10*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// talk runs the CLI with one prompt, and fails unless its model is asked that often.
func (s *session) talk(t *testing.T, cli string, want int) []request {
	t.Helper()
	args := map[string][]string{
		"claude": {"-p", "Go on."},
		"codex":  {"exec", "--dangerously-bypass-hook-trust", "-s", "read-only", "Go on."},
	}
	s.asked = nil
	out := s.in(t, s.programs[cli], args[cli]...)
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	if len(asked) != want || !strings.Contains(out, "I am done.") {
		t.Errorf("its model is asked %d times, not %d:\n%s", len(asked), want, out)
	}
	return asked
}

// TestStopHook tests that the real CLIs read our hook's settings, go on if it blocks, and
// end if it does not, crashes or takes too long.
func TestStopHook(t *testing.T) {
	r := newRig(t)
	r.build(t)
	for _, cli := range []string{"claude", "codex"} {
		t.Run(cli, func(t *testing.T) {
			t.Parallel()
			r.needs(t, cli)
			const why = "Task T-1 has 1 open finding."
			t.Run("blocks", func(t *testing.T) {
				s := r.newSession(t, cli, "blocks", "")
				s.talk(t, cli, 1)
				report := filepath.Join(t.TempDir(), "report.json")
				s.put(t, report, `{"critic": "critic", "findings": [{"category": "dead-code", "file": "a.go", "remediation": "Remove it"}]}`)
				s.in(t, "switchyard", "round", "T-1", "--report", report)
				asked := s.talk(t, cli, 2)
				if strings.Contains(asked[0].Text, why) || !strings.Contains(asked[len(asked)-1].Text, why) {
					t.Errorf("its model reads\n%s", asked[len(asked)-1].Text)
				}
				if status := s.in(t, "switchyard", "status", "T-1"); !strings.Contains(status, "the Stop hook blocked 1 time in round 2") {
					t.Errorf("the status is\n%s", status)
				}
				s.talk(t, cli, 1) // No file has changed.
				s.put(t, filepath.Join(s.dir, "a.go"), "package b\n")
				s.in(t, "switchyard", "hook", "release", "--reason", "later")
				s.talk(t, cli, 1)
			})
			// A Go program that crashes ends with 2, which both take for a block.
			t.Run("crashes", func(t *testing.T) {
				s := r.newSession(t, cli, "crashes", "echo 'panic: oh' >&2; exit 2\n")
				s.talk(t, cli, 1)
			})
			t.Run("hangs", func(t *testing.T) {
				s := r.newSession(t, cli, "hangs", "exec sleep 100\n")
				for _, name := range []string{".claude/settings.json", ".codex/hooks.json"} {
					path := filepath.Join(s.home(), name)
					if text, err := os.ReadFile(path); err == nil {
						s.put(t, path, strings.Replace(string(text), `"timeout": 60`, `"timeout": 2`, 1))
					}
				}
				began := time.Now()
				s.talk(t, cli, 1)
				if took := time.Since(began); took > 90*time.Second {
					t.Errorf("it ends after %v", took)
				}
			})
		})
	}
}

// home returns the home directory of the CLIs' user.
func (s *session) home() string {
	for _, entry := range s.env {
		if home, ok := strings.CutPrefix(entry, "HOME="); ok {
			return home
		}
	}
	return ""
}
