//go:build unix

package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/linediff"
)

// draft stores the draft since HEAD, and compares it with an earlier one.
func (s scene) draft(tree worktree.Tree, previous string) (string, linediff.Changes) {
	s.Helper()
	base, err := s.tree().Base(s.Context(), "", "")
	s.must(err)
	id, changes, err := tree.Draft(s.Context(), base, previous)
	s.must(err)
	return id, changes
}

func TestDraft(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for _, c := range []struct {
		name          string
		before, after func(s scene)
		want          string
	}{
		{"nothing", nil, nil, "map[]"},
		{"a file of the base", nil, func(s scene) { s.write("b.txt", "two\nmore\n") }, "map[b.txt:[{2 2}]]"},
		{"a file of the draft", func(s scene) { s.write("a.txt", "1\n2\n3\n") }, func(s scene) { s.write("a.txt", "1\ntwo\n3\n") }, "map[a.txt:[{2 2}]]"},
		{"an untracked file", func(s scene) { s.write("new", "1\n2\n") }, func(s scene) { s.write("new", "1\n2\n3\n") }, "map[new:[{3 3}]]"},
		{"back to the base", func(s scene) { s.write("a.txt", "one\nmore\n") }, func(s scene) { s.write("a.txt", "one\n") }, "map[a.txt:[{2 2}]]"},
		{"removed files", func(s scene) { s.write("new", "x\n") }, func(s scene) { s.must(os.Remove(s.path("new"))); s.must(os.Remove(s.path("a.txt"))) }, "map[]"},
		{"what was staged and committed", func(s scene) { s.write("new", "1\n") }, func(s scene) { s.git(".", "add", "-A"); s.write("new", "1\n2\n") }, "map[new:[{2 2}]]"},
		{"odd paths", nil, func(s scene) {
			for _, name := range []string{"a b", `a "b"`, `q"\`, "l\nf\t", "\xff", "ü/ö"} {
				s.write(name, "x\n")
			}
		}, "map[a \"b\":[{1 1}] a b:[{1 1}] l\nf\t:[{1 1}] q\"\\:[{1 1}] ü/ö:[{1 1}] \xff:[{1 1}]]"},
		{"links", func(s scene) { s.must(os.Symlink("nowhere", s.path("link"))) },
			func(s scene) { s.must(os.Remove(s.path("link"))); s.must(os.Symlink("/etc/passwd", s.path("link"))) }, "map[link:[{1 1}]]"},
		{"a file in the place of a directory", func(s scene) { s.write("d/x", "x\n") }, func(s scene) { s.must(os.RemoveAll(s.path("d"))); s.write("d", "y\n") }, "map[d:[{1 1}]]"},
		{"a directory in the place of a file", nil, func(s scene) { s.must(os.Remove(s.path("a.txt"))); s.write("a.txt/x", "y\n") }, "map[a.txt/x:[{1 1}]]"},
		{"a binary file", func(s scene) { s.write("a.txt", "x\x00\n") }, func(s scene) { s.write("a.txt", "y\x00\n") }, "map[]"},
		{"carriage returns", func(s scene) { s.git(".", "config", "core.autocrlf", "true"); s.write("a.txt", "1\r\n2\r\n") }, func(s scene) { s.write("a.txt", "1\r\n3\r\n") }, "map[a.txt:[{2 2}]]"},
		{"a file that git converted", func(s scene) {
			s.write("text", "1\n2\n3\n")
			s.git(".", "add", "text")
			s.git(".", "commit", "-q", "-m", "text")
			s.git(".", "config", "core.autocrlf", "true")
			s.must(os.Remove(s.path("text")))
			s.git(".", "checkout", "text")
		}, func(s scene) { s.write("text", "1\r\ntwo\r\n3\r\n") }, "map[text:[{2 2}]]"},
		{"no line end", func(s scene) { s.write("a.txt", "1\n2") }, func(s scene) { s.write("a.txt", "1\n2\n3") }, "map[a.txt:[{3 3}]]"},
		{"a large file", func(s scene) { s.write("large", "x\n"); s.must(os.Truncate(s.path("large"), 200<<20)) },
			func(s scene) { s.must(os.Truncate(s.path("large"), 201<<20)); s.write("a.txt", "two\n") }, "map[a.txt:[{1 1}]]"},
		{"a nested repository", func(s scene) { s.write("nested/x", "1\n"); s.git("nested", "init", "-q") }, func(s scene) { s.write("nested/x", "2\n"); s.write("a.txt", "two\n") }, "map[a.txt:[{1 1}]]"},
		{"a submodule", func(s scene) {
			s.write("../other/x", "1\n")
			s.git("../other", "init", "-q")
			s.git("../other", "add", "x")
			s.git("../other", "commit", "-q", "-m", "m")
			s.git(".", "submodule", "--quiet", "add", "../other", "sub")
		}, func(s scene) {
			s.write("sub/x", "2\n")
			s.git("sub", "commit", "-q", "-a", "-m", "m")
			s.write("a.txt", "two\n")
		}, "map[a.txt:[{1 1}]]"},
		{"attributes that hide", func(s scene) {
			s.write(".gitattributes", "* -diff filter=x\n")
			s.git(".", "config", "filter.x.clean", "echo hidden")
		},
			func(s scene) { s.write("a.txt", "two\n") }, "map[a.txt:[{1 1}]]"},
		{"ignored files", func(s scene) { s.write(".gitignore", "*.o\n") }, func(s scene) { s.write("x.o", "x\n"); s.write("a.txt", "two\n") }, "map[a.txt:[{1 1}]]"},
		{"many files", nil, func(s scene) {
			for i := range 1100 {
				s.write(fmt.Sprintf("d/f%d", i), fmt.Sprintf("%d\n", i))
			}
			s.write("a.txt", "two\n")
		}, ""},
	} {
		for _, kind := range []string{"whole", "continued"} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				s := newRepository(t)
				tree := s.tree()
				look := func() {
					if kind == "continued" {
						s.look(&tree)
					}
				}
				if c.before != nil {
					c.before(s)
				}
				look()
				first, changes := s.draft(tree, "")
				if changes != nil {
					t.Errorf("without an earlier draft: got %v", changes)
				}
				if c.after != nil {
					c.after(s)
				}
				look()
				second, changes := s.draft(tree, first)
				if got := fmt.Sprint(changes); c.want != "" && got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				} else if c.want == "" && (len(changes) != 1101 || !changes.Has("d/f1099", 1)) {
					t.Errorf("got %d files", len(changes))
				}
				if (first == second) != (c.name == "nothing") {
					t.Errorf("the trees are %s and %s", first, second)
				}
			})
		}
	}
}

// TestDraftOfASnapshot: the draft of a snapshot has no later change.
func TestDraftOfASnapshot(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for name, c := range map[string]struct {
		change func(s scene)
		fails  bool
	}{
		"nothing":            {func(scene) {}, false},
		"another file":       {func(s scene) { s.write("later", "x\n") }, false},
		"a file of the base": {func(s scene) { s.write("b.txt", "x\n") }, true},
		"the content":        {func(s scene) { s.write("a.txt", "1\n3\n") }, true},
		"the mode":           {func(s scene) { s.must(os.Chmod(s.path("a.txt"), 0o700)) }, true},
		"removed":            {func(s scene) { s.must(os.Remove(s.path("new"))) }, true},
		"a link":             {func(s scene) { s.must(os.Remove(s.path("new"))); s.must(os.Symlink("1\n", s.path("new"))) }, true},
		"back to the base":   {func(s scene) { s.write("a.txt", "one\n") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRepository(t)
			base, err := s.tree().Base(t.Context(), "", "")
			s.must(err)
			s.write("a.txt", "1\n2\n")
			s.write("new", "1\n")
			want, _, err := s.tree().Draft(t.Context(), base, "")
			s.must(err)
			for _, cache := range []*worktree.Cache{nil, {}} {
				tree := s.tree()
				tree.Cache = cache
				tree.Now, err = tree.Snapshot(t.Context(), worktree.Scope{})
				s.must(err)
				if cache != nil {
					c.change(s)
				}
				got, _, err := tree.Draft(t.Context(), base, "")
				if fails := cache != nil && c.fails; fails != (errs.CodeOf(err) == errs.TreeUnreadable) || !fails && got != want {
					t.Errorf("with a cache %t, the draft is %s, %v", cache != nil, got, err)
				}
			}
		})
	}
}

// TestDraftLeavesNoTrace checks that storing a draft adds nothing to a repository but
// objects.
func TestDraftLeavesNoTrace(t *testing.T) {
	s := newRepository(t)
	s.write("a.txt", "two\n")
	s.write("new", "x\n")
	before := s.git(".", "status", "--porcelain") + s.git(".", "for-each-ref")
	s.want(s.changed(func() { s.draft(s.tree(), "") }))
	if after := s.git(".", "status", "--porcelain") + s.git(".", "for-each-ref"); after != before {
		t.Errorf("got\n%s\nwant\n%s", after, before)
	}
	names, err := filepath.Glob(s.path(".git/*"))
	s.must(err)
	if strings.Contains(fmt.Sprint(names), "fast_import") {
		t.Errorf("it left %s", names)
	}
}

// TestDraftInAFolder checks a project that is a part of its repository.
func TestDraftInAFolder(t *testing.T) {
	s := newRepository(t)
	s.write("project/x", "1\n")
	s.commit()
	project := s
	project.dir = s.path("project")
	first, _ := project.draft(project.tree(), "")
	s.write("project/x", "1\n2\n")
	s.write("a.txt", "beside the project\n")
	if _, changes := project.draft(project.tree(), first); fmt.Sprint(changes) != "map[x:[{2 2}]]" {
		t.Errorf("got %v", changes)
	}
}

func TestDraftBeforeTheFirstCommit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		s := newScene(t)
		s.git(".", "init", "-q", "--object-format="+format)
		s.write("x", "1\n")
		first, _ := s.draft(s.tree(), "")
		s.write("x", "1\n2\n")
		if _, changes := s.draft(s.tree(), first); fmt.Sprint(changes) != "map[x:[{2 2}]]" {
			t.Errorf("%s: got %v", format, changes)
		}
	}
}

func TestDraftThatIsGone(t *testing.T) {
	s := newRepository(t)
	s.write("a.txt", "two\n")
	first, _ := s.draft(s.tree(), "")
	s.git(".", "gc", "-q") // It keeps what is new.
	s.write("a.txt", "three\n")
	if _, changes := s.draft(s.tree(), first); fmt.Sprint(changes) != "map[a.txt:[{1 1}]]" {
		t.Errorf("got %v", changes)
	}
	s.git(".", "gc", "-q", "--prune=now")
	if _, changes := s.draft(s.tree(), first); changes != nil {
		t.Errorf("got %v", changes)
	}
}

func TestDraftWithoutARepository(t *testing.T) {
	if _, _, err := newScene(t).tree().Draft(t.Context(), "", ""); errs.CodeOf(err) != errs.TreeNoGit {
		t.Errorf("got %v", err)
	}
}
