//go:build unix

package worktree_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
)

// TestAreas: what a change affects, in a linked working tree as well.
func TestAreas(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	const files, index, records, deciding = worktree.Files, worktree.Index, worktree.Records, worktree.Deciding
	for name, c := range map[string]struct {
		do   func(s scene)
		want []worktree.Area
	}{
		"a file":               {func(s scene) { s.write("a.txt", "x"); s.write("new", "x") }, []worktree.Area{files}},
		"a removed file":       {func(s scene) { s.must(os.Remove(s.path("a.txt"))) }, []worktree.Area{files}},
		"an ignored file":      {func(s scene) { s.write("x.log", "x") }, nil},
		"status":               {func(s scene) { s.must(os.Chmod(s.path("b.txt"), 0o644)); s.git(".", "status"); s.git(".", "diff") }, nil},
		"staged":               {func(s scene) { s.write("new", "x"); s.git(".", "add", "-A") }, []worktree.Area{files, index}},
		"taken from the index": {func(s scene) { s.git(".", "rm", "-q", "--cached", "b.txt") }, []worktree.Area{index}},
		"hidden in the index":  {func(s scene) { s.git(".", "update-index", "--assume-unchanged", "b.txt") }, []worktree.Area{records}},
		"a commit":             {func(s scene) { s.commit() }, []worktree.Area{records}},
		"a branch":             {func(s scene) { s.git(".", "checkout", "-q", "-b", "mine") }, []worktree.Area{records}},
		"a remote":             {func(s scene) { s.git(".", "remote", "add", "mine", "x") }, []worktree.Area{records}},
		"a setting":            {func(s scene) { s.git(".", "config", "core.hooksPath", "x") }, []worktree.Area{records}},
		"a hook": {func(s scene) {
			s.must(os.WriteFile(s.git(".", "rev-parse", "--path-format=absolute", "--git-path", "hooks/pre-commit"), nil, 0o755))
		}, []worktree.Area{records}},
		"a merge":               {func(s scene) { s.git(".", "merge", "-q", "--no-commit", "--no-ff", "other") }, []worktree.Area{files, index, records}},
		"a repository":          {func(s scene) { s.write("sub/x", "x"); s.git("sub", "init", "-q") }, []worktree.Area{files, records}},
		".git":                  {func(s scene) { s.must(os.RemoveAll(s.path(".git"))) }, []worktree.Area{index, records}},
		".gitmodules":           {func(s scene) { s.write(".gitmodules", "x") }, []worktree.Area{deciding}},
		".gitmodules of a test": {func(s scene) { s.write("testdata/.gitmodules", "x") }, []worktree.Area{files}},
		"the configuration":     {func(s scene) { s.write("switchyard.yaml", "x") }, []worktree.Area{deciding}},
		"no configuration":      {func(s scene) { s.must(os.Remove(s.path("switchyard.yaml"))) }, []worktree.Area{deciding}},
		"an agent":              {func(s scene) { s.write(".claude/agents/critic.md", "x") }, []worktree.Area{deciding}},
		"agents behind a link":  {func(s scene) { s.must(os.Symlink(s.home, s.path(".claude"))) }, []worktree.Area{deciding}},
		"an ignored policy":     {func(s scene) { s.write("policies/mine.log", "x") }, []worktree.Area{deciding}},
		"our state":             {func(s scene) { s.write(".switchyard/x.log", "x") }, []worktree.Area{deciding}},
	} {
		for _, where := range []string{"main", "linked"} {
			t.Run(name+" in "+where, func(t *testing.T) {
				s := newScene(t)
				s.write("a.txt", "one\n")
				s.write("b.txt", "two\n")
				s.write("switchyard.yaml", "version: 1\n")
				s.write(".gitignore", "*.log\n")
				s.init()
				s.commit()
				s.git(".", "checkout", "-q", "-b", "other")
				s.write("other", "x")
				s.commit()
				s.git(".", "checkout", "-q", "main")
				if where == "linked" {
					s.git(".", "worktree", "add", "-q", "-b", "linked", "../linked")
					s.dir = filepath.Join(filepath.Dir(s.dir), "linked")
				}
				scope := worktree.Scope{AlwaysTracked: []string{"policies"}, TaskTree: true}
				before, err := s.tree().Snapshot(t.Context(), scope)
				s.must(err)
				c.do(s)
				after, err := s.tree().Snapshot(t.Context(), scope)
				s.must(err)
				var got []worktree.Area
				for _, change := range worktree.Compare(before, after) {
					got = append(got, change.Area)
				}
				slices.Sort(got)
				if got = slices.Compact(got); !slices.Equal(got, slices.Sorted(slices.Values(c.want))) {
					t.Errorf("%v, want %v of\n%v", got, c.want, worktree.Compare(before, after))
				}
			})
		}
	}
}

// TestDeciding: the files that affect later rounds are compared without all others, and
// without git.
func TestDeciding(t *testing.T) {
	kinds(t, func(t *testing.T, s scene) {
		s.write("policies/mine.rego", "x")
		scope := worktree.Scope{AlwaysTracked: []string{"policies"}, TaskTree: true}
		s.write(".switchyard/ledger.db", "x")
		tree := s.tree()
		tree.Environ = nil // without a path to git
		before, err := tree.Deciding(t.Context(), scope)
		s.must(err)
		s.write("src/a.go", "other")
		s.write(".switchyard/ledger.db", "y")
		same, err := tree.Deciding(t.Context(), scope)
		s.must(err)
		if same.Digest() != before.Digest() {
			t.Error("another file counts")
		}
		s.write("policies/mine.rego", "y")
		s.write("switchyard.yaml", "x")
		after, err := tree.Deciding(t.Context(), scope)
		s.must(err)
		changes := worktree.Compare(before, after)
		s.want(lines(changes), "content policies/mine.rego", "added switchyard.yaml")
		if len(changes) != 2 || changes[0].Area != worktree.Deciding || changes[1].Area != worktree.Deciding {
			t.Errorf("changes: %+v", changes)
		}
	})
}
