package definition_test

import (
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
	whole := definition.Definition{Name: "x", Description: "what it does", Tier: "strong", Tools: []string{"Read", "Grep"}, Body: "# Role\n\nText."}
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
		"no tools":          {"---\ntools:\n---\nText.", definition.Definition{Name: "x", Body: "Text."}},
	} {
		d, err := definition.Parse("x", []byte(c.data))
		c.want.Digest = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(c.data)))
		if err != nil || fmt.Sprintf("%#v", d) != fmt.Sprintf("%#v", c.want) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// TestAnAgentThatEditsIsRefused: by its name whatever it lists, or by any tool.
func TestAnAgentThatEditsIsRefused(t *testing.T) {
	for _, tool := range []string{
		"Edit", "edit", "EDIT", "Edit(*)", "Edit(src/**, !x)", "MultiEdit", "NotebookEdit", "apply_patch", "replace", "patch", "str_replace", "str_replace_editor",
		"str_replace_based_edit_tool", "edit_file", "mcp__files__edit_file", "files/edit", "functions.apply_patch", " Edit ", "*", "all", "mcp__files__*", "search-replace",
	} {
		d := definition.Definition{Name: "reviewer", Tools: []string{"Read", tool}}
		if err := d.Spawnable(profile.Report); errs.CodeOf(err) != errs.AgentEdits {
			t.Errorf("%q: %v", tool, err)
		}
	}
	for _, tool := range []string{"Read", "Write", "Write(report.json)", "write_file", "Grep", "Bash(git log:*)", "credit", "Editor-of-chief", "knowledge-search", ""} {
		if err := (definition.Definition{Name: "reviewer", Tools: []string{tool}}).Spawnable(profile.Report); err != nil {
			t.Errorf("%q: %v", tool, err)
		}
	}
	for _, name := range []string{"np-executor", "np-build-fixer", "executor", "build-fixer", "NP-Executor"} {
		if err := (definition.Definition{Name: name}).Spawnable(profile.Report); errs.CodeOf(err) != errs.AgentEdits {
			t.Errorf("%s: %v", name, err)
		}
		if err := (definition.Definition{Name: name, Tools: []string{"Edit"}}).Spawnable(profile.Edit); err != nil {
			t.Errorf("%s as an agent that may edit: %v", name, err)
		}
	}
	if err := (definition.Definition{Name: "x", Profile: profile.Edit}).Spawnable(profile.Readonly); errs.CodeOf(err) != errs.AgentEdits {
		t.Errorf("by its profile: %v", err)
	}
	if err := (definition.Definition{Name: "executors"}).Spawnable(profile.Report); err != nil {
		t.Errorf("a name that only begins so: %v", err)
	}
	if err := (definition.Definition{Name: "x", Module: true}).Spawnable(profile.Edit); errs.CodeOf(err) != errs.AgentIsModule {
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
