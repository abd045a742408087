//go:build unix

package worktree_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// newRepository is a scene with a commit of a.txt and b.txt, of which a.txt was
// edited since.
func newRepository(t testing.TB) scene {
	s := newScene(t)
	s.write("a.txt", "one\n")
	s.write("b.txt", "two\n")
	s.init()
	s.commit()
	s.write("a.txt", "three\n")
	return s
}

func TestChangedGit(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for name, c := range map[string]struct {
		do   func(s scene)
		want []string
	}{
		"status": {func(s scene) { s.must(os.Chmod(s.path("b.txt"), 0o644)); s.git(".", "status") }, nil},
		"a fetch": {func(s scene) {
			s.git(".", "update-ref", "refs/remotes/origin/main", "HEAD")
			s.git(".", "update-ref", "refs/prefetch/remotes/origin/main", "HEAD")
			s.git(".", "pack-refs", "--all")
		}, nil},
		"pack-refs": {func(s scene) { s.git(".", "pack-refs", "--all"); s.git(".", "gc", "-q") }, nil},
		"commit": {func(s scene) { s.git(".", "commit", "-q", "-m", "x", "--allow-empty") },
			[]string{"git .git/HEAD its commit: changed"}},
		"commit on a branch that is another one's name": {func(s scene) {
			s.git(".", "symbolic-ref", "refs/heads/alias", "refs/heads/main")
			s.git(".", "symbolic-ref", "HEAD", "refs/heads/alias")
			s.git(".", "pack-refs", "--all")
			s.git(".", "commit", "-q", "-m", "x", "--allow-empty")
		}, []string{"git .git/HEAD changed", "git .git/HEAD its commit: changed"}},
		"stash":  {func(s scene) { s.git(".", "stash") }, []string{"content a.txt"}},
		"branch": {func(s scene) { s.git(".", "checkout", "-q", "-b", "x") }, []string{"git .git/HEAD changed"}},
		"another branch and a tag": {func(s scene) {
			s.git(".", "branch", "x")
			s.git(".", "tag", "v1")
			s.git(".", "pack-refs", "--all")
		}, nil},
		"replaced object": {func(s scene) { s.git(".", "replace", "HEAD:a.txt", "HEAD:b.txt"); s.git(".", "pack-refs", "--all") },
			[]string{"git .git/refs/replace/5626abf0f72e58d7a153368ba57db4c673c0e171 added"}},
		"config":           {func(s scene) { s.git(".", "config", "user.name", "z"); s.git(".", "config", "--add", "user.name", "") }, []string{"git .git/config user.name: added"}},
		"config of others": {func(s scene) { s.git(".", "config", "x.y", "z"); s.git(".", "config", "branch.main.x", "z") }, nil},
		"another order": {func(s scene) {
			s.git(".", "config", "--unset", "core.bare")
			s.git(".", "config", "core.bare", "false")
		}, nil},
		"user's setting": {func(s scene) { s.git(".", "config", "--global", "core.hooksPath", "/x") }, []string{"git .git/config core.hookspath: added"}},
		"included setting": {func(s scene) {
			s.must(os.WriteFile(filepath.Join(s.home, "more"), []byte("[core]\nhooksPath=/x\n"), 0o600))
			s.git(".", "config", "include.path", filepath.Join(s.home, "more"))
		}, []string{"git .git/config core.hookspath: added", "git .git/config include.path: added"}},
		"settings of branches": {func(s scene) {
			s.git(".", "config", "branch.x.remote", "origin")
			s.git(".", "config", "branch.main.remote", "origin")
		}, []string{"git .git/config branch.main.remote: added"}},
		"hook": {func(s scene) { s.write(".git/hooks/pre-commit", "evil") }, []string{"git .git/hooks/pre-commit added"}},
		"hook that is made to run": {func(s scene) { s.must(os.Chmod(s.path(".git/hooks/pre-push.sample"), 0o600)) },
			[]string{"git .git/hooks/pre-push.sample changed"}},
		"staged": {func(s scene) { s.git(".", "add", "a.txt") }, []string{"git .git/index a.txt: changed"}},
		"hidden by assume-unchanged": {func(s scene) {
			s.git(".", "update-index", "--assume-unchanged", "b.txt")
			s.write("b.txt", "x")
		}, []string{"git .git/index b.txt: assume-unchanged", "content b.txt"}},
		"staged and hidden": {func(s scene) {
			s.git(".", "add", "a.txt")
			s.git(".", "update-index", "--assume-unchanged", "a.txt")
			s.git(".", "update-index", "--skip-worktree", "a.txt")
		}, []string{"git .git/index a.txt: assume-unchanged and skip-worktree, changed"}},
		"hidden by skip-worktree": {func(s scene) {
			s.git(".", "update-index", "--skip-worktree", "b.txt")
			s.write("b.txt", "x")
		}, []string{"git .git/index b.txt: skip-worktree", "content b.txt"}},
		"hidden by info/exclude": {func(s scene) { s.write(".git/info/exclude", "*.x\n"); s.write("new.x", "") },
			[]string{"git .git/info/exclude changed"}},
		"hidden by itself": {func(s scene) { s.write("new/.gitignore", "*\n"); s.write("new/x", "") }, []string{"added new/.gitignore"}},
		"attributes hidden by an ignore file": {func(s scene) {
			s.write("src/.gitignore", ".gitignore\n.gitattributes\n")
			s.write("src/.gitattributes", "* ident\n")
		}, []string{"added src/.gitattributes", "added src/.gitignore"}},
		"hidden by the user's settings": {func(s scene) {
			s.must(os.MkdirAll(filepath.Join(s.home, ".config/git"), 0o700))
			s.must(os.WriteFile(filepath.Join(s.home, ".config/git/ignore"), []byte("*.x\n"), 0o600))
			s.write("new.x", "")
		}, []string{"git .git/config what core.excludesfile ignores: added"}},
		"hidden by another file of the user's settings": {func(s scene) {
			s.must(os.WriteFile(filepath.Join(s.home, ".gitconfig"), []byte("[core]\nexcludesFile=~/mine\n"), 0o600))
			s.must(os.WriteFile(filepath.Join(s.home, "mine"), []byte("*.x\n"), 0o600))
			s.write("new.x", "")
		}, []string{"git .git/config core.excludesfile: added", "git .git/config what core.excludesfile ignores: added"}},
		"converted by the user's settings": {func(s scene) {
			s.must(os.MkdirAll(filepath.Join(s.home, ".config/git"), 0o700))
			s.must(os.WriteFile(filepath.Join(s.home, ".config/git/attributes"), []byte("*.txt working-tree-encoding=UTF-7\n"), 0o600))
		}, []string{"git .git/config what core.attributesfile says: added"}},
		"converted by another file of the user's settings": {func(s scene) {
			s.must(os.WriteFile(filepath.Join(s.home, ".gitconfig"), []byte("[core]\nattributesFile=~/mine\n"), 0o600))
			s.must(os.WriteFile(filepath.Join(s.home, "mine"), []byte("*.txt working-tree-encoding=UTF-7\n"), 0o600))
		}, []string{"git .git/config core.attributesfile: added", "git .git/config what core.attributesfile says: added"}},
		"merge": {func(s scene) { s.write(".git/MERGE_MSG", "evil") }, []string{"git .git/MERGE_MSG added"}},
		"gone": {func(s scene) { s.must(os.RemoveAll(s.path(".git/refs/heads"))); s.write("c", "") },
			[]string{"git .git/HEAD its commit: removed", "added c"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRepository(t)
			s.want(s.changed(func() { c.do(s) }), c.want...)
		})
	}
}

func TestIgnoredFilesDoNotCount(t *testing.T) {
	s := newScene(t)
	s.write(".gitignore", "*.log\n/build/\n.switchyard/\n")
	s.init()
	s.commit()
	s.want(s.changed(func() {
		s.write("x.log", "x")
		s.write("build/x", "x")
		s.write("build/.gitignore", "*")
		s.write("build/.gitattributes", "* ident")
		s.write(".switchyard/agents/critic.md", "x")
	}), "added .switchyard/agents/critic.md")
}

func TestProjectInAFolderOfARepository(t *testing.T) {
	s := newScene(t)
	s.write(".gitignore", "*.log\n")
	s.write("project/a", "x")
	s.init()
	s.commit()
	outer := s.dir
	s.dir = s.path("project")
	s.want(s.changed(func() {
		s.write("b", "x")
		s.write("b.log", "x")
		s.must(os.WriteFile(filepath.Join(outer, "elsewhere"), nil, 0o600))
		s.git(".", "add", "b")
	}), "git .git/index b: added", "added b")
}

func TestRepositoriesInRepositories(t *testing.T) {
	s := newScene(t)
	other := newScene(t)
	other.write("f", "x")
	other.init()
	other.commit()
	s.write("a", "x")
	s.init()
	s.git(".", "submodule", "--quiet", "add", other.dir, "sub")
	s.commit()
	s.write("nested/.gitignore", "ignored\n")
	s.write("nested/f", "x")
	s.git("nested", "init", "-q")
	s.git(".", "worktree", "add", "-q", "--detach", "linked")
	s.want(s.changed(func() {
		s.write("sub/f", "y")
		s.git("sub", "checkout", "-q", "-b", "x")
		s.write("nested/f", "y")
		s.write("nested/ignored", "y")
		s.write("nested/.git/hooks/x", "y")
		s.write("linked/a", "y")
		s.git("linked", "checkout", "-q", "-b", "y")
	}),
		"git nested/.git/hooks/x added", "content nested/f",
		"git sub/.git/HEAD changed", "git sub/.git/config branch.main.merge: removed", "git sub/.git/config branch.main.remote: removed", "content sub/f")
}

// Each of two working trees of one repository counts by itself.
func TestWorktrees(t *testing.T) {
	s := newRepository(t)
	s.git(".", "worktree", "add", "-q", "-b", "y", "../other")
	other := s
	other.dir = filepath.Join(filepath.Dir(s.dir), "other")
	for _, one := range [][2]scene{{s, other}, {other, s}} {
		here, there := one[0], one[1]
		here.want(here.changed(func() {
			there.write("b.txt", "here "+there.dir)
			there.git(".", "commit", "-q", "-a", "-m", "x")
			there.git(".", "checkout", "-q", "--track", "-b", filepath.Base(there.dir)+"-next", "HEAD")
			there.git(".", "stash")
			there.git(".", "worktree", "add", "-q", "-b", filepath.Base(there.dir)+"-third", "../third-"+filepath.Base(there.dir))
			there.git(".", "pack-refs", "--all")
		}))
		here.want(here.changed(func() { here.git(".", "commit", "-q", "--allow-empty", "-m", "x") }), "git .git/HEAD its commit: changed")
	}
	// One that lies in the other counts as such, and nothing in it. What only looks
	// like one hides nothing.
	s.want(s.changed(func() { s.git(".", "worktree", "add", "-q", "--detach", "in/it") }), "git in/it/.git added")
	s.want(s.changed(func() { s.write("in/it/x", "x"); s.write("in/x", "x") }), "added in/x")
	s.write("false/.git", "gitdir: "+s.path(".git/worktrees/it")+"\n")
	if got := strings.Join(s.changed(func() { s.write("false/x", "x") }), "\n"); !strings.Contains(got, "added false/x") {
		t.Errorf("got %s", got)
	}
}

func TestRepositoriesWithoutOneAround(t *testing.T) {
	s := newScene(t)
	s.write("one/.gitignore", "ignored\n")
	s.git("one", "init", "-q")
	s.write("two/f", "x")
	s.want(s.changed(func() {
		s.write("one/ignored", "x")
		s.write("one/.git/hooks/x", "x")
		s.write("two/ignored", "x")
	}), "git one/.git/hooks/x added", "added two/ignored")
}

func TestBrokenRepository(t *testing.T) {
	for name, damage := range map[string]func(s scene){
		"no HEAD":        func(s scene) { s.must(os.Remove(s.path(".git/HEAD"))) },
		"no objects":     func(s scene) { s.must(os.RemoveAll(s.path(".git/objects"))) },
		"damaged index":  func(s scene) { s.write(".git/index", "DIRC none") },
		"damaged config": func(s scene) { s.write(".git/config", "[core") },
		"unknown format": func(s scene) {
			s.write(".git/config", "[core]\nrepositoryformatversion=1\n[extensions]\nobjectformat=md5\n")
		},
		"a value that is bad": func(s scene) { s.git(".", "config", "core.ignoreCase", "perhaps") },
		"damaged packed-refs": func(s scene) { s.write(".git/packed-refs", "nothing\n") },
		"a file":              func(s scene) { s.must(os.RemoveAll(s.path(".git"))); s.write(".git", "hello") },
		"a file to nowhere":   func(s scene) { s.must(os.RemoveAll(s.path(".git"))); s.write(".git", "gitdir: none\n") },
		"a link to nowhere": func(s scene) {
			s.must(os.RemoveAll(s.path(".git")))
			s.must(os.Symlink("none", s.path(".git")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRepository(t)
			damage(s)
			if shot, err := s.tree().Snapshot(t.Context(), worktree.Scope{}); errs.CodeOf(err) != errs.TreeUnreadable || shot != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Many projects have an empty .git in their tests, to mark a root.
func TestEmptyGitFolder(t *testing.T) {
	s := newScene(t)
	s.must(os.Mkdir(s.path(".git"), 0o755))
	s.want(s.changed(func() { s.write("x", "") }), "added x")
}

func TestRepositoryThatVanishes(t *testing.T) {
	s := newRepository(t)
	got := s.changed(func() { s.must(os.RemoveAll(s.path(".git"))) })
	if text := strings.Join(got, "\n"); !strings.Contains(text, "git .git/HEAD removed") || strings.Contains(text, ".txt added") {
		t.Errorf("got %s", text)
	}
}

func TestWithoutGit(t *testing.T) {
	s := newRepository(t)
	s.write(".gitignore", "*.log\n")
	t.Setenv("PATH", t.TempDir())
	s.want(s.changed(func() {
		s.write("x.log", "")
		s.write(".git/hooks/x", "")
		s.write(".git/index", "whatever")
	}), "git .git/hooks/x added", "added x.log")
	err := s.tree().Diff(t.Context(), "", nil, 1)
	if errs.CodeOf(err) != errs.TreeNoGit {
		t.Errorf("got %v", err)
	}
}

// A pipe is never opened, since it has no writer.
func TestPipes(t *testing.T) {
	s := newRepository(t)
	s.want(s.changed(func() {
		s.must(syscall.Mkfifo(s.path(".git/hooks/pre-commit"), 0o600))
		s.must(os.Remove(s.path("b.txt")))
		s.must(syscall.Mkfifo(s.path("b.txt"), 0o644))
	}), "git .git/hooks/pre-commit added", "type b.txt")
	s.write(".gitignore", "ignored/\n")
	s.write("ignored/x", "")
	s.want(s.changed(func() {
		s.must(syscall.Mkfifo(s.path("pipe"), 0o600))
		s.must(os.MkdirAll(s.path("new/folder"), 0o700))
		s.must(syscall.Mkfifo(s.path("new/folder/pipe"), 0o600))
		s.must(syscall.Mkfifo(s.path("ignored/pipe"), 0o600))
		socket, err := net.Listen("unix", s.path("socket"))
		s.must(err)
		socket.(*net.UnixListener).SetUnlinkOnClose(false)
		s.must(socket.Close())
	}), "added new/folder/pipe", "added pipe", "added socket")
	plain := newScene(t)
	plain.want(plain.changed(func() { plain.must(syscall.Mkfifo(plain.path("pipe"), 0o644)) }), "added pipe")
}

// Git would wait for a writer to these, and never be told that it is waited for.
func TestPipesThatGitReads(t *testing.T) {
	for _, name := range []string{
		".gitattributes", "new/.gitignore", "new/.git/HEAD", "new/.git/commondir", ".switchyard/.gitignore", ".git/config", ".git/HEAD", ".git/index", ".git/info/exclude", "included", "../home/.gitconfig", "../home/excludes", "../home/attributes", "../home/global", "../home/system",
	} {
		t.Run(name, func(t *testing.T) {
			s := newRepository(t)
			s.git(".", "config", "core.excludesFile", filepath.Join(s.home, "excludes"))
			s.git(".", "config", "core.attributesFile", filepath.Join(s.home, "attributes"))
			s.git(".", "config", "include.path", "../included")
			t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(s.home, "global"))
			t.Setenv("GIT_CONFIG_SYSTEM", filepath.Join(s.home, "system"))
			s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o700))
			if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			s.must(syscall.Mkfifo(s.path(name), 0o600))
			// Git's own limit would end it, too, after a minute.
			ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Second, errors.New("git waits"))
			defer cancel()
			if _, err := s.tree().Snapshot(ctx, worktree.Scope{}); errs.CodeOf(err) != errs.TreeUnreadable {
				t.Errorf("a look: got %v", err)
			}
			if err := s.tree().Diff(ctx, "", nil, 1); errs.CodeOf(err) != errs.TreeUnreadable {
				t.Errorf("a diff: got %v", err)
			}
		})
	}
}

// The settings may name a file relative to the working tree, and the user's files may be links
// to files elsewhere.
func TestFilesThatSettingsName(t *testing.T) {
	s := newRepository(t)
	s.must(os.WriteFile(filepath.Join(s.home, "excludes"), []byte("x\n"), 0o600))
	s.must(os.WriteFile(filepath.Join(s.home, "attributes"), []byte("x -text\n"), 0o600))
	relative, err := filepath.Rel(s.dir, filepath.Join(s.home, "excludes"))
	s.must(err)
	s.git(".", "config", "core.excludesFile", relative)
	s.must(os.MkdirAll(filepath.Join(s.home, ".config/git"), 0o700))
	s.must(os.Symlink("../../attributes", filepath.Join(s.home, ".config/git/attributes")))
	s.want(s.changed(func() { s.must(os.WriteFile(filepath.Join(s.home, "excludes"), []byte("*\n"), 0o600)) }),
		"git .git/config what core.excludesfile ignores: changed")
	s.want(s.changed(func() {
		s.must(os.WriteFile(filepath.Join(s.home, "attributes"), []byte("* working-tree-encoding=UTF-7\n"), 0o600))
	}), "git .git/config what core.attributesfile says: changed")
}

// The caller may be a hook, to which git names the repository that it works in.
func TestCallersRepositoryDoesNotMatter(t *testing.T) {
	s := newRepository(t)
	t.Setenv("GIT_DIR", t.TempDir())
	t.Setenv("GIT_INDEX_FILE", "none")
	t.Setenv("GIT_WORK_TREE", t.TempDir())
	s.want(s.changed(func() { s.write("c", "x") }), "added c")
}

func TestCancelledLook(t *testing.T) {
	s := newRepository(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := s.tree().Snapshot(ctx, worktree.Scope{}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if err := s.tree().Diff(ctx, "", nil, 1); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// The settings are those with which the draft is committed later.
func TestUserNamesTheSettings(t *testing.T) {
	for _, global := range []string{os.DevNull, "", "other"} {
		s := newRepository(t)
		s.must(os.WriteFile(filepath.Join(s.home, ".gitconfig"), []byte("[core]\nexcludesFile=~/mine\n"), 0o600))
		s.must(os.WriteFile(filepath.Join(s.home, "mine"), []byte(".env\n"), 0o600))
		s.want(s.changed(func() { s.write(".env", "x") }))
		want := []string{"content .env"}
		if global == "other" {
			global = filepath.Join(s.home, global)
			s.must(os.WriteFile(global, []byte("[include]\npath=.gitconfig\n"), 0o600))
			want = nil
		}
		t.Setenv("GIT_CONFIG_GLOBAL", global)
		s.want(s.changed(func() { s.write(".env", "y") }), want...)
		s.must(os.Unsetenv("GIT_CONFIG_GLOBAL"))
	}
}

// Everything that a repository can make git run. Each of these writes to a file
// that nothing else writes.
func TestRepositoryProgramsDoNotRun(t *testing.T) {
	s := newRepository(t)
	s.write("sub/f", "x")
	s.git("sub", "init", "-q")
	s.git("sub", "add", "f")
	s.git("sub", "commit", "-q", "-m", "m")
	s.git(".", "add", "sub")
	s.write(".gitattributes", "* filter=evil diff=evil\n")
	s.commit()
	ran := filepath.Join(s.home, "ran")
	evil := filepath.Join(s.home, "evil")
	s.must(os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+ran+"'\ncat\n"), 0o700))
	for _, dir := range []string{".", "sub"} {
		for _, name := range []string{
			"core.fsmonitor", "core.pager", "pager.diff", "pager.ls-files", "diff.external", "diff.evil.command", "diff.evil.textconv",
			"filter.evil.clean", "filter.evil.smudge", "core.sshCommand", "core.askPass", "credential.helper", "core.alternateRefsCommand",
			"remote.origin.uploadpack", "gpg.program", "alias.ls-files",
		} {
			s.git(dir, "config", name, evil)
		}
		for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "pre-auto-gc", "reference-transaction"} {
			git := s.git(dir, "rev-parse", "--absolute-git-dir")
			s.must(os.WriteFile(filepath.Join(git, "hooks", hook), []byte("#!/bin/sh\necho hook >>'"+ran+"'\n"), 0o700))
		}
		// Something to fetch, from where it would run a program.
		s.git(dir, "config", "extensions.partialClone", "origin")
		s.git(dir, "config", "core.repositoryFormatVersion", "1")
		s.git(dir, "config", "remote.origin.url", "ext::"+evil)
		s.git(dir, "config", "remote.origin.promisor", "true")
		s.git(dir, "config", "protocol.ext.allow", "always")
	}
	s.write("a.txt", "changed\n")
	s.write("sub/f", "changed\n")
	s.write("untracked", "x\n")
	// The trap works: git itself falls into it.
	control := exec.Command("git", "status")
	control.Dir = s.dir
	_ = control.Run() // Whatever it makes of that.
	if _, err := os.Stat(ran); err != nil {
		t.Fatal("nothing ran for git itself:", err)
	}
	s.must(os.Remove(ran))
	s.want(s.changed(func() { s.write("untracked", "y\n") }), "content untracked")
	for _, base := range []string{"", "HEAD~1", "0123456789012345678901234567890123456789"} {
		text, err := s.diff(base, 1<<20)
		if base != "" && errs.CodeOf(err) == errs.TreeBaseUnknown {
			continue
		}
		s.must(err)
		if !strings.Contains(text, "+changed\n") || !strings.Contains(text, "+y\n") {
			t.Errorf("the diff: %s", text)
		}
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("this ran:\n%s", text)
	}
	for _, dir := range []string{".git", "sub/.git"} {
		if locks, err := filepath.Glob(s.path(dir + "/*.lock")); err != nil || len(locks) > 0 {
			t.Errorf("locks: %v, %v", locks, err)
		}
	}
}

// Looking writes nothing to the repository.
func TestNothingIsWritten(t *testing.T) {
	s := newRepository(t)
	s.write("untracked", "")
	index := func() string {
		text, err := os.ReadFile(s.path(".git/index"))
		s.must(err)
		objects, err := filepath.Glob(s.path(".git/objects/*/*"))
		s.must(err)
		return string(text) + strings.Join(objects, "\n")
	}
	before := index()
	s.take()
	if _, err := s.diff("", 1<<20); err != nil {
		t.Error(err)
	}
	if index() != before {
		t.Error("it wrote to the repository")
	}
}

// TestReftable has the files of a repository that stores its refs as a reftable. Versions of
// git that do not know the format read them too, as a repository without a commit.
func TestReftable(t *testing.T) {
	s := newRepository(t)
	s.write(".git/HEAD", "ref: refs/heads/.invalid\n")
	s.must(os.RemoveAll(s.path(".git/refs/heads")))
	s.write(".git/refs/heads", "this repository uses the reftable format\n")
	s.write(".git/reftable/tables.list", "1.ref\n")
	s.want(s.changed(func() {
		s.write(".git/reftable/tables.list", "2.ref\n")
		s.git(".", "config", "branch.x.remote", "origin")
		s.write("a.txt", "x\n")
	}), "git .git/config branch.x.remote: added", "git .git/reftable/tables.list changed", "content a.txt")
	text, err := s.diff("", 1<<20)
	if err != nil || !strings.Contains(text, "+++ b/b.txt\n@@ -0,0 +1 @@\n+two\n") {
		t.Errorf("got %v and\n%s", err, text)
	}
}

func TestSplitIndexAndOtherFormats(t *testing.T) {
	for name, prepare := range map[string]func(s scene){
		"split index":     func(s scene) { s.git(".", "update-index", "--split-index") },
		"sparse checkout": func(s scene) { s.git(".", "sparse-checkout", "set", "--cone", "--sparse-index", "in") },
		"old index":       func(s scene) { s.git(".", "update-index", "--index-version", "4") },
		"sha256": func(s scene) {
			s.must(os.RemoveAll(s.path(".git")))
			s.git(".", "init", "-q", "--object-format=sha256")
			s.commit()
		},
		"packed": func(s scene) { s.git(".", "gc", "-q"); s.git(".", "pack-refs", "--all") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.write("in/a", "x\n")
			s.write("out/b", "x\n")
			s.init()
			s.commit()
			prepare(s)
			s.want(s.changed(func() {
				s.write("in/a", "y\n")
				s.write("new", "z\n")
			}), "content in/a", "added new")
			text, err := s.diff("", 1<<20)
			s.must(err)
			for _, want := range []string{"-x\n+y\n", "+++ b/new\n", "+z\n"} {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in the diff:\n%s", want, text)
				}
			}
			if strings.Contains(text, "out/b") {
				t.Errorf("a file that did not change is in the diff:\n%s", text)
			}
		})
	}
}
