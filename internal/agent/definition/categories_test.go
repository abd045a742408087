package definition_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/policies"
)

func TestCategories(t *testing.T) {
	body := strings.Join([]string{
		"Each finding has one category:",
		"",
		"- `todo-marker`: a note that something is still to be done",
		"- `style`: the rest",
		"  - `within-another`: counts too",
		"- `todo-marker`: again",
		"- `Satisfied`: no category, but a verdict",
		"- `two words`: none",
		"- `no-colon` is none",
		"- the word `in-between`: none",
		"* `another-mark`: none",
		"```",
		"- `example`: none",
		"~~~",
		"- `still-an-example`: none",
		"````",
		"- `after`: the fence was closed",
		"~~~ markdown",
		"- `another-example`: none",
		"```",
		"- `not-closed-by-other-marks`: none",
		"~~~",
		"- `last`: one",
		"```json",
		"- `open-to-the-end`: none",
	}, "\n")
	want := []string{"todo-marker", "style", "within-another", "after", "last"}
	if got := (definition.Definition{Body: body}).Categories(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (definition.Definition{Body: "Text."}).Categories(); got == nil || len(got) != 0 {
		t.Errorf("of none: %#v", got)
	}
}

// TestCategoriesAreThoseThatAreListed: each of any names, in their order.
func TestCategoriesAreThoseThatAreListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.StringMatching(`[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}`), rapid.ID).Draw(t, "names")
		var body strings.Builder
		for _, name := range names {
			body.WriteString(rapid.SampledFrom([]string{"", "Text.\n", "# Head\n", "```\n- `x`: y\n```\n", "- item\n"}).Draw(t, "between"))
			body.WriteString("- `" + name + "`: why\n")
		}
		if got := (definition.Definition{Body: body.String()}).Categories(); !slices.Equal(got, names) {
			t.Errorf("got %v, want %v", got, names)
		}
	})
}

// TestRaised: what our definitions raise is what the newest policy knows, but for
// what the host raises itself.
func TestRaised(t *testing.T) {
	raised, err := definition.Library{}.Raised()
	if err != nil {
		t.Fatal(err)
	}
	policy, err := policies.Load(t.Context(), policies.Default)
	if err != nil {
		t.Fatal(err)
	}
	want := policy.RouteTable()
	for _, category := range hosts() {
		delete(want, category)
	}
	if got := slices.Sorted(maps.Keys(raised)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("raised are %v", got)
	}
	if got := raised["critic-error"]; !slices.Equal(got, []string{"critic"}) {
		t.Errorf("critic-error is raised by %v", got)
	}
	if got := raised["shrinkable"]; !slices.Equal(got, []string{"critic-economy"}) {
		t.Errorf("shrinkable is raised by %v", got)
	}
}

// TestRaisedInAProject: its own modules count, and its own agents do not.
func TestRaisedInAProject(t *testing.T) {
	root := project(t, map[string]string{
		definition.Folder + "/critic-style.md":    "---\nmodule: true\n---\n- `style`: all of it\n- `team-rule`: ours",
		definition.Folder + "/critic-security.md": "---\nmodule: true\n---\n- `secret-in-code`: a key\n- `team-rule`: ours",
		definition.Folder + "/writer.md":          "- `chapter`: a part of the text",
		".claude/agents/broken.md":                "---\nmodule: [\n---\n- `broken`: who knows",
		".claude/agents/critic-style.md":          "- `never-read`: the first file decides",
		".nubos-pilot/agents/critic-tests.md":     "---\nmodule: true\n---\nNo categories.",
	})
	raised, err := definition.Library{Root: root}.Raised()
	if err != nil {
		t.Fatal(err)
	}
	for category, want := range map[string][]string{
		"style": {"critic-style"}, "team-rule": {"critic-security", "critic-style"}, "secret-in-code": {"critic-security"}, "shrinkable": {"critic-economy"},
		"todo-marker": nil, "missing-test": nil, "chapter": nil, "broken": nil, "never-read": nil,
	} {
		if got := raised[category]; !slices.Equal(got, want) {
			t.Errorf("%s is raised by %v, want %v", category, got, want)
		}
	}
	broken := project(t, map[string]string{definition.Folder + "/critic.md": "---\n"})
	if raised, err := (definition.Library{Root: broken}).Raised(); errs.CodeOf(err) != errs.AgentInvalidDefinition || raised != nil {
		t.Errorf("a broken critic: %v, %v", raised, err)
	}
}

// TestAdded: a project's own modules are those that are named so and say so; one
// that is broken is no reason to go without it.
func TestAdded(t *testing.T) {
	root := project(t, map[string]string{
		definition.Folder + "/critic-style.md":    "---\nmodule: true\n---\nIn place of ours.",
		definition.Folder + "/critic-security.md": "---\nmodule: true\n---\n- `secret-in-code`: a key",
		".claude/agents/critic-access.md":         "---\nmodule: true\n---\n- `accessibility`: a label",
		definition.Folder + "/critic-of-films.md": "An agent of its own.",
		definition.Folder + "/security.md":        "---\nmodule: true\n---\nPart of somebody else.",
	})
	added, err := definition.Library{Root: root}.Added()
	if err != nil || len(added) != 2 || added[0].Name != "critic-access" || added[1].Name != "critic-security" {
		t.Errorf("added are %+v, %v", added, err)
	}
	broken := project(t, map[string]string{definition.Folder + "/critic-security.md": "---\nmodule: [\n---\nText."})
	if added, err := (definition.Library{Root: broken}).Added(); errs.CodeOf(err) != errs.AgentInvalidDefinition || added != nil {
		t.Errorf("a broken one gives %+v, %v", added, err)
	}
	if added, err := (definition.Library{}).Added(); err != nil || len(added) != 0 {
		t.Errorf("without a project %+v, %v", added, err)
	}
}
