package definition_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/plan"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/research"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/policies"
)

// word is any name of several words that an agent's text marks.
var word = regexp.MustCompile("`([a-z0-9]+(?:-[a-z0-9]+)+)`")

// surfaces are where each category is defined, in the modules' words.
func surfaces() map[string][]string {
	return map[string][]string{
		"critic":       {"critic-error"},
		"critic-style": {"style", "dead-code", "dangling-thread", "todo-marker", "import-hygiene", "comment-hygiene", "lint-violation"},
		"critic-tests": {"missing-test", "edge-case-gap", "weak-assertion", "silenced-failure", "test-naming", "non-deterministic", "verify-mismatch"},
		"critic-acceptance": {
			"unmet-criterion", "scope-creep", "information-missing", "question-to-user", "locked-decision-violation", "infrastructure-mismatch", "stuck-detected",
		},
		"critic-economy": {"over-engineering", "stdlib-reinvention", "native-duplication", "shrinkable"},
	}
}

// hosts are the categories that no module defines: the host's own audits raise them, or it
// tells the critic of them.
func hosts() []string {
	return []string{"rule-9-violation", "skill-bar-unconsulted", finding.CategoryContradiction}
}

// TestAgentsAndPolicyHaveTheSameCategories: a category that the policy does not know
// stops a task, and one that no module defines is never reported.
func TestAgentsAndPolicyHaveTheSameCategories(t *testing.T) {
	versions := policies.Versions()
	policy, err := policies.Load(t.Context(), versions[len(versions)-1])
	if err != nil {
		t.Fatal(err)
	}
	table := policy.RouteTable()
	defined := hosts()
	for _, name := range definition.Names() {
		d := find(t, "", name)
		here := d.Categories()
		if !slices.Equal(here, surfaces()[name]) {
			t.Errorf("%s defines %v, want %v", name, here, surfaces()[name])
		}
		defined = append(defined, here...)
		for _, match := range word.FindAllStringSubmatch(d.Body, -1) {
			if _, known := table[match[1]]; !known {
				t.Errorf("%s speaks of %s, which the policy does not know", name, match[1])
			}
		}
	}
	slices.Sort(defined)
	var known []string
	for category := range table {
		known = append(known, category)
	}
	slices.Sort(known)
	if !slices.Equal(defined, known) {
		t.Errorf("defined are %v\nthe policy has %v", defined, known)
	}
}

// TestCategoriesAreDocumented compares the table of docs/agents.md with the modules.
func TestCategoriesAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, categories := range surfaces() {
		row := regexp.MustCompile("(?m)^\\| `" + name + "\\.md` \\|.*$").FindString(string(page))
		if want := "| `" + strings.Join(categories, "`, `") + "` |"; !strings.HasSuffix(row, want) {
			t.Errorf("%s: the page has %q, want %s", name, row, want)
		}
	}
}

// TestBuiltInDefinitionsAreValid: the agents can be spawned, the modules cannot, and every
// file says what it is for.
func TestBuiltInDefinitionsAreValid(t *testing.T) {
	want := []string{"build-fixer", "critic", "critic-acceptance", "critic-economy", "critic-style", "critic-tests", "executor", "plan-checker", "researcher"}
	if got := definition.Names(); !slices.Equal(got, want) {
		t.Fatalf("built in are %v", got)
	}
	for _, name := range want {
		d := find(t, "", name)
		if d.Module != strings.HasPrefix(name, "critic-") || (d.Spawnable(d.Profile) == nil) == d.Module || d.Description == "" || d.Path != "" {
			t.Errorf("%+v", d)
		}
	}
}

// TestFilesAreTheBuiltInOnes: a project that has them all gets the same agents from
// its own files.
func TestFilesAreTheBuiltInOnes(t *testing.T) {
	files := map[string]string{}
	for path, data := range definition.Files() {
		files[path] = string(data)
	}
	root := project(t, files)
	for _, name := range definition.Names() {
		own, ours := find(t, root, name), find(t, "", name)
		if own.Path == "" || own.Digest != ours.Digest {
			t.Errorf("%s: %+v", name, own)
		}
	}
	if len(files) != len(definition.Names()) {
		t.Errorf("files are %v", files)
	}
}

// TestTheEconomySparesWhatKeepsCodeRight: the module may ask for less code, but never
// for fewer tests or checks.
func TestTheEconomySparesWhatKeepsCodeRight(t *testing.T) {
	_, exempt, found := strings.Cut(find(t, "", "critic-economy").Body, "Never an economy finding")
	for _, what := range []string{"test", "validation", "error handling", "security"} {
		if !found || !strings.Contains(exempt, what) {
			t.Errorf("the module does not spare %s", what)
		}
	}
}

// TestDestinationsAreAgents: the policy's destinations of kind agent can run without a
// definition of the project.
func TestDestinationsAreAgents(t *testing.T) {
	policy, err := policies.Load(t.Context(), policies.Default)
	if err != nil {
		t.Fatal(err)
	}
	agents := 0
	for name, to := range policy.Destinations() {
		if to.Kind != policies.Agent {
			continue
		}
		agents++
		if d, err := (definition.Library{}).Find(name); err != nil || d.Spawnable(d.Profile) != nil {
			t.Errorf("%s: %v, %v", name, err, d.Spawnable(d.Profile))
		}
	}
	if agents == 0 {
		t.Error("the policy has no agents")
	}
}

// TestProfilesOfBuiltInAgents: executors edit, critics report, the others read.
func TestProfilesOfBuiltInAgents(t *testing.T) {
	for name, want := range map[string]profile.Profile{
		"executor": profile.Edit, "np-executor": profile.Edit, "build-fixer": profile.Edit, "critic": profile.Report,
		"plan-checker": profile.Readonly, "np-plan-checker": profile.Readonly, "researcher": profile.Readonly,
	} {
		if d := find(t, "", name); d.Profile != want || d.Spawnable(want) != nil {
			t.Errorf("%s: %s, %v", name, d.Profile, d.Spawnable(want))
		}
	}
}

// TestExamplesCanBeParsed: an agent that does as its definition shows it is
// understood, and the critic's report and envelope agree.
func TestExamplesCanBeParsed(t *testing.T) {
	answer, err := research.Parse(find(t, "", "researcher").Body)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Decisions) != 1 || len(answer.Risks) != 1 || len(answer.Questions) != 1 || len(answer.Sources) != 1 || len(answer.Patterns) != 1 ||
		answer.Decisions[0].Provenance != research.Verified || answer.Patterns[0].Provenance != research.Cited {
		t.Errorf("the researcher's answer reads as %+v", answer)
	}

	revised, asked, _ := strings.Cut(find(t, "", "plan-checker").Body, "Or one question")
	if a, err := plan.Parse(revised); err != nil || a.Plan == "" {
		t.Errorf("the plan reads as %+v, %v", a, err)
	}
	if a, err := plan.Parse(asked); err != nil || a.Question == "" || len(a.Choices) != 2 || a.Default != a.Choices[0] {
		t.Errorf("the question reads as %+v, %v", a, err)
	}

	body := find(t, "", "critic").Body
	_, report, _ := strings.Cut(body, "```json\n")
	report, _, _ = strings.Cut(report, "```")
	now := time.Now()
	state, envelope := outcome.ReadEnvelope(body, outcome.Expect{Task: "…", Round: 1, RunID: "…"})
	if state != outcome.EnvelopeOutside { // All of it is right but the place, which is left open.
		t.Fatalf("the envelope is %v", state)
	}
	file, _ := outcome.CheckReport([]byte(report), now, outcome.Expect{Task: "as the prompt has it", Round: 1, Began: now}, envelope)
	if file != outcome.FileOK {
		t.Errorf("the report is %v", file)
	}
}
