package project_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/project"
)

// holdBudget checks that a valid budget is consistent.
func holdBudget(t *testing.T, b project.Budget) {
	t.Helper()
	for _, a := range []project.Allowance{b.Task, b.Round, b.Spawn} {
		if a.Rounds < 0 || a.Time < 0 || a.Tokens < 0 || a.MicroDollars < 0 || a.Tokens > 1e9 || a.MicroDollars > 1e12 {
			t.Errorf("got %+v", a)
		}
	}
	for _, whole := range []project.Allowance{b.Task, b.Round} {
		if whole.Tokens > 0 && (b.Spawn.Tokens == 0 || b.Spawn.Tokens > whole.Tokens) ||
			whole.MicroDollars > 0 && (b.Spawn.MicroDollars == 0 || b.Spawn.MicroDollars > whole.MicroDollars) {
			t.Errorf("a spawn of %+v in %+v", b.Spawn, whole)
		}
	}
}

func TestConfigOfTheBudget(t *testing.T) {
	for text, want := range map[string]project.Budget{
		"{task: {rounds: 6, time: 2h}}":                          {Task: project.Allowance{Rounds: 6, Time: 2 * time.Hour}},
		"{task: {rounds: 0, time: 0, tokens: 0, dollars: 0}}":    {},
		"{round: {tokens: 600000}, spawn: {tokens: 600000}}":     {Round: project.Allowance{Tokens: 600_000}, Spawn: project.Allowance{Tokens: 600_000}},
		"{task: {dollars: 20}, spawn: {dollars: 2.5}}":           {Task: project.Allowance{MicroDollars: 20_000_000}, Spawn: project.Allowance{MicroDollars: 2_500_000}},
		"{spawn: {dollars: 0.000001}}":                           {Spawn: project.Allowance{MicroDollars: 1}},
		"{spawn: {dollars: 0.1}}":                                {Spawn: project.Allowance{MicroDollars: 100_000}},
		"{spawn: {dollars: 1000000.000000, tokens: 1000000000}}": {Spawn: project.Allowance{MicroDollars: 1_000_000_000_000, Tokens: 1_000_000_000}},
	} {
		c, err := configured(t, "budget: "+text+"\n")
		if err != nil || c.Budget != want {
			t.Errorf("%s: %+v, %v, want %+v", text, c.Budget, err, want)
		}
	}
}

func TestConfigSaysWhatIsWrongWithTheBudget(t *testing.T) {
	for text, says := range map[string]string{
		"5":                                                "budget is 5; it must be a mapping of keys",
		"{task: 5}":                                        "budget.task is 5; it must be a mapping of keys",
		"{task: {rounds: -1}}":                             "budget.task.rounds is -1; it must be a whole number from 0 to 1000",
		"{task: {time: 500ms}}":                            `budget.task.time is "500ms"; it must be 0, or from 1s to 1000h, such as 2h`,
		"{task: {time: 60}}":                               "budget.task.time is 60;",
		"{task: {time: 1001h}}":                            "from 1s to 1000h",
		"{task: {tokens: 1000000001}}":                     "from 0 to 1000000000",
		"{task: {tokens: 1.5}}":                            "budget.task.tokens is 1.5;",
		"{round: {rounds: 1}}":                             "unknown key budget.round.rounds",
		"{spawn: {time: 1m}}":                              "unknown key budget.spawn.time",
		"{round: {tokens: 1}}":                             "line 1: budget.spawn.tokens is missing, which budget.round.tokens needs",
		"{task: {tokens: 1}, spawn: {dollars: 1}}":         "budget.spawn.tokens is missing, which budget.task.tokens needs",
		"{task: {dollars: 1}, spawn: {dollars: 0}}":        "budget.spawn.dollars is missing, which budget.task.dollars needs",
		"{task: {dollars: 1}, spawn: {dollars: 1.000001}}": "budget.spawn.dollars is more than budget.task.dollars, so that no spawn could begin",
		"{round: {tokens: 9}, spawn: {tokens: 10}}":        "budget.spawn.tokens is more than budget.round.tokens",
	} {
		wantInvalid(t, "budget: "+text+"\n", says)
	}
	for _, wrong := range []string{"-1", "+1", "1e3", "0x10", "010", "00.5", ".5", "1.", "1.0000001", "1_000", "1,5", "'5'", "$5", ".inf", ".nan", "1000000.000001", "10000000", "[1]", "", "true"} {
		wantInvalid(t, "budget:\n  spawn:\n    dollars: "+wrong+"\n", "line 3: budget.spawn.dollars is ")
	}
}

// TestDollarsAreExact checks that an amount keeps its exact digits.
func TestDollarsAreExact(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, project.ConfigFile)
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(0, 1_000_000_000_000).Draw(t, "micros")
		text := fmt.Sprintf("%d.%06d", micros/1_000_000, micros%1_000_000)
		if rapid.Bool().Draw(t, "short") {
			text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		}
		if err := os.WriteFile(path, []byte("budget: {spawn: {dollars: "+text+"}}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := project.Project{Root: dir}.Config(t.Context(), 100)
		if err != nil || c.Budget.Spawn.MicroDollars != micros {
			t.Fatalf("%s: %d, %v", text, c.Budget.Spawn.MicroDollars, err)
		}
	})
}
