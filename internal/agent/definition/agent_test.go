package definition_test

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func TestParse(t *testing.T) {
	const front = "name: x\ndescription: what it does\ntier: strong\ntools: [Read, Grep]\nmodel: any\n"
	whole := definition.Definition{Name: "x", Description: "what it does", Tools: []string{"Read", "Grep"}, Body: "# Role\n\nText."}
	for name, c := range map[string]struct {
		data string
		want definition.Definition
	}{
		"whole":             {"---\n" + front + "---\n# Role\n\nText.\n", whole},
		"carriage returns":  {strings.ReplaceAll("---\n"+front+"---\n\n# Role\n\nText.\n\n", "\n", "\r\n"), whole},
		"byte order mark":   {"\uFEFF---\n" + front + "---\n# Role\n\nText.", whole},
		"blanks at fences":  {"--- \t\n" + front + "---  \n# Role\n\nText.", whole},
		"tools as text":     {"---\n" + strings.Replace(front, "[Read, Grep]", " Read , ,Grep ", 1) + "---\n# Role\n\nText.", whole},
		"no front matter":   {"Text.\n\n---\n\nMore.\n", definition.Definition{Name: "x", Body: "Text.\n\n---\n\nMore."}},
		"an empty one":      {"---\n---\nText.", definition.Definition{Name: "x", Body: "Text."}},
		"a comment alone":   {"---\n# nothing\n---\nText.", definition.Definition{Name: "x", Body: "Text."}},
		"a line in the end": {"---\nname: x\n---\nText.\n---\n", definition.Definition{Name: "x", Body: "Text.\n---"}},
		"a module":          {"---\nmodule: true\n---\nText.", definition.Definition{Name: "x", Module: true, Body: "Text."}},
		"arguments":         {"---\ntools: Bash(a, b), Read\n---\nText.", definition.Definition{Name: "x", Tools: []string{"Bash(a, b)", "Read"}, Body: "Text."}},
		"a profile":         {"---\nprofile: edit\n---\nText.", definition.Definition{Name: "x", Profile: profile.Edit, Body: "Text."}},
		"no profile":        {"---\nprofile:\n---\nText.", definition.Definition{Name: "x", Body: "Text."}},
		"no tools":          {"---\ntools:\n---\nText.", definition.Definition{Name: "x", Body: "Text."}},
	} {
		d, err := definition.Parse("x", []byte(c.data))
		c.want.Profile = cmp.Or(c.want.Profile, profile.Readonly)
		c.want.Digest = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(c.data)))
		if err != nil || fmt.Sprintf("%#v", d) != fmt.Sprintf("%#v", c.want) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// TestDefaultProfiles: without the key, the profile is that of the name.
func TestDefaultProfiles(t *testing.T) {
	for name, want := range map[string]profile.Profile{
		"executor": profile.Edit, "np-executor": profile.Edit, "build-fixer": profile.Edit, "NP-Build-Fixer": profile.Edit,
		"critic": profile.Report, "np-critic": profile.Report, "critics": profile.Readonly, "plan-checker": profile.Readonly, "security": profile.Readonly,
	} {
		if d, err := definition.Parse(name, []byte("Text.")); err != nil || d.Profile != want {
			t.Errorf("%s: %q, %v", name, d.Profile, err)
		}
		if d, err := definition.Parse(name, []byte("---\nprofile: report\n---\nText.")); err != nil || d.Profile != profile.Report {
			t.Errorf("%s with another: %q, %v", name, d.Profile, err)
		}
	}
}

// TestAnAgentEditsByItsProfileAlone: neither a name nor a tool lets it.
func TestAnAgentEditsByItsProfileAlone(t *testing.T) {
	for _, d := range []definition.Definition{
		{Name: "security", Profile: profile.Edit}, {Name: "executor", Profile: profile.Edit}, {Name: "x", Profile: profile.Edit, Tools: []string{"Edit"}},
	} {
		if err := d.Spawnable(profile.Edit); err != nil {
			t.Errorf("%+v: %v", d, err)
		}
		for _, p := range []profile.Profile{profile.Readonly, profile.Report, ""} {
			if err := d.Spawnable(p); errs.CodeOf(err) != errs.AgentEdits {
				t.Errorf("%+v as %q: %v", d, p, err)
			}
		}
		d.Profile = profile.Report
		if err := d.Spawnable(profile.Edit); errs.CodeOf(err) != errs.AgentMayNotEdit {
			t.Errorf("%+v: %v", d, err)
		}
	}
	if err := (definition.Definition{Name: "x", Module: true, Profile: profile.Edit}).Spawnable(profile.Edit); errs.CodeOf(err) != errs.AgentIsModule {
		t.Errorf("a module: %v", err)
	}
}

// TestAnAgentThatEditsIsRefused: by its name whatever it lists, or by any tool.
func TestAnAgentThatEditsIsRefused(t *testing.T) {
	for _, tool := range []string{
		"Edit", "edit", "EDIT", "Edit(*)", "Edit(src/**, !x)", "MultiEdit", "NotebookEdit", "apply_patch", "replace", "patch", "str_replace", "str_replace_editor",
		"str_replace_based_edit_tool", "edit_file", "mcp__files__edit_file", "files/edit", "functions.apply_patch", " Edit ", "*", "all", "mcp__files__*", "search-replace",
	} {
		d := definition.Definition{Name: "reviewer", Tools: []string{"Read", tool}}
		if err := d.Spawnable(profile.Readonly); errs.CodeOf(err) != errs.AgentEdits {
			t.Errorf("%q: %v", tool, err)
		}
	}
	for _, tool := range []string{"Read", "Write", "Write(report.json)", "write_file", "Grep", "Bash(git log:*)", "credit", "Editor-of-chief", "knowledge-search", ""} {
		if err := (definition.Definition{Name: "reviewer", Tools: []string{tool}}).Spawnable(profile.Readonly); err != nil {
			t.Errorf("%q: %v", tool, err)
		}
	}
	for _, name := range []string{"np-executor", "np-build-fixer", "executor", "build-fixer", "NP-Executor"} {
		if err := (definition.Definition{Name: name}).Spawnable(profile.Readonly); errs.CodeOf(err) != errs.AgentEdits {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (definition.Definition{Name: "executors"}).Spawnable(profile.Readonly); err != nil {
		t.Errorf("a name that only begins so: %v", err)
	}
	if err := (definition.Definition{Name: "x", Module: true}).Spawnable(profile.Readonly); errs.CodeOf(err) != errs.AgentIsModule {
		t.Errorf("a module: %v", err)
	}
}

func TestCompose(t *testing.T) {
	if got := definition.Compose(definition.Definition{Body: "Role."}, "\nprompt\n\n"); got != "Role.\n\n---\n\nprompt\n" {
		t.Errorf("got %q", got)
	}
}

// TestToolsReadTheSameInBothForms: a list and the same names with commas between
// them.
func TestToolsReadTheSameInBothForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[A-Z][a-z]{0,8}(\([a-z, *]{0,8}\))?`), 1, 6).Draw(t, "tools")
		var quoted []string
		for _, name := range names {
			quoted = append(quoted, fmt.Sprintf("%q", name))
		}
		list, err := definition.Parse("x", []byte("---\ntools: ["+strings.Join(quoted, ", ")+"]\n---\nx"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := definition.Parse("x", []byte(fmt.Sprintf("---\ntools: %q\n---\nx", strings.Join(names, ","))))
		if err != nil || !slices.Equal(list.Tools, names) || !slices.Equal(text.Tools, names) {
			t.Fatalf("%v and %v, want %v (%v)", list.Tools, text.Tools, names, err)
		}
	})
}

// A percent sign in a name is text.
func TestParseNamesTheDefinition(t *testing.T) {
	_, err := definition.Parse("100%d", []byte("---\nname: [\n---\nx"))
	if err == nil || !strings.HasPrefix(err.Error(), "the definition of 100%d: ") {
		t.Errorf("got %v", err)
	}
}

// FuzzParse: whatever a file holds, it is a definition that keeps its promises, or a
// typed error.
func FuzzParse(f *testing.F) {
	for _, name := range definition.Names() {
		f.Add(definition.Files()[definition.Folder+"/"+name+".md"])
	}
	f.Add([]byte("---\ntools: &a [*a]\n---\nx"))
	f.Add([]byte("---\r\nname: x\r\n---\r\n\r\nbody"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := definition.Parse("x", data)
		if err != nil {
			if code := errs.CodeOf(err); code != errs.AgentInvalidDefinition && code != errs.AgentEmpty || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		if d.Name != "x" || d.Body == "" || d.Body != strings.TrimSpace(d.Body) || strings.Contains(d.Body, "\r\n") {
			t.Fatalf("%+v", d)
		}
		// The body of a body without a front matter is itself.
		if again, err := definition.Parse("x", []byte(d.Body)); !strings.HasPrefix(d.Body, "---") && !strings.HasPrefix(d.Body, "\uFEFF") && (err != nil || again.Body != d.Body) {
			t.Fatalf("%+v, %v", again, err)
		}
	})
}
