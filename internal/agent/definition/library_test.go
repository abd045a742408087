package definition_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// project makes a project's root with files, by their paths.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func find(t *testing.T, root, name string) definition.Definition {
	t.Helper()
	d, err := definition.Library{Root: root}.Find(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// TestFindLooksInOrder takes away the directories from the first on, until ours is left.
func TestFindLooksInOrder(t *testing.T) {
	folders := []string{".switchyard/agents", ".nubos-pilot/agents", ".claude/agents"}
	files := map[string]string{}
	for _, folder := range folders {
		files[folder+"/critic.md"] = "---\nname: critic\n---\n" + folder
	}
	root := project(t, files)
	for _, folder := range folders {
		if d := find(t, root, "critic"); d.Body != folder || d.Path != folder+"/critic.md" {
			t.Errorf("instead of that of %s: %+v", folder, d)
		}
		if err := os.Remove(filepath.Join(root, folder, "critic.md")); err != nil {
			t.Fatal(err)
		}
	}
	ours := find(t, "", "critic")
	if d := find(t, root, "critic"); d.Path != "" || d.Digest != ours.Digest {
		t.Errorf("in the end: %+v", d)
	}
}

// TestOursAnswerToTheOldNames: np-critic is critic, wherever critic is from, and a
// file of that name comes first.
func TestOursAnswerToTheOldNames(t *testing.T) {
	root := project(t, nil)
	if d := find(t, root, "np-critic"); d.Name != "critic" || d.Path != "" {
		t.Errorf("built in: %+v", d)
	}
	if d := find(t, root, "np-researcher"); d.Name != "researcher" || d.Spawnable(profile.Readonly) != nil {
		t.Errorf("built in: %+v", d)
	}
	if err := find(t, root, "np-critic-style").Spawnable(profile.Readonly); errs.CodeOf(err) != errs.AgentIsModule {
		t.Errorf("the module: %v", err)
	}
	root = project(t, map[string]string{".switchyard/agents/critic.md": "mine"})
	if d := find(t, root, "np-critic"); d.Body != "mine" {
		t.Errorf("the project's own: %+v", d)
	}
	root = project(t, map[string]string{".switchyard/agents/critic.md": "mine", ".claude/agents/np-critic.md": "older"})
	if d := find(t, root, "np-critic"); d.Body != "older" || d.Name != "np-critic" {
		t.Errorf("the file of the name: %+v", d)
	}
	if _, err := (definition.Library{Root: root}).Find("np-linter"); errs.CodeOf(err) != errs.AgentNotFound {
		t.Errorf("not ours: %v", err)
	}
}

func TestFindRefuses(t *testing.T) {
	const at = ".switchyard/agents/"
	root := project(t, map[string]string{
		at + "empty.md": "---\nname: empty\n---\n \n\t\n", at + "nothing.md": "", at + "other.md": "---\nname: another\n---\nx",
		at + "endless.md": "---\nname: endless\nx", at + "notyaml.md": "---\nprofile: edit\nname: 'it's'\ntools: []\n---\nx", at + "twice.md": "---\nname: twice\nname: twice\n---\nx",
		at + "list.md": "---\n- a\n---\nx", at + "word.md": "---\nmodule: perhaps\n---\nx", at + "two.md": "---\nname: two\n...\nname: two\n---\nx",
		at + "profile.md": "---\nprofile: write\n---\nx", at + "list-profile.md": "---\nprofile: [edit]\n---\nx",
		at + "map.md": "---\ntools: {edit: false}\n---\nx", at + "bytes.md": "a\xffb", at + "huge.md": strings.Repeat("x", 1<<20+1),
		at + "folder.md/x": "", at + "largest.md": strings.Repeat("x", 1<<20),
		// A broken file of an earlier directory hides a good one of a later.
		at + "hidden.md": "", ".claude/agents/hidden.md": "x",
	})
	for name, want := range map[string]struct {
		code errs.Code
		says string
	}{
		"empty": {errs.AgentEmpty, "no text"}, "nothing": {errs.AgentEmpty, "no text"}, "hidden": {errs.AgentEmpty, ""},
		"other": {errs.AgentInvalidDefinition, `"another"`}, "endless": {errs.AgentInvalidDefinition, "no end"}, "notyaml": {errs.AgentInvalidDefinition, "line 3: did not find expected key"},
		"twice": {errs.AgentInvalidDefinition, "line 3"}, "list": {errs.AgentInvalidDefinition, "a mapping"}, "word": {errs.AgentInvalidDefinition, "true or false"},
		"two": {errs.AgentInvalidDefinition, "more than one document"}, "map": {errs.AgentInvalidDefinition, "tools must be"}, "bytes": {errs.AgentInvalidDefinition, "UTF-8"},
		"profile": {errs.AgentInvalidDefinition, "\"write\" is not readonly"}, "list-profile": {errs.AgentInvalidDefinition, "must be text"},
		"huge": {errs.AgentInvalidDefinition, "larger than"}, "folder": {errs.AgentInvalidDefinition, "not a regular file"}, "absent": {errs.AgentNotFound, "absent"},
	} {
		d, err := definition.Library{Root: root}.Find(name)
		if errs.CodeOf(err) != want.code || !strings.Contains(err.Error(), want.says) || d.Body != "" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		if f, ok := errors.AsType[*errs.Error](err); ok && want.code != errs.AgentNotFound &&
			(f.Details["path"] != at+name+".md" || d.Path != at+name+".md" || !strings.Contains(f.Message, d.Path)) {
			t.Errorf("%s: %q, details %v, path %s", name, f.Message, f.Details, d.Path)
		}
		if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "agent.") || strings.Contains(err.Error(), root) {
			t.Errorf("%s: %q", name, err)
		}
	}
	_, err := definition.Library{Root: root}.Find("absent")
	if f, ok := errors.AsType[*errs.Error](err); !ok || !strings.Contains(f.Hint, ".switchyard/agents/absent.md") {
		t.Errorf("the hint of %v does not name the file to write", err)
	}
	if d := find(t, root, "largest"); len(d.Body) != 1<<20 {
		t.Errorf("the largest has %d bytes", len(d.Body))
	}
	if _, err := (definition.Library{Root: filepath.Join(root, "none")}).Find("critic"); errs.CodeOf(err) != errs.AgentNotFound {
		t.Errorf("no root: %v", err)
	}
}

// TestNamesArePlain: nothing but a plain name is ever joined to a path.
func TestNamesArePlain(t *testing.T) {
	root := project(t, map[string]string{".switchyard/x.md": "x", "x.md": "x"})
	for _, name := range []string{
		"", ".", "..", "../x", "a/b", `a\b`, "/x", "x.md", "x\x00", "x\n", " x", "ä", "C:x", "-x/", "np-critic ", strings.Repeat("x", 129), "x:y", "\xff",
	} {
		_, err := definition.Library{Root: root}.Find(name)
		if errs.CodeOf(err) != errs.AgentNameInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"-", "_", "A-z_9", strings.Repeat("x", 128)} {
		if _, err := (definition.Library{Root: root}).Find(name); errs.CodeOf(err) != errs.AgentNotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestFindFollowsNoLinkOut(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := func(root, target, name string) {
		t.Helper()
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, full); err != nil {
			t.Skipf("this system makes no symbolic links: %v", err)
		}
	}
	root := project(t, map[string]string{"shared/inside.md": "x"})
	link(root, outside, ".switchyard/agents/absolute.md")
	link(root, "../../../"+filepath.Base(filepath.Dir(outside))+"/secret.md", ".switchyard/agents/relative.md")
	link(root, "nowhere.md", ".switchyard/agents/dangling.md")
	link(root, "loop.md", ".switchyard/agents/loop.md")
	link(root, "../../shared/inside.md", ".switchyard/agents/inside.md")
	for _, name := range []string{"absolute", "relative", "dangling", "loop"} {
		d, err := definition.Library{Root: root}.Find(name)
		if errs.CodeOf(err) != errs.AgentInvalidDefinition || strings.Contains(d.Body, "secret") {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	if d := find(t, root, "inside"); d.Body != "x" {
		t.Errorf("inside: %+v", d)
	}
	// A directory that is a link out is refused for every name in it.
	root = project(t, nil)
	link(root, filepath.Dir(outside), ".claude/agents")
	if d, err := (definition.Library{Root: root}).Find("secret"); errs.CodeOf(err) != errs.AgentInvalidDefinition || d.Body != "" {
		t.Errorf("by its directory: %+v, %v", d, err)
	}
}

func TestListAgreesWithFind(t *testing.T) {
	root := project(t, map[string]string{
		".switchyard/agents/critic.md": "mine", ".claude/agents/critic.md": "other", ".claude/agents/broken.md": "", ".claude/agents/notes.txt": "x",
		".claude/agents/a b.md": "x", ".claude/agents/folder.md/x": "x", ".nubos-pilot/agents/zeta.md": "x",
	})
	want := slices.Concat(definition.Names(), []string{"broken", "zeta"})
	slices.Sort(want)
	var names []string
	for _, l := range (definition.Library{Root: root}).List() {
		names = append(names, l.Name)
		d, err := definition.Library{Root: root}.Find(l.Name)
		if d.Digest != l.Definition.Digest || d.Path != l.Definition.Path || errs.CodeOf(err) != errs.CodeOf(l.Err) {
			t.Errorf("%s: listed %+v", l.Name, l)
		}
		if l.Name == "broken" && errs.CodeOf(l.Err) != errs.AgentEmpty || l.Name == "critic" && l.Definition.Body != "mine" {
			t.Errorf("%s: %+v", l.Name, l)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("listed %v", names)
	}
	if all := (definition.Library{}).List(); len(all) != len(definition.Names()) {
		t.Errorf("of no project: %v", all)
	}
}
