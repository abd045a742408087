package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
)

// TestEdits tests that the profile edit lets the real CLIs edit and create files of a git
// worktree and run commands there, and that their own tools write neither outside of it
// nor its .git. Nothing that the repository brings is run (see project).
func TestEdits(t *testing.T) {
	r := newRig(t)
	for name, lax := range laxities() {
		t.Run(name, func(t *testing.T) {
			r.needs(t, name)
			tree, foreign := filepath.Join(t.TempDir(), "tree of T-1, ä"), t.TempDir()
			draft, link := filepath.Join(tree, "a.go"), filepath.Join(tree, ".git")
			port := r.model.server.URL[strings.LastIndex(r.model.server.URL, ":")+1:]
			steps := []func(request) reply{
				func(q request) reply { return reads(q, draft) },
				func(q request) reply { return replaces(q, draft, "package a", "package b") },
				func(q request) reply { return writes(q, filepath.Join(tree, "new.go"), "package b\n") },
				func(q request) reply { return commands(q, "cat a.go new.go 2>/dev/null > both.txt") },
				func(q request) reply { return writes(q, filepath.Join(foreign, "new.go"), "package b\n") },
				func(q request) reply { return writes(q, filepath.Join(tree, "aside", "linked.go"), "package b\n") },
				func(q request) reply { return reads(q, link) },
				func(q request) reply { return replaces(q, link, "gitdir", "nowhere") },
				func(q request) reply {
					return commands(q, ": < /dev/tcp/127.0.0.1/"+port+" && touch online.txt")
				},
				func(q request) reply { return commands(q, "cat a.go > '"+filepath.Join(foreign, "copy.go")+"'") },
			}
			p := r.newProject(t, r.model.url("edit-"+name, func(q request) reply {
				if n := len(q.Results); n < len(steps) && !aside(q) {
					return steps[n](q)
				}
				return reply{text: "Rename the package"}
			}), config(name))
			p.git(t, "worktree", "add", "-q", "-b", "switchyard/T-1", tree)
			linked := read(t, link)
			if err := os.Symlink(foreign, filepath.Join(tree, "aside")); err != nil {
				t.Fatal(err)
			}
			o := p.call(t, name, adapter.Values{Model: models[name], WorkDir: tree, Profile: profile.Edit})

			if !o.Valid || !o.Done || o.Failure != nil || o.Text != "Rename the package" {
				t.Errorf("valid %v, done %v, failure %+v, text %q", o.Valid, o.Done, o.Failure, o.Text)
			}
			if err := os.Remove(filepath.Join(tree, "online.txt")); err == nil && lax.offline {
				t.Error("its commands may connect")
			}
			if status := p.git(t, "-C", tree, "status", "--porcelain"); status != " M a.go\n?? aside\n?? both.txt\n?? new.go\n" {
				t.Errorf("the worktree has\n%s", status)
			}
			if both := read(t, filepath.Join(tree, "both.txt")); strings.Join(strings.Fields(both), " ") != "package b package b" {
				t.Errorf("the files are %q", both)
			}
			if got := read(t, link); got != linked {
				t.Errorf(".git is %q", got)
			}
			for file, want := range map[string]bool{"new.go": false, "linked.go": lax.followsLinks, "copy.go": lax.commandsEscape} {
				if _, err := os.Stat(filepath.Join(foreign, file)); (err == nil) != want {
					t.Errorf("it may write %s outside: %v", file, err == nil)
				}
			}
			if (len(o.Denials) > 0) == lax.hidesDenials {
				t.Errorf("denials %q", o.Denials)
			}
		})
	}
}

// read returns a file's content.
func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}
