//go:build unix

package gitrepo_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
)

// wantWorktree checks that a task's worktree is complete: at a commit, clean and locked.
func (s *scene) wantWorktree(w gitrepo.Worktree, commit string) {
	s.Helper()
	s.equal(s.git(w.Path, "rev-parse", "HEAD"), commit)
	s.equal(s.git(w.Path, "branch", "--show-current"), w.Branch)
	s.equal(s.git(w.Path, "status", "--porcelain"), "")
	list := s.git(s.dir, "worktree", "list", "--porcelain")
	_, entry, _ := strings.Cut(list, "worktree "+w.Path+"\n")
	entry, _, _ = strings.Cut(entry, "\n\n")
	if !strings.Contains(entry, "\nlocked in use by a switchyard task") {
		s.Errorf("the worktree is not locked: %s", list)
	}
}

func TestAddWorktree(t *testing.T) {
	s := newScene(t)
	hook := filepath.Join(s.dir, ".git", "hooks", "post-checkout")
	s.must(os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+s.base+"/hook-ran\n"), 0o700))
	s.write(filepath.Join(s.dir, "a.txt"), "changed by the user\n")
	r, before, head := s.open(), s.state(), s.git(s.dir, "rev-parse", "HEAD")
	w := s.add(r, "T")
	s.wantWorktree(w, head)
	s.equal(s.state(), before)
	s.git(s.dir, "worktree", "prune", "--expire=now")

	// Another project's ledger, or a new one, does not have the task; its draft stays.
	err := r.CheckFree(t.Context(), w)
	s.want(err, errs.WorktreeExists)
	if e, ok := errors.AsType[*errs.Error](err); !ok || !strings.Contains(e.Error(), "the worktree of a task") || !strings.Contains(e.Hint, "put .switchyard back") {
		t.Errorf("got %v with the hint %q", err, e.Hint)
	}

	// It is repeatable, and keeps what is there.
	s.write(s.file(w, "a.txt"), "draft\n")
	s.must(r.AddWorktree(t.Context(), w, head))
	s.equal(s.git(w.Path, "status", "--porcelain"), "M a.txt")
	second := s.commit(r, w, "d")
	s.must(r.AddWorktree(t.Context(), w, head))
	s.wantWorktree(w, second)

	// A deleted worktree comes back at its branch.
	s.must(os.RemoveAll(w.Path))
	s.must(r.AddWorktree(t.Context(), w, head))
	s.wantWorktree(w, second)
	s.must(os.RemoveAll(w.Path))
	s.git(s.dir, "worktree", "unlock", w.Path)
	s.git(s.dir, "worktree", "prune", "--expire=now")
	s.must(os.Mkdir(w.Path, 0o700))
	s.must(r.AddWorktree(t.Context(), w, head))
	s.wantWorktree(w, second)
	s.git(s.dir, "worktree", "unlock", w.Path)
	s.must(r.AddWorktree(t.Context(), w, head))
	s.wantWorktree(w, second)
	if _, err := os.Stat(s.base + "/hook-ran"); err == nil {
		t.Error("a hook ran")
	}
}

func TestAddWorktreeRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for name, c := range map[string]struct {
		prepare func(s *scene, w gitrepo.Worktree)
		code    errs.Code
	}{
		"branch of the user": {func(s *scene, w gitrepo.Worktree) { s.git(s.dir, "branch", w.Branch) }, errs.BranchExists},
		"branch in the way":  {func(s *scene, w gitrepo.Worktree) { s.git(s.dir, "branch", "switchyard") }, errs.BranchExists},
		"branch in another worktree": {func(s *scene, w gitrepo.Worktree) {
			s.git(s.dir, "worktree", "add", "-q", "-b", w.Branch, filepath.Join(s.base, "other"))
		}, errs.BranchCheckedOut},
		"branch in the checkout": {func(s *scene, w gitrepo.Worktree) { s.git(s.dir, "switch", "-q", "-c", w.Branch) }, errs.BranchCheckedOut},
		"directory with a file":  {func(s *scene, w gitrepo.Worktree) { s.write(s.file(w, "precious"), "x") }, errs.WorktreeExists},
		"file":                   {func(s *scene, w gitrepo.Worktree) { s.write(w.Path, "precious") }, errs.WorktreeExists},
		"worktree of the user": {func(s *scene, w gitrepo.Worktree) {
			s.git(s.dir, "worktree", "add", "-q", "-b", "mine", w.Path)
			s.git(s.dir, "worktree", "lock", w.Path)
		}, errs.WorktreeExists},
		"empty worktree of the user": {func(s *scene, w gitrepo.Worktree) {
			s.git(s.dir, "worktree", "add", "-q", "--detach", w.Path)
			s.must(os.RemoveAll(w.Path))
		}, errs.WorktreeExists},
		"other branch of an agent": {func(s *scene, w gitrepo.Worktree) {
			s.add(s.open(), "T")
			s.git(w.Path, "switch", "-q", "-c", "elsewhere")
		}, errs.WorktreeSwitched},
		"deleted on no branch": {func(s *scene, w gitrepo.Worktree) {
			s.add(s.open(), "T")
			s.git(w.Path, "switch", "-q", "--detach")
			s.git(w.Path, "commit", "-q", "--allow-empty", "-m", "work")
			s.must(os.RemoveAll(w.Path))
		}, errs.WorktreeSwitched},
		"rebase of an agent": {func(s *scene, w gitrepo.Worktree) {
			s.add(s.open(), "T")
			s.git(w.Path, "commit", "-q", "--allow-empty", "-m", "work")
			if out, err := s.tryGit(w.Path, "rebase", "--exec", "false", "HEAD~"); err == nil {
				s.Fatalf("the rebase does not stop: %s", out)
			}
		}, errs.WorktreeSwitched},
		"no .git": {func(s *scene, w gitrepo.Worktree) {
			s.add(s.open(), "T")
			s.must(os.Remove(s.file(w, ".git")))
		}, errs.WorktreeExists},
		"link to the files": {func(s *scene, w gitrepo.Worktree) {
			s.add(s.open(), "T")
			s.must(os.Rename(w.Path, w.Path+".moved"))
			s.must(os.Symlink(w.Path+".moved", w.Path))
		}, errs.WorktreeExists},
		"lock of another git": {func(s *scene, w gitrepo.Worktree) {
			s.hold(filepath.Join(s.dir, ".git", "refs", "heads", w.Branch+".lock"))
		}, errs.GitLocked},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			w := s.worktree("T")
			c.prepare(s, w)
			r, before := s.open(), s.state()+s.git(s.dir, "for-each-ref")+s.git(s.dir, "worktree", "list", "--porcelain")
			s.want(r.AddWorktree(t.Context(), w, s.git(s.dir, "rev-parse", "HEAD")), c.code)
			s.equal(s.state()+s.git(s.dir, "for-each-ref")+s.git(s.dir, "worktree", "list", "--porcelain"), before)
		})
	}
}

// A path that belongs to another project, or whose parent is a file, changes nothing.
func TestAddWorktreeUnwritable(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.base, stateDir), "a file")
	r := s.open()
	err := r.AddWorktree(t.Context(), s.worktree("T"), "HEAD")
	s.want(err, errs.FileUnwritable)
	if f, ok := err.(*errs.Error); !ok || !strings.HasPrefix(f.Message, "the directory of worktrees cannot be made: mkdir ") || !strings.Contains(f.Hint, "XDG_STATE_HOME") {
		t.Errorf("got %#v", err)
	}
	s.equal(s.git(s.dir, "branch", "--list", "switchyard/*"), "")
}

// interrupted calls do once for each git command that it runs, which fails before or
// after it did its work, as if this process was killed there. Then it calls again.
func (s *scene) interrupted(do func(r *gitrepo.Repo) error, check func(when string), reset func()) {
	s.Helper()
	real, err := exec.LookPath("git")
	s.must(err)
	bin, count := filepath.Join(s.base, "bin"), filepath.Join(s.base, "count")
	s.must(os.MkdirAll(bin, 0o700))
	shim := func(at string) string {
		script := "#!/bin/sh\nread n <'" + count + "'; n=$((n-1)); echo $n >'" + count + "'\n"
		run := real + ` "$@"; code=$?` + "\n"
		if at == "before" {
			return script + "[ $n = 0 ] && exit 137\n" + run + "exit $code\n"
		}
		return script + run + "[ $n = 0 ] && exit 137\nexit $code\n"
	}
	for _, at := range []string{"before", "after"} {
		s.must(os.WriteFile(filepath.Join(bin, "git"), []byte(shim(at)), 0o700))
		s.write(count, "0")
		was := s.environ[0]
		s.environ[0] = "PATH=" + bin + ":" + os.Getenv("PATH")
		r := s.open()
		s.environ[0] = was
		for n := 1; ; n += exhaustive.Count(3, 1) {
			s.write(count, fmt.Sprint(n))
			before := s.state()
			err := do(r)
			left, _ := os.ReadFile(count)
			finished := !strings.HasPrefix(string(left), "-") && strings.TrimSpace(string(left)) != "0"
			s.write(count, "0")
			if again := do(r); again != nil {
				s.Fatalf("%s command %d, the call failed with %v, and the next one with %v", at, n, err, again)
			}
			check(fmt.Sprintf("%s command %d", at, n))
			s.equal(s.state(), before)
			reset()
			if finished {
				break
			}
		}
	}
}

func TestAddWorktreeInterrupted(t *testing.T) {
	s := newScene(t)
	w, head := s.worktree("T"), s.git(s.dir, "rev-parse", "HEAD")
	s.interrupted(
		func(r *gitrepo.Repo) error { return r.AddWorktree(t.Context(), w, head) },
		func(string) { s.wantWorktree(w, head) },
		func() {
			s.git(s.dir, "worktree", "remove", "-f", "-f", w.Path)
			s.git(s.dir, "branch", "-D", w.Branch)
		})
}

// A git that is killed while it checks files out is completed by the next call.
func TestAddWorktreeKilledGit(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc to find the parents of a process")
	}
	s := newScene(t)
	s.write(filepath.Join(s.dir, ".gitattributes"), "*.bin filter=deadly\n")
	s.write(filepath.Join(s.dir, "dir", "x.bin"), "x\n")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "second")
	script := filepath.Join(s.base, "kill.sh")
	s.must(os.WriteFile(script, []byte("#!/bin/sh\nset -- $(cat /proc/$PPID/stat)\nkill -9 $4 $PPID\n"), 0o700))
	s.git(s.dir, "config", "filter.deadly.smudge", script)
	r, w, head := s.open(), s.worktree("T"), s.git(s.dir, "rev-parse", "HEAD")
	s.want(r.AddWorktree(t.Context(), w, head), errs.GitFailed)
	if _, err := os.Stat(w.Path); err != nil {
		t.Fatalf("git was killed too early: %v", err)
	}
	if r.HasWorktree(w.Path) {
		t.Error("a worktree that git has not completed is taken for one")
	}
	s.git(s.dir, "config", "filter.deadly.smudge", "cat")
	s.must(r.AddWorktree(t.Context(), w, head))
	s.wantWorktree(w, head)
	if !r.HasWorktree(w.Path) {
		t.Error("the worktree is not found")
	}
}

// The user's repository may be of any kind that git knows.
func TestKindsOfRepositories(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for name, prepare := range map[string]func(s *scene){
		"linked worktree": func(s *scene) {
			other := filepath.Join(s.base, "other")
			s.git(s.dir, "worktree", "add", "-q", "-b", "other", other)
			s.dir = other
		},
		"project in a subdirectory": func(s *scene) {
			s.write(filepath.Join(s.dir, "sub", "x"), "x\n")
			s.git(s.dir, "add", "-A")
			s.git(s.dir, "commit", "-q", "-m", "second")
			s.dir = filepath.Join(s.dir, "sub")
		},
		"detached HEAD": func(s *scene) { s.git(s.dir, "switch", "-q", "--detach") },
		"SHA-256": func(s *scene) {
			s.dir = filepath.Join(s.base, "sha256")
			s.git(s.base, "init", "-q", "--object-format=sha256", s.dir)
			s.write(filepath.Join(s.dir, "a.txt"), "one\n")
			s.git(s.dir, "add", "-A")
			s.git(s.dir, "commit", "-q", "-m", "first")
		},
		"sparse checkout": func(s *scene) {
			for _, name := range []string{"in/x", "out/x"} {
				s.write(filepath.Join(s.dir, name), "x\n")
			}
			s.git(s.dir, "add", "-A")
			s.git(s.dir, "commit", "-q", "-m", "second")
			s.git(s.dir, "sparse-checkout", "set", "in")
		},
		"partial clone": func(s *scene) {
			s.git(s.dir, "config", "uploadpack.allowFilter", "true")
			s.write(filepath.Join(s.dir, "b.txt"), "b\n")
			s.git(s.dir, "add", "-A")
			s.git(s.dir, "commit", "-q", "-m", "second")
			clone := filepath.Join(s.base, "clone")
			s.git(s.base, "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+s.dir, clone)
			s.dir = clone
		},
		"filters": func(s *scene) {
			s.git(s.dir, "config", "filter.swap.clean", "tr ab ba")
			s.git(s.dir, "config", "filter.swap.smudge", "tr ab ba")
			s.write(filepath.Join(s.dir, ".gitattributes"), "*.bin filter=swap\n")
			s.write(filepath.Join(s.dir, "x.bin"), "abba\n")
			s.git(s.dir, "add", "-A")
			s.git(s.dir, "commit", "-q", "-m", "second")
			s.equal(s.git(s.dir, "show", "HEAD:x.bin"), "baab")
		},
		"split index": func(s *scene) { s.git(s.dir, "config", "core.splitIndex", "true") },
		"packed refs": func(s *scene) { s.git(s.dir, "pack-refs", "--all") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			prepare(s)
			r, head := s.open(), s.git(s.dir, "rev-parse", "HEAD")
			w := s.add(r, "T")
			s.wantWorktree(w, head)
			s.equal(s.tree(r, w), s.git(s.dir, "rev-parse", "HEAD^{tree}"))
			commit := s.edit(r, w, "out/new", "new\n")
			s.wantWorktree(w, commit)
			s.equal(s.git(s.dir, "diff-tree", "-r", "--name-status", head, commit), "A\tout/new")
			s.must(r.AddWorktree(t.Context(), w, head))
			s.must(r.RemoveWorktree(t.Context(), w, commit))
		})
	}
}

// Tasks work on one repository at the same time.
func TestConcurrentTasks(t *testing.T) {
	s := newScene(t)
	before := s.state()
	head := s.git(s.dir, "rev-parse", "HEAD")
	var tasks sync.WaitGroup
	for n := range 8 {
		tasks.Go(func() {
			r, err := s.tryOpen(s.dir)
			if err != nil {
				t.Error(err)
				return
			}
			w := s.worktree(fmt.Sprintf("T%d", n))
			if err := r.AddWorktree(t.Context(), w, head); err != nil {
				t.Error(err)
				return
			}
			for i := range 3 {
				s.write(s.file(w, "file"), fmt.Sprint(n, i))
				c := s.request(r, w, fmt.Sprint(i))
				if _, err := r.Commit(t.Context(), w, c); err != nil {
					t.Error(err)
				}
			}
			for range 5 {
				if err := r.RemoveWorktree(t.Context(), w, w.Branch); err != nil {
					t.Error(err)
				}
				if err := r.AddWorktree(t.Context(), w, head); err != nil {
					t.Error(err)
				}
			}
			if err := r.RemoveWorktree(t.Context(), w, w.Branch); err != nil {
				t.Error(err)
			}
		})
	}
	tasks.Wait()
	s.equal(s.state(), before)
	s.equal(s.git(s.dir, "branch", "--list", "switchyard/*"), "")
	s.git(s.dir, "fsck", "--strict")
}
