//go:build unix

package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is a project, and a user with a home and a directory for temporary files.
type scene struct {
	testing.TB
	dir, home string
	keeper    *supervise.Supervisor
}

func newScene(t testing.TB) scene {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scene{TB: t, dir: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	temp := filepath.Join(base, "tmp")
	for _, dir := range []string{s.dir, s.home, temp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", s.home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("TMPDIR", temp)
	if s.keeper, err = supervise.New(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("it left %v, %v", left, err)
		}
	})
	return s
}

func (s scene) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s scene) write(name, text string) {
	s.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	s.must(os.WriteFile(s.path(name), []byte(text), 0o644))
}

func (s scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// git runs git in a directory of the project as a user would.
func (s scene) git(dir string, args ...string) string {
	s.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		s.Skip("git is not installed")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main",
		"-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"}, args...)...)
	cmd.Dir = s.path(dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s scene) init() { s.Helper(); s.git(".", "init", "-q") }

func (s scene) commit() {
	s.Helper()
	s.git(".", "add", "-A")
	s.git(".", "commit", "-q", "--allow-empty", "-m", "m")
}

// tree returns the working tree with the current environment.
func (s scene) tree() worktree.Tree {
	return worktree.Tree{Root: s.dir, Supervisor: s.keeper, Environ: os.Environ()}
}

// look gives the tree a snapshot of the present, and a cache.
func (s scene) look(tree *worktree.Tree) {
	s.Helper()
	if tree.Cache == nil {
		tree.Cache = &worktree.Cache{}
	}
	var err error
	tree.Now, err = tree.Snapshot(s.Context(), worktree.Scope{})
	s.must(err)
}

// take scans the project.
func (s scene) take(except ...string) *worktree.Snapshot {
	s.Helper()
	shot, err := s.tree().Snapshot(s.Context(), worktree.Scope{IgnorePaths: except})
	s.must(err)
	return shot
}

// changed is what Compare finds after something was done, a line a change.
func (s scene) changed(do func(), except ...string) []string {
	s.Helper()
	before := s.take(except...)
	do()
	after := s.take(except...)
	changes := lines(worktree.Compare(before, after))
	if same := before.Digest() == after.Digest(); same != (len(changes) == 0) {
		s.Errorf("same digest: %v, but %q", same, changes)
	}
	return changes
}

func lines(changes []worktree.Change) []string {
	var all []string
	for _, c := range changes {
		all = append(all, strings.TrimSpace(string(c.Kind)+" "+c.Path+" "+c.Detail))
	}
	return all
}

func (s scene) want(got []string, want ...string) {
	s.Helper()
	if !slices.Equal(got, want) {
		s.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}
