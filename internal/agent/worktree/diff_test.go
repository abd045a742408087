//go:build unix

package worktree_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// diff is what Diff writes.
func (s scene) diff(base string, limit int64) (string, error) {
	s.Helper()
	out, err := os.Create(filepath.Join(s.TempDir(), "diff"))
	s.must(err)
	defer out.Close()
	if err := s.tree().Diff(s.Context(), base, out, limit); err != nil {
		return "", err
	}
	text, err := os.ReadFile(out.Name())
	s.must(err)
	return string(text), nil
}

func TestDiff(t *testing.T) {
	s := newRepository(t)
	s.write("new\u00fc.txt", "four\n")
	s.write("empty", "")
	s.must(os.Remove(s.path("b.txt")))
	s.must(os.Symlink("nowhere", s.path("link")))
	// A draft that wants to hide.
	s.write(".gitattributes", "*.txt -diff\n")
	s.git(".", "config", "diff.noprefix", "true")
	s.git(".", "config", "color.ui", "always")
	s.git(".", "add", "a.txt")
	s.git(".", "update-index", "--assume-unchanged", "a.txt")
	s.write("a.txt", "five\n")
	text, err := s.diff("", 1<<20)
	s.must(err)
	for _, want := range []string{
		"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+five\n",
		"deleted file mode 100644\n",
		"--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-two\n",
		"diff --git a/empty b/empty\nnew file mode 100644\n",
		"new file mode 120000\n",
		"+++ b/link\n@@ -0,0 +1 @@\n+nowhere\n\\ No newline at end of file\n",
		"--- /dev/null\n+++ b/new\u00fc.txt\n@@ -0,0 +1 @@\n+four\n",
		"+*.txt -diff\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the diff:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "diff --git "); n != 6 {
		t.Errorf("it shows %d files:\n%s", n, text)
	}
}

// TestDiffOfASubmodule changes a submodule without staging it. The diff and the draft have what
// git would commit.
func TestDiffOfASubmodule(t *testing.T) {
	remove := func(s scene) { s.must(os.RemoveAll(s.path("sub"))) }
	for name, c := range map[string]struct {
		change func(s scene)
		// diff is a part of the diff, or "" if there is none, and entry the beginning of the
		// draft's entry, or "" if the draft has none.
		diff, entry string
	}{
		"nothing":  {func(scene) {}, "", "160000 commit "},
		"a file":   {func(s scene) { s.write("sub/x", "2\n") }, "", "160000 commit "},
		"a commit": {func(s scene) { s.git("sub", "commit", "-q", "--allow-empty", "-m", "m") }, "+Subproject commit ", "160000 commit "},
		"staged, and back": {func(s scene) {
			s.git("sub", "commit", "-q", "--allow-empty", "-m", "m")
			s.git(".", "add", "sub")
			s.git("sub", "reset", "-q", "HEAD~")
		}, "", "160000 commit "},
		"not checked out": {func(s scene) { remove(s); s.must(os.Mkdir(s.path("sub"), 0o700)) }, "", "160000 commit "},
		"deleted":         {remove, "-Subproject commit ", ""},
		"a file instead":  {func(s scene) { remove(s); s.write("sub", "evil\n") }, "+evil\n", "100644 blob "},
		"a link instead":  {func(s scene) { remove(s); s.must(os.Symlink("/etc", s.path("sub"))) }, "+/etc\n", "120000 blob "},
		"hidden by a flag": {func(s scene) {
			s.git(".", "update-index", "--skip-worktree", "sub")
			remove(s)
			s.write("sub", "evil\n")
		}, "+evil\n", "100644 blob "},
		"hidden, deleted": {func(s scene) { s.git(".", "update-index", "--skip-worktree", "sub"); remove(s) }, "", "160000 commit "},
	} {
		for _, kind := range []string{"whole", "continued"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				s := newRepository(t)
				s.write("../other/x", "1\n")
				s.git("../other", "init", "-q")
				s.git("../other", "add", "x")
				s.git("../other", "commit", "-q", "-m", "m")
				s.git(".", "submodule", "--quiet", "add", "../other", "sub")
				s.commit()
				tree := s.tree()
				look := func() {
					if kind == "continued" {
						s.look(&tree)
					}
				}
				look()
				before, _ := s.draft(tree, "")
				c.change(s)
				look()
				var diff strings.Builder
				s.must(tree.Diff(t.Context(), "", &diff, 1<<20))
				if text := diff.String(); !strings.Contains(text, c.diff) || (text == "") != (c.diff == "") {
					t.Errorf("the diff is %q, want %q in it", text, c.diff)
				}
				after, _ := s.draft(tree, "")
				if (before == after) != (c.diff == "") {
					t.Errorf("the draft changes from %s to %s", before, after)
				}
				if entry := s.git(".", "ls-tree", after, "sub"); !strings.HasPrefix(entry, c.entry) || (entry == "") != (c.entry == "") {
					t.Errorf("the draft has %q, want %q", entry, c.entry)
				}
			})
		}
	}
}

// TestDiffOfAHiddenFile removes a file that a flag of the index hides. Git commits that, unless a
// sparse checkout would leave out the file.
func TestDiffOfAHiddenFile(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s scene)
		want   []string // of the paths
	}{
		"assumed": {func(s scene) { s.git(".", "update-index", "--assume-unchanged", "d/x") }, []string{"D\td/x"}},
		"skipped": {func(s scene) { s.git(".", "update-index", "--skip-worktree", "d/x") }, nil},
		"skipped, a file instead of the directory": {
			func(s scene) {
				s.git(".", "update-index", "--skip-worktree", "d/x")
				s.must(os.Remove(s.path("d")))
				s.write("d", "1\n")
			},
			[]string{"A\td", "D\td/x"},
		},
		"skipped, a directory instead": {
			func(s scene) { s.git(".", "update-index", "--skip-worktree", "d/x"); s.write("d/x/y", "1\n") },
			[]string{"D\td/x", "A\td/x/y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRepository(t)
			s.write("d/x", "x\n")
			s.commit()
			s.must(os.Remove(s.path("d/x")))
			c.change(s)
			var diff []string
			text, err := s.diff("", 1<<20)
			s.must(err)
			for part := range strings.SplitSeq(text, "diff --git a/") {
				path, rest, _ := strings.Cut(part, " b/")
				switch {
				case strings.Contains(rest, "\ndeleted file"):
					diff = append(diff, "D\t"+path)
				case strings.Contains(rest, "\nnew file"):
					diff = append(diff, "A\t"+path)
				}
			}
			s.want(diff, c.want...)
			draft, _ := s.draft(s.tree(), "")
			s.want(strings.Fields(s.git(".", "diff-tree", "-r", "--name-status", "HEAD", draft)), strings.Fields(strings.Join(c.want, " "))...)
		})
	}
}

// Git warns of line ends before it prints the names of files, which must not hide them.
func TestDiffersDespiteWarnings(t *testing.T) {
	s := newRepository(t)
	for _, text := range []string{"one\r\n", "two\n"} {
		s.commit()
		s.git(".", "config", "core.autocrlf", "true")
		for i := range 100 {
			s.write(fmt.Sprintf("%d.txt", i), text)
		}
	}
	for range 5 {
		if differs, err := s.tree().Differs(s.Context(), "", []string{"*.txt"}); err != nil || !differs {
			t.Fatalf("%t, %v", differs, err)
		}
	}
}

func TestDiffAgainstAnotherBase(t *testing.T) {
	s := newRepository(t)
	s.git(".", "tag", "v1")
	s.commit()
	s.write("b.txt", "six\n")
	for base, want := range map[string][2]bool{"v1": {true, true}, "HEAD~1": {true, true}, "main": {false, true}, "": {false, true}} {
		text, err := s.diff(base, 1<<20)
		s.must(err)
		if got := [2]bool{strings.Contains(text, "+three\n"), strings.Contains(text, "+six\n")}; got != want {
			t.Errorf("%s: got\n%s", base, text)
		}
	}
	for _, base := range []string{"none", "-p", "--output=x", ":/m", "HEAD HEAD", "v1:b.txt", "main\n", "@{-9}", strings.Repeat("a", 1000)} {
		if _, err := s.diff(base, 1<<20); errs.CodeOf(err) != errs.TreeBaseUnknown {
			t.Errorf("%q: got %v", base, err)
		}
	}
}

// base is what Base returns.
func (s scene) base(rev, branch string) (string, error) {
	return s.tree().Base(s.Context(), rev, branch)
}

func TestBase(t *testing.T) {
	s := newRepository(t)
	first := s.git(".", "rev-parse", "HEAD")
	s.git(".", "checkout", "-q", "-b", "work")
	s.commit()
	second := s.git(".", "rev-parse", "HEAD")
	s.git(".", "checkout", "-q", "main")
	s.git(".", "commit", "-q", "--allow-empty", "-m", "more")
	s.git(".", "checkout", "-q", "work")
	for _, c := range []struct{ rev, branch, want string }{
		{"", "", second}, {"main~1", "", first}, {"", "main", first}, {"HEAD", "main", second}, {first[:10], "none", first},
	} {
		if got, err := s.base(c.rev, c.branch); err != nil || got != c.want {
			t.Errorf("%q, %q: got %s, %v, want %s", c.rev, c.branch, got, err, c.want)
		}
	}
	s.git(".", "tag", "main", "work")
	for _, c := range [][2]string{{"main", ""}, {"main~0", ""}, {"", "main"}} {
		if got, err := s.base(c[0], c[1]); errs.CodeOf(err) != errs.TreeBaseUnknown {
			t.Errorf("%q with a tag of that name: got %s, %v", c, got, err)
		}
	}
	if got, err := s.base("", "refs/heads/main"); err != nil || got != first {
		t.Errorf("got %s, %v", got, err)
	}
	s.git(".", "tag", "-d", "main")
	s.git(".", "checkout", "-q", "--orphan", "alone")
	s.git(".", "commit", "-q", "-m", "alone")
	for _, c := range [][2]string{{"none", ""}, {"", "none"}, {"", "--all"}, {"", "main"}} {
		if got, err := s.base(c[0], c[1]); errs.CodeOf(err) != errs.TreeBaseUnknown {
			t.Errorf("%q: got %s, %v", c, got, err)
		}
	}
}

// What is committed after the base was named is a part of the diff.
func TestDiffFromABase(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		s := newScene(t)
		s.git(".", "init", "-q", "--object-format="+format)
		base, err := s.base("", "main")
		if errs.CodeOf(err) != errs.TreeBaseUnknown {
			t.Errorf("got %q, %v", base, err)
		}
		base, err = s.base("", "")
		s.must(err)
		s.write("a", "x\n")
		s.commit()
		s.write("b", "y\n")
		text, err := s.diff(base, 1<<20)
		s.must(err)
		if !strings.Contains(text, "+++ b/a\n@@ -0,0 +1 @@\n+x\n") || !strings.Contains(text, "+++ b/b\n@@ -0,0 +1 @@\n+y\n") {
			t.Errorf("got\n%s", text)
		}
	}
}

func TestBaseThatIsGone(t *testing.T) {
	s := newRepository(t)
	s.commit()
	base, err := s.base("", "")
	s.must(err)
	s.git(".", "reset", "-q", "--hard", "HEAD~1")
	s.git(".", "reflog", "expire", "--expire=now", "--all")
	s.git(".", "gc", "-q", "--prune=now")
	if _, err := s.diff(base, 1<<20); errs.CodeOf(err) != errs.TreeBaseUnknown {
		t.Errorf("got %v", err)
	}
}

func TestDiffBeforeTheFirstCommit(t *testing.T) {
	s := newScene(t)
	s.init()
	s.write("a", "x\n")
	s.write("staged", "y\n")
	s.git(".", "add", "staged")
	text, err := s.diff("", 1<<20)
	s.must(err)
	if !strings.Contains(text, "+++ b/a\n@@ -0,0 +1 @@\n+x\n") || !strings.Contains(text, "+++ b/staged\n@@ -0,0 +1 @@\n+y\n") {
		t.Errorf("got\n%s", text)
	}
	s.write(".git/HEAD", "0123456789012345678901234567890123456789\n")
	if _, err := s.diff("", 1<<20); errs.CodeOf(err) != errs.TreeBaseUnknown {
		t.Errorf("a HEAD to nowhere: got %v", err)
	}
}

func TestDiffOfAFolder(t *testing.T) {
	s := newRepository(t)
	s.write("project/new", "x\n")
	s.dir = s.path("project")
	text, err := s.diff("", 1<<20)
	s.must(err)
	if want := "+++ b/new\n"; !strings.Contains(text, want) || strings.Contains(text, "a.txt") {
		t.Errorf("got\n%s", text)
	}
}

func TestDiffWithoutARepository(t *testing.T) {
	if _, err := newScene(t).diff("", 100); errs.CodeOf(err) != errs.TreeNoGit {
		t.Errorf("got %v", err)
	}
}

func TestDiffIsCut(t *testing.T) {
	s := newRepository(t)
	s.write("long", strings.Repeat("line\n", 200_000))
	text, err := s.diff("", 1000)
	s.must(err)
	stored, cut := strings.CutSuffix(text, "[cut here: the diff is longer than it may be]\n")
	if !cut || !strings.HasSuffix(stored, "+line\n") || len(text) > 1000 || len(text) < 990 {
		t.Errorf("got %d bytes:\n%s", len(text), text)
	}
}

// TestDiffContinues checks that a diff and a draft which only read what changed since the last
// one are those of the whole tree: since the first diff, and since the tree was checked out.
func TestDiffContinues(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	t.Run("diff", func(t *testing.T) { testDiffContinues(t, func(worktree.Tree, string) {}) })
	t.Run("checkout", func(t *testing.T) {
		testDiffContinues(t, func(tree worktree.Tree, base string) {
			tree.Cache.CheckedOut(tree.Root, base)
			if _, err := tree.Snapshot(t.Context(), worktree.Scope{}); err != nil {
				t.Fatal(err)
			}
		})
	})
}

func testDiffContinues(t *testing.T, begin func(tree worktree.Tree, base string)) {
	s := newRepository(t)
	s.git(".", "checkout", "-q", "-f", "HEAD")
	base, err := s.tree().Base(t.Context(), "", "")
	s.must(err)
	tree := s.tree()
	tree.Cache = &worktree.Cache{}
	begin(tree, base)
	for i, edit := range []func(){
		func() {},
		func() { s.write("a.txt", "five\n") },
		func() { s.write("new.txt", "new\n"); s.write("a.txt", "six!\n") },
		func() { s.must(os.Rename(s.path("b.txt"), s.path("moved.txt"))) },
		func() { s.write(".gitignore", "new.txt\n") },
		func() { s.must(os.Chmod(s.path("a.txt"), 0o755)) },
		func() { s.write("a.txt", "one\n"); s.must(os.Chmod(s.path("a.txt"), 0o644)) },
		func() { s.git(".", "add", "-A"); s.git(".", "update-index", "--assume-unchanged", "a.txt") },
		func() { s.write("a.txt", "hidden\n") },
		func() { s.write(".gitattributes", "*.txt -diff\n") },
		func() { s.git(".", "config", "core.autocrlf", "true") },
		func() { s.must(os.Remove(s.path("a.txt"))); s.must(os.Symlink("nowhere", s.path("a.txt"))) },
		func() { s.git(".", "commit", "-q", "-m", "the draft"); s.write("new.txt", "newer\n") },
		func() { s.git(".", "rm", "-q", "-f", ".gitignore") },
		func() { s.write(".cache/.gitignore", "*\n"); s.write("sub/.gitignore", "x\n") },
		func() { s.write("nested/x", "x"); s.git("nested", "init", "-q") },
		func() { s.must(os.Remove(s.path("a.txt"))); s.write("a.txt/a", "a directory in the place of a link") },
		func() { s.must(os.RemoveAll(s.path("nested"))); s.git(".", "rm", "-q", "-r", "-f", "--cached", ".") },
		func() {
			s.write("b.txt", "two\n")
			s.git(".", "add", "b.txt")
			s.git(".", "update-index", "--skip-worktree", "b.txt")
		},
		func() { s.must(os.Remove(s.path("b.txt"))) },
	} {
		edit()
		want, err := s.diff(base, 1<<20)
		s.must(err)
		tree.Now, err = tree.Snapshot(t.Context(), worktree.Scope{})
		s.must(err)
		var got strings.Builder
		s.must(tree.Diff(t.Context(), base, &got, 1<<20))
		if got.String() != want {
			t.Errorf("after edit %d the diff is\n%s\nwant\n%s", i, got.String(), want)
		}
		whole, _, err := s.tree().Draft(t.Context(), base, "")
		s.must(err)
		stored, _, err := tree.Draft(t.Context(), base, "")
		s.must(err)
		if stored != whole {
			t.Errorf("after edit %d the draft is\n%s\nwant\n%s", i, s.git(".", "ls-tree", "-r", stored), s.git(".", "ls-tree", "-r", whole))
		}
	}
}

// TestDiffContinuesWithoutFiles checks that a diff which continues shows what git would commit
// although no file changed: only its entry in the index did, a directory, or an attribute.
func TestDiffContinuesWithoutFiles(t *testing.T) {
	for name, c := range map[string]struct {
		begin, change func(s scene)
		want          string
		commit        []string // Tree.Commit
	}{
		"a submodule that is not checked out": {
			func(s scene) {
				s.git(".", "update-index", "--add", "--cacheinfo", "160000,"+s.git(".", "rev-parse", "HEAD")+",sub")
				s.must(os.Mkdir(s.path("sub"), 0o700))
				s.git(".", "commit", "-q", "-m", "m")
			},
			func(s scene) { s.git(".", "rm", "-q", "--cached", "sub") },
			"-Subproject commit ", nil,
		},
		"the directory of a submodule that is not checked out": {
			func(s scene) {
				s.git(".", "update-index", "--add", "--cacheinfo", "160000,"+s.git(".", "rev-parse", "HEAD")+",sub")
				s.must(os.Mkdir(s.path("sub"), 0o700))
				s.git(".", "commit", "-q", "-m", "m")
			},
			func(s scene) { s.must(os.Remove(s.path("sub"))) },
			"-Subproject commit ", nil,
		},
		"a file outside of a sparse checkout": {
			func(s scene) { s.git(".", "sparse-checkout", "set", "--no-cone", "/a.txt") },
			func(s scene) { s.git(".", "update-index", "--force-remove", "b.txt") },
			"deleted file mode 100644\n", nil,
		},
		"a mode that the file system does not have": {
			func(s scene) { s.git(".", "config", "core.fileMode", "false") },
			func(s scene) { s.git(".", "update-index", "--chmod=+x", "a.txt") },
			"new mode 100755\n", nil,
		},
		"line ends": {
			func(s scene) {
				s.write(".gitattributes", "*.crlf eol=crlf\n")
				s.write("x.crlf", "x\r\n")
				s.commit()
			},
			func(s scene) { s.write(".gitattributes", "*.crlf -text\n") },
			"+x\r\n", []string{".gitattributes", "x.crlf"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRepository(t)
			s.git(".", "checkout", "-q", "-f", "HEAD")
			c.begin(s)
			base, tree := s.git(".", "rev-parse", "HEAD"), s.tree()
			tree.Cache = &worktree.Cache{}
			tree.Cache.CheckedOut(tree.Root, base)
			look := func() (diff string) {
				t.Helper()
				var err error
				tree.Now, err = tree.Snapshot(t.Context(), worktree.Scope{})
				s.must(err)
				var text strings.Builder
				s.must(tree.Diff(t.Context(), base, &text, 1<<20))
				return text.String()
			}
			if diff := look(); diff != "" {
				t.Fatalf("before the change the diff is\n%s", diff)
			}
			c.change(s)
			tree.Commit = c.commit
			diff := look()
			whole, err := s.diff(base, 1<<20)
			s.must(err)
			if diff != whole || !strings.Contains(diff, c.want) {
				t.Errorf("the diff is\n%s\nwant %q in it, and all of\n%s", diff, c.want, whole)
			}
		})
	}
}

// TestDiffLeavesOutIgnoredFiles checks that ignored files of rules are not shown, although
// they count.
func TestDiffLeavesOutIgnoredFiles(t *testing.T) {
	s := newRepository(t)
	s.write(".cache/.gitignore", "*\n")
	s.write(".cache/.gitattributes", "* ident\n")
	s.write("sub/.gitignore", "x\n")
	text, err := s.diff("", 1<<20)
	s.must(err)
	if !strings.Contains(text, "+++ b/sub/.gitignore\n") || strings.Contains(text, ".cache") {
		t.Errorf("got\n%s", text)
	}
}

// TestDiffOfAConflict checks that a file in conflict is shown once, as it is.
func TestDiffOfAConflict(t *testing.T) {
	s := newRepository(t)
	s.git(".", "checkout", "-q", "-b", "other")
	s.write("a.txt", "theirs\n")
	s.git(".", "commit", "-q", "-a", "-m", "theirs")
	s.git(".", "checkout", "-q", "main")
	s.write("a.txt", "ours\n")
	s.git(".", "commit", "-q", "-a", "-m", "ours")
	merge := exec.Command("git", "-c", "user.name=n", "-c", "user.email=e@example.org", "merge", "-q", "other")
	merge.Dir = s.dir
	if err := merge.Run(); err == nil {
		t.Fatal("the merge has no conflict")
	}
	text, err := s.diff("", 1<<20)
	s.must(err)
	if strings.Count(text, "diff --git ") != 1 || !strings.Contains(text, "+theirs\n") {
		t.Errorf("got\n%s", text)
	}
}

// TestDiffFromAMovingBranch checks that a base that is a name is looked up each time.
func TestDiffFromAMovingBranch(t *testing.T) {
	s := newRepository(t)
	s.git(".", "branch", "base")
	tree := s.tree()
	tree.Cache = &worktree.Cache{}
	for _, differs := range []bool{false, true} {
		var err error
		tree.Now, err = tree.Snapshot(t.Context(), worktree.Scope{})
		s.must(err)
		var text strings.Builder
		s.must(tree.Diff(t.Context(), "base", &text, 1<<20))
		if strings.Contains(text.String(), "+two\n") != differs {
			t.Errorf("got\n%s", text.String())
		}
		empty := s.git(".", "hash-object", "-t", "tree", "-w", os.DevNull)
		s.git(".", "update-ref", "refs/heads/base", s.git(".", "commit-tree", "-m", "empty", empty))
	}
}
