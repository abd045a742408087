//go:build unix

package worktree_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// kinds runs a test in a project with git and in one without.
func kinds(t *testing.T, test func(t *testing.T, s scene)) {
	for _, kind := range []string{"git", "plain"} {
		t.Run(kind, func(t *testing.T) {
			s := newScene(t)
			s.write("src/a.go", "package a\n")
			s.write("src/deep/b.go", "package b\n")
			s.write("run.sh", "exit 0\n")
			s.must(os.Symlink("src/a.go", s.path("link")))
			if kind == "git" {
				s.init()
				s.commit()
			}
			s.write("src/untracked.go", "package u\n")
			test(t, s)
		})
	}
}

func TestNothingChanged(t *testing.T) {
	kinds(t, func(_ *testing.T, s scene) {
		s.want(s.changed(func() {
			later := time.Now().Add(time.Hour)
			s.must(os.Chtimes(s.path("src/a.go"), later, later))
			s.must(os.Mkdir(s.path("empty"), 0o755))
			s.must(os.Chmod(s.path("src"), 0o700))
		}))
	})
}

func TestChangedFiles(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(s scene)
		want []string
	}{
		"content": {func(s scene) { s.write("src/a.go", "package A\n") }, []string{"content src/a.go"}},
		"content, with size and time as before": {func(s scene) {
			info, err := os.Stat(s.path("src/a.go"))
			s.must(err)
			s.write("src/a.go", "package z\n")
			s.must(os.Chtimes(s.path("src/a.go"), info.ModTime(), info.ModTime()))
		}, []string{"content src/a.go"}},
		"content of an untracked file": {func(s scene) { s.write("src/untracked.go", "") }, []string{"content src/untracked.go"}},
		"added":                        {func(s scene) { s.write("new/x", "") }, []string{"added new/x"}},
		"removed":                      {func(s scene) { s.must(os.RemoveAll(s.path("src"))) }, []string{"removed src/a.go", "removed src/deep/b.go", "removed src/untracked.go"}},
		"renamed":                      {func(s scene) { s.must(os.Rename(s.path("run.sh"), s.path("go.sh"))) }, []string{"added go.sh", "removed run.sh"}},
		"mode":                         {func(s scene) { s.must(os.Chmod(s.path("run.sh"), 0o755)) }, []string{"mode run.sh"}},
		"content and mode": {func(s scene) {
			s.write("run.sh", "exit 1\n")
			s.must(os.Chmod(s.path("run.sh"), 0o755))
		}, []string{"content run.sh", "mode run.sh"}},
		"link": {func(s scene) {
			s.must(os.Remove(s.path("link")))
			s.must(os.Symlink("src/deep/b.go", s.path("link")))
		}, []string{"content link"}},
		"type": {func(s scene) {
			s.must(os.Rename(s.path("run.sh"), filepath.Join(s.home, "run.sh")))
			s.must(os.Symlink(filepath.Join(s.home, "run.sh"), s.path("run.sh")))
		}, []string{"type run.sh"}},
		"folder behind a link": {func(s scene) { // with the same files in it
			s.must(os.Rename(s.path("src/deep"), filepath.Join(s.home, "deep")))
			s.must(os.Symlink(filepath.Join(s.home, "deep"), s.path("src/deep")))
		}, []string{"added src/deep", "removed src/deep/b.go"}},
		"file to directory": {func(s scene) {
			s.must(os.Remove(s.path("run.sh")))
			s.write("run.sh/run.sh", "exit 0\n")
		}, []string{"removed run.sh", "added run.sh/run.sh"}},
		"strange names": {func(s scene) {
			s.write("a\nb\tc", "")
			s.write(":(top)", "")
			if runtime.GOOS == "linux" { // Elsewhere a name has to be text.
				s.write("\xff\xfe", "")
			} else {
				s.write("\u00ff", "")
			}
		}, []string{"added :(top)", "added a\nb\tc", "added " + map[bool]string{true: "\xff\xfe", false: "\u00ff"}[runtime.GOOS == "linux"]}},
		"our state": {func(s scene) {
			s.write(".switchyard/ledger.db", "x")
			s.write(".switchyard/run/agents/x", "x")
			s.write(".switchyard/agents/critic.md", "x")
			s.write(".switchyard/prompts/critic.md", "x")
			s.write(".switchyard/.gitignore", "")
		}, []string{"added .switchyard/.gitignore", "added .switchyard/agents/critic.md", "added .switchyard/prompts/critic.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			kinds(t, func(_ *testing.T, s scene) { s.want(s.changed(func() { c.do(s) }), c.want...) })
		})
	}
}

func TestExcept(t *testing.T) {
	kinds(t, func(_ *testing.T, s scene) {
		s.want(s.changed(func() {
			s.write("src/deep/b.go", "x")
			s.write("reports/1.json", "x")
			s.write("reports.json", "x")
			s.write("run.sh", "x")
		}, "src/deep/", s.path("reports")+"/", "../elsewhere", "run", ".", ""), "added reports.json", "content run.sh")
	})
}

// What is too large to be read is compared by what the file system says of it.
func TestLargeFile(t *testing.T) {
	kinds(t, func(t *testing.T, s scene) {
		s.write("large", "")
		s.must(os.Truncate(s.path("large"), 64<<20+1))
		first := s.take()
		if second := s.take(); second.Digest() != first.Digest() || worktree.Compare(first, second) != nil {
			t.Error("it changed by itself")
		}
		info, err := os.Stat(s.path("large"))
		s.must(err)
		s.want(s.changed(func() {
			f, err := os.OpenFile(s.path("large"), os.O_RDWR, 0)
			s.must(err)
			_, err = f.WriteAt([]byte("x"), 1000)
			s.must(err)
			s.must(f.Close())
			s.must(os.Chtimes(s.path("large"), info.ModTime(), info.ModTime()))
		}), "content large")
	})
}

func TestUnreadableFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	kinds(t, func(t *testing.T, s scene) {
		for name, path := range map[string]string{"file": "src/a.go", "folder": "src/deep"} {
			s.must(os.Chmod(s.path(path), 0))
			if _, err := s.tree().Snapshot(t.Context(), worktree.Scope{}); errs.CodeOf(err) != errs.TreeUnreadable {
				t.Errorf("%s: got %v", name, err)
			}
			s.must(os.Chmod(s.path(path), 0o700))
		}
	})
}

func TestNoFolder(t *testing.T) {
	s := newScene(t)
	s.write("file", "")
	for _, name := range []string{"none", "file"} {
		tree := worktree.Tree{Root: s.path(name), Supervisor: s.keeper, Environ: os.Environ()}
		if _, err := tree.Snapshot(t.Context(), worktree.Scope{}); errs.CodeOf(err) != errs.TreeUnreadable {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
