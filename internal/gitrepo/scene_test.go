//go:build unix

package gitrepo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// stateDir is the name of the directory of worktrees.
const stateDir = "state\n\"dir\" ü"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scene is a user with a checkout that has one commit, and a directory for worktrees.
type scene struct {
	testing.TB
	base, dir, temp string
	supervisor      *supervise.Supervisor
	environ         []string
}

// newScene creates a scene below a directory of the test. Its paths have a space, a
// character beyond ASCII and a line end.
func newScene(t testing.TB) *scene { return sceneAt(t, t.TempDir()) }

func sceneAt(t testing.TB, base string) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{TB: t, base: base, dir: filepath.Join(base, "user's prüfung\n1", "project"), temp: filepath.Join(base, "tmp")}
	home := filepath.Join(base, "home")
	for _, dir := range []string{s.dir, home, s.temp} {
		s.must(os.MkdirAll(dir, 0o700))
	}
	s.write(filepath.Join(home, ".gitconfig"), "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n")
	s.environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR=/nowhere"}
	t.Setenv("TMPDIR", s.temp)
	if s.supervisor, err = supervise.New(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left, err := os.ReadDir(s.temp); err != nil || len(left) > 0 {
			t.Errorf("it left %v, %v", left, err)
		}
	})
	s.git(s.dir, "init", "-q")
	s.write(filepath.Join(s.dir, "a.txt"), "one\n")
	s.write(filepath.Join(s.dir, ".gitignore"), "*.log\n")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "first")
	return s
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) write(path, text string) {
	s.Helper()
	s.must(os.MkdirAll(filepath.Dir(path), 0o755))
	s.must(os.WriteFile(path, []byte(text), 0o644))
}

// git runs git as the user would.
func (s *scene) git(dir string, args ...string) string {
	s.Helper()
	out, err := s.tryGit(dir, args...)
	if err != nil {
		s.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (s *scene) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(slices.Clone(s.environ), func(e string) bool { return strings.HasPrefix(e, "GIT_DIR=") })
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// hold keeps a lock as a git that works does, until release is called.
func (s *scene) hold(path string) (release func()) {
	s.write(path, "")
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
				_ = os.Chtimes(path, time.Time{}, time.Now()) // The test fails if this does.
			}
		}
	}()
	release = sync.OnceFunc(func() {
		close(done)
		<-stopped
		s.must(os.Remove(path))
	})
	s.Cleanup(release)
	return release
}

func (s *scene) open() *gitrepo.Repo {
	s.Helper()
	r, err := s.tryOpen(s.dir)
	s.must(err)
	return r
}

func (s *scene) tryOpen(dir string) (*gitrepo.Repo, error) {
	return gitrepo.Open(s.Context(), dir, gitrepo.Options{Supervisor: s.supervisor, Environ: s.environ})
}

// worktree is that of a task.
func (s *scene) worktree(task string) gitrepo.Worktree {
	return gitrepo.Worktree{Path: filepath.Join(s.base, stateDir, task), Branch: gitrepo.TaskBranch(task)}
}

// add adds the worktree of a task at HEAD.
func (s *scene) add(r *gitrepo.Repo, task string) gitrepo.Worktree {
	s.Helper()
	w := s.worktree(task)
	s.must(r.AddWorktree(s.Context(), w, s.git(s.dir, "rev-parse", "HEAD")))
	return w
}

// file is a file of a worktree.
func (s *scene) file(w gitrepo.Worktree, name string) string { return filepath.Join(w.Path, name) }

func (s *scene) tree(r *gitrepo.Repo, w gitrepo.Worktree) string {
	s.Helper()
	tree, err := r.WriteTree(s.Context(), w.Path)
	s.must(err)
	return tree
}

// request is a commit of what the worktree has.
func (s *scene) request(r *gitrepo.Repo, w gitrepo.Worktree, decision string) gitrepo.CommitRequest {
	s.Helper()
	return gitrepo.CommitRequest{
		Tree: s.tree(r, w), Parent: s.git(s.dir, "rev-parse", w.Branch), Message: "Work on it",
		Trailers: []gitrepo.Trailer{{Key: "Switchyard-Task", Value: "T"}, {Key: gitrepo.DecisionTrailer, Value: decision}},
	}
}

// commit commits what the worktree has.
func (s *scene) commit(r *gitrepo.Repo, w gitrepo.Worktree, decision string) string {
	s.Helper()
	commit, err := r.Commit(s.Context(), w, s.request(r, w, decision))
	s.must(err)
	return commit
}

// edit writes a file in a worktree and commits it.
func (s *scene) edit(r *gitrepo.Repo, w gitrepo.Worktree, name, text string) string {
	s.Helper()
	s.write(s.file(w, name), text)
	return s.commit(r, w, "sha256:"+name)
}

func (s *scene) want(err error, code errs.Code) {
	s.Helper()
	if errs.CodeOf(err) != code {
		s.Errorf("got the error %v (%s), want %s", err, errs.CodeOf(err), code)
	}
}

func (s *scene) equal(got, want string) {
	s.Helper()
	if got != want {
		s.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// state is everything of the user's that must never change: files, index, stash, HEAD
// and branches, except for those of tasks.
func (s *scene) state() string {
	s.Helper()
	index, err := os.ReadFile(filepath.Join(s.dir, ".git", "index"))
	s.must(err)
	config, err := os.ReadFile(filepath.Join(s.dir, ".git", "config"))
	s.must(err)
	all := []string{s.git(s.dir, "for-each-ref"), s.git(s.dir, "rev-parse", "--symbolic-full-name", "HEAD"), string(index), string(config)}
	s.must(filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			all = append(all, path, string(text))
			return err
		}
		return nil
	}))
	all[0] = strings.Join(slices.DeleteFunc(strings.Split(all[0], "\n"), func(ref string) bool { return strings.Contains(ref, "heads/switchyard/") }), "\n")
	return strings.Join(all, "\n")
}
