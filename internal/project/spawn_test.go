package project_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

// holdSpawn checks that the spawns of a valid configuration are within their limits.
func holdSpawn(t *testing.T, s project.Spawn) {
	t.Helper()
	for name, a := range s.Agents {
		if !reflect.DeepEqual(s.For(name), a) {
			t.Errorf("%s: %+v, want %+v", name, s.For(name), a)
		}
	}
	for _, a := range append(slices.Collect(maps.Values(s.Agents)), s.SpawnAgent) {
		if a.Adapter == "" || slices.Contains(a.Fallback, a.Adapter) || len(a.Fallback) > 0 && !a.ManualFallback || strings.HasPrefix(a.Model, "-") ||
			min(a.Timeout, a.Idle) < time.Second || max(a.Timeout, a.Idle) > 24*time.Hour || a.Retries < 0 || a.Retries > 5 {
			t.Errorf("got %+v", a)
		}
		if exec := a.Adapter == project.AdapterExec || slices.Contains(a.Fallback, project.AdapterExec); exec && len(s.Command) == 0 {
			t.Errorf("no command for %+v", a)
		}
	}
	if s.Concurrency < 0 || s.Limit(1) < 1 || s.Limit(1) > 64 || s.Plan != "" && !filepath.IsLocal(s.PlanOf("T-1")) {
		t.Errorf("got %+v", s)
	}
}

func TestConfigOfSpawns(t *testing.T) {
	me := max(os.Geteuid(), 0)
	for text, change := range map[string]func(*project.Spawn){
		"{adapter: codex, model: gpt-5.1/high}": func(s *project.Spawn) { s.Adapter, s.Named, s.Model = "codex", true, "gpt-5.1/high" },
		"{timeout: 1s, idle_timeout: 24h}":      func(s *project.Spawn) { s.Timeout, s.Idle = time.Second, 24*time.Hour },
		"{retries: 0, concurrency: 64}":         func(s *project.Spawn) { s.Retries, s.Concurrency = 0, 64 },
		"{fallback_on_error: []}":               func(s *project.Spawn) { s.Fallback, s.ManualFallback = []string{}, true },
		"{fallback_on_error: [codex, gemini]}":  func(s *project.Spawn) { s.Fallback, s.ManualFallback = []string{"codex", "gemini"}, true },
		"{env: [GOPRIVATE, _x1]}":               func(s *project.Spawn) { s.Env, s.Owner = []string{"GOPRIVATE", "_x1"}, me },
		"{command: [./x, '', a b], adapter: exec}": func(s *project.Spawn) {
			s.Adapter, s.Named, s.Command, s.Owner = "exec", true, []string{"./x", "", "a b"}, me
		},
		"{adapters: [./a/../b.json]}": func(s *project.Spawn) { s.Adapters, s.Owner = []string{"b.json"}, me },
		"{plan: plans/{task}.md}":     nil, // In a flow mapping, braces are YAML syntax.
		"{plan: 'p/{task}/{task}.md'}": func(s *project.Spawn) {
			s.Plan = "p/{task}/{task}.md"
		},
		"{confine: off}": func(s *project.Spawn) {
			s.Owner, s.Confine.Want, s.ConfineGiven = me, confinement.Want{Level: confinement.None}, true
		},
		"{confine: best}": func(s *project.Spawn) { s.ConfineGiven = true },
		"{confine: required files+ports}": func(s *project.Spawn) {
			s.Owner, s.Confine.Want, s.ConfineGiven = me, confinement.Want{Level: confinement.Ports, Required: true}, true
		},
		"{confine: {level: required files, read: [~/go, /srv], write: [out], hosts: ['llm.corp.example:8443']}}": func(s *project.Spawn) {
			s.Owner, s.ConfineGiven = me, true
			s.Confine = access.Settings{
				Want: confinement.Want{Level: confinement.Files, Required: true},
				Read: []string{"~/go", "/srv"}, Write: []string{"out"}, Hosts: []string{"llm.corp.example:8443"}, Limits: s.Confine.Limits,
			}
		},
		"{limits: {memory: 4GiB, processes: 100, cpu: 2}}": func(s *project.Spawn) {
			s.Confine.Limits = sandbox.Limits{Memory: 4 << 30, Processes: 100, CPU: 2000}
		},
		"{agents: {np-critic: }}": func(s *project.Spawn) {
			s.Agents = map[string]project.SpawnAgent{"np-critic": s.SpawnAgent}
		},
	} {
		want := unset()
		c, err := configured(t, "spawn: "+text+"\n")
		if change == nil {
			if errs.CodeOf(err) != errs.ConfigInvalid {
				t.Errorf("%s: %+v, %v", text, c, err)
			}
			continue
		}
		want.Spawn.Given = true
		change(&want.Spawn)
		if err != nil || !reflect.DeepEqual(c, want) {
			t.Errorf("%s:\n%+v, %v, want\n%+v", text, c, err, want)
		}
		holdSpawn(t, c.Spawn)
	}
	for _, economy := range prompt.Economies() {
		if c, err := configured(t, fmt.Sprintf("economy: %s\n", economy)); err != nil || c.Economy != economy {
			t.Errorf("%s: %q, %v", economy, c.Economy, err)
		}
	}
}

func TestPlanOfATask(t *testing.T) {
	if got := (project.Spawn{Plan: "p/{task}/{task}.md"}).PlanOf("M1.T2"); got != "p/M1.T2/M1.T2.md" {
		t.Errorf("got %s", got)
	}
	if got := (project.Spawn{}).PlanOf("M1.T2"); got != "" {
		t.Errorf("got %s", got)
	}
}

// TestAgentsInherit checks that an agent inherits settings regardless of their order in
// the file, and that a built-in agent also has those of its other name.
func TestAgentsInherit(t *testing.T) {
	c, err := configured(t, `
spawn:
  agents:
    executor: {timeout: 20m}
    np-build-fixer: {adapter: codex, retries: 0}
    critic: {fallback_on_error: [], model: haiku}
    researcher: {adapter: gemini, model: flash, fallback_on_error: [claude]}
    plan-checker: {adapter: claude}
  fallback_on_error: [codex, gemini]
  model: sonnet
  idle_timeout: 1m
`)
	if err != nil {
		t.Fatal(err)
	}
	all := project.SpawnAgent{
		Adapter: "claude", Fallback: []string{"codex", "gemini"}, ManualFallback: true, Model: "sonnet",
		Timeout: 10 * time.Minute, Idle: time.Minute, Retries: 2,
	}
	with := func(change func(*project.SpawnAgent)) project.SpawnAgent {
		a := all
		change(&a)
		return a
	}
	for agent, want := range map[string]project.SpawnAgent{
		"another":  all,
		"executor": with(func(a *project.SpawnAgent) { a.Timeout = 20 * time.Minute }),
		// It does not inherit the model of another adapter, and does not fall back to
		// itself.
		"build-fixer": with(func(a *project.SpawnAgent) {
			a.Adapter, a.Named, a.Model, a.Fallback, a.Retries = "codex", true, "", []string{"gemini"}, 0
		}),
		"critic":    with(func(a *project.SpawnAgent) { a.Fallback, a.Model = []string{}, "haiku" }),
		"np-critic": with(func(a *project.SpawnAgent) { a.Fallback, a.Model = []string{}, "haiku" }),
		"np-researcher": with(func(a *project.SpawnAgent) {
			a.Adapter, a.Named, a.Model, a.Fallback = "gemini", true, "flash", []string{"claude"}
		}),
		"plan-checker": with(func(a *project.SpawnAgent) { a.Named = true }),
	} {
		if got := c.Spawn.For(agent); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v, want\n%+v", agent, got, want)
		}
	}
	if !slices.Equal(c.Spawn.Fallback, []string{"codex", "gemini"}) {
		t.Errorf("the common list became %v", c.Spawn.Fallback)
	}
}

func TestConfigSaysWhatIsWrongWithSpawns(t *testing.T) {
	many := func(n int, entry string) string {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf(entry, i)
		}
		return strings.Join(entries, ", ")
	}
	for text, says := range map[string]string{
		"spawn: claude":                        `line 1: spawn is "claude"; it must be a mapping of keys`,
		"spawn: {adapter: }":                   "spawn.adapter is empty; it must be 1 to 128 letters, digits, _ and -",
		"spawn: {adapter: ../x}":               `spawn.adapter is "../x"; it must be 1 to 128 letters`,
		"spawn: {adapter: [claude]}":           "spawn.adapter is a list;",
		"spawn: {fallback_on_error: true}":     "spawn.fallback_on_error is true; it must be a list",
		"spawn: {fallback_on_error: }":         "spawn.fallback_on_error is empty; it must be a list",
		"spawn: {fallback_on_error: [a, a]}":   "spawn.fallback_on_error has a twice",
		"spawn: {fallback_on_error: [claude]}": "spawn.fallback_on_error has claude, which is the adapter that it follows",
		"spawn:\n  agents:\n    critic:\n      adapter: x\n      fallback_on_error: [x]": "line 5: spawn.agents.critic.fallback_on_error has x,",
		"spawn: {model: --dangerous}":                  `spawn.model is "--dangerous"; it must be 1 to 256 letters`,
		"spawn: {model: ''}":                           `spawn.model is "";`,
		"spawn: {model: a b}":                          `spawn.model is "a b";`,
		"spawn: {model: 4}":                            "spawn.model is 4;",
		"spawn: {timeout: 0}":                          "spawn.timeout is 0; it must be from 1s to 24h, such as 10m",
		"spawn: {timeout: 0s}":                         `spawn.timeout is "0s"; it must be from 1s to 24h`,
		"spawn: {timeout: 25h}":                        "from 1s to 24h",
		"spawn: {idle_timeout: 999ms}":                 "spawn.idle_timeout is",
		"spawn: {retries: 6}":                          "spawn.retries is 6; it must be a whole number from 0 to 5",
		"spawn: {retries: -1}":                         "from 0 to 5",
		"spawn: {concurrency: 0}":                      "spawn.concurrency is 0; it must be a whole number from 1 to 64",
		"spawn: {concurrency: 65}":                     "from 1 to 64",
		"spawn: {env: [AWS_*]}":                        `spawn.env is "AWS_*"; it must be names of 1 to 128 letters, digits and _, no digit first`,
		"spawn: {env: [A=b]}":                          `spawn.env is "A=b";`,
		"spawn: {env: [1A]}":                           "spawn.env is",
		"spawn: {env: A}":                              "it must be a list",
		"spawn: {command: make}":                       `spawn.command is "make"; it must be a list`,
		"spawn: {command: []}":                         "spawn.command is a list; it must be a list that begins with a program",
		"spawn: {command: [' ', a]}":                   "it must be a list that begins with a program",
		"spawn: {command: [a, 1]}":                     "spawn.command is 1; it must be text",
		`spawn: {command: [a, "\0"]}`:                  "spawn.command has a zero byte",
		"spawn: {command: [" + many(257, "a%d") + "]}": "spawn.command has more than 256 entries",
		"spawn: {command: [x, " + strings.Repeat("a", 64<<10) + "]}":          "spawn.command has more than 65536 bytes",
		"spawn: {adapter: exec}":                                              "spawn.command is missing, which the adapter exec runs",
		"spawn: {fallback_on_error: [exec]}":                                  "spawn.command is missing",
		"spawn: {agents: {critic: {adapter: exec}}}":                          "spawn.command is missing",
		"spawn: {adapters: [../a.json]}":                                      `spawn.adapters: "../a.json" is not in the project`,
		"spawn: {plan: /etc/passwd}":                                          `spawn.plan is "/etc/passwd"; it must be the path of a file in the project`,
		"spawn: {plan: '{task}/../../x'}":                                     "it must be the path of a file in the project",
		"spawn: {plan: '{task}/..'}":                                          "it must be the path of a file in the project",
		"spawn: {plan: ''}":                                                   "it must be the path of a file in the project",
		"spawn: {plan: 'a/{round}'}":                                          "it must be a path whose only part in braces is {task}",
		"spawn: {plan: 'a/{task'}":                                            "whose only part in braces is {task}",
		"spawn: {plan: 1}":                                                    "spawn.plan is 1; it must be text",
		"spawn: {agents: [a]}":                                                "spawn.agents is a list; it must be a mapping of keys",
		"spawn: {agents: {critic: x}}":                                        `spawn.agents.critic is "x"; it must be a mapping of keys`,
		"spawn: {agents: {a/b: {}}}":                                          "spawn.agents.a/b must have a name of 1 to 128 letters, digits, _ and -",
		"spawn: {agents: {critic: {}, critic: {}}}":                           "spawn.agents.critic is already defined in line 1",
		"spawn:\n  agents:\n    critic: {}\n    np-critic:\n      retries: 1": "line 4: spawn.agents.np-critic is already defined as critic",
		"spawn: {agents: {np-critic: {}, critic: {}}}":                        "spawn.agents.critic is already defined as np-critic",
		"spawn: {agents: {critic: {env: [X]}}}":                               "unknown key spawn.agents.critic.env",
		"spawn: {agents: {critic: {timout: 5m}}}":                             "did you mean spawn.agents.critic.timeout?",
		"spawn:\n  agents:\n    critc: {}":                                    "line 3: spawn.agents.critc: no agent has this name; did you mean critic?",
		"spawn: {agents: {Critic: {}}}":                                       "did you mean critic?",
		"spawn: {agents: {np-crtic: {}}}":                                     "did you mean np-critic?",
		"spawn: {agents: {security: {}}}":                                     "no agent has this name; it needs a definition, such as .switchyard/agents/security.md",
		"spawn: {agents: {critic-tests: {}}}":                                 "spawn.agents.critic-tests: no agent has this name",
		"spawn: {agents: {" + many(65, "a%d: {}") + "}}":                      "spawn.agents has more than 64 entries",
		"spawn: {fallback: []}":                                               "unknown key spawn.fallback",
		"spawn: {idle_timout: 1m}":                                            "did you mean spawn.idle_timeout?",
		"economy: true":                                                       "economy is true; it must be off or lite or full or ultra",
		"economy: Lite":                                                       `economy is "Lite";`,
		"economy:":                                                            "economy is empty;",
	} {
		wantInvalid(t, text+"\n", says)
	}
}

// TestAProblemIsReportedOnce checks that a wrong value causes no further problems, and that
// text that is not YAML has its line there too.
func TestAProblemIsReportedOnce(t *testing.T) {
	for _, text := range []string{
		"max_rounds: 3\nverify: 'it's'",
		"max_rounds: 3\n---\nmax_rounds: 3",
		"spawn: {adapter: exec, command: []}",
		"budget: {task: {tokens: 5}, spawn: {tokens: -5}}",
		"budget: {task: {tokens: 5}, spawn: {tokns: 5}}",
	} {
		_, err := configured(t, text+"\n")
		f, ok := err.(*errs.Error)
		if !ok {
			t.Fatalf("%s: %v", text, err)
		}
		if problems, _ := f.Details["problems"].([]string); len(problems) != 1 {
			t.Errorf("%s: %q", text, problems)
		}
	}
}

// TestSpawnsOfAnotherUser needs root to change a file's owner. The owner matters only for
// settings that run code or hand out secrets.
func TestSpawnsOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to somebody else")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, project.ConfigFile)
	for text, foreign := range map[string]bool{
		"max_rounds: 3":               false,
		"spawn: {retries: 1}":         false,
		"spawn: {env: [A]}":           true,
		"spawn: {command: [a]}":       true,
		"spawn: {adapters: [a.json]}": true,
	} {
		for _, owner := range []int{0, 4321} {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(path, owner, -1); err != nil {
				t.Fatal(err)
			}
			c, err := project.Project{Root: dir}.Config(t.Context(), 100)
			if err != nil || c.Spawn.Foreign != (foreign && owner != 0) || foreign && c.Spawn.Owner != owner {
				t.Errorf("%s of %d: %+v, %v", text, owner, c.Spawn, err)
			}
		}
	}
}

// TestTheExampleOfSpawnsIsTrue checks that the defaults in the new file are the defaults,
// and that its examples are valid.
func TestTheExampleOfSpawnsIsTrue(t *testing.T) {
	dir := t.TempDir()
	initialised(t, dir, project.Settings{})
	c, err := configured(t, uncommented(fileIn(t, dir, project.ConfigFile)))
	if err != nil {
		t.Fatal(err)
	}
	got, want := c.Spawn, unset().Spawn
	if got.Adapter != want.Adapter || got.Timeout != want.Timeout || got.Idle != want.Idle || got.Retries != want.Retries ||
		got.Limit(1) != want.Limit(1) || c.Economy != unset().Economy {
		t.Errorf("the example sets %+v and %s", got, c.Economy)
	}
	if !got.ManualFallback || got.Model == "" || len(got.Env) == 0 || len(got.Command) == 0 || len(got.Adapters) == 0 || got.Plan == "" ||
		len(got.Agents) == 0 || c.Budget.Task.Rounds == 0 || c.Budget.Round.Time == 0 || c.Budget.Spawn.MicroDollars == 0 {
		t.Errorf("the example lacks a key: %+v, %+v", got, c.Budget)
	}
	holdSpawn(t, got)
	holdBudget(t, c.Budget)
}

// TestConfigReadsTheSpawnsThatItIsGiven generates settings for all agents and for one,
// and expects them merged.
func TestConfigReadsTheSpawnsThatItIsGiven(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, project.ConfigFile)
	adapters := []string{"claude", "codex", "gemini", "mine"}
	rapid.Check(t, func(t *rapid.T) {
		all, one := map[string]string{}, map[string]string{}
		values := []struct {
			key  string
			from *rapid.Generator[string]
		}{
			{"adapter", rapid.SampledFrom(adapters)},
			{"model", rapid.StringMatching(`m[a-z0-9./:]{0,10}`)},
			{"timeout", rapid.Map(rapid.IntRange(1, 86400), func(n int) string { return strconv.Itoa(n) + "s" })},
			{"retries", rapid.Map(rapid.IntRange(0, 5), strconv.Itoa)},
		}
		for i, keys := range []map[string]string{all, one} {
			for _, v := range values {
				if rapid.Bool().Draw(t, fmt.Sprintf("%d has %s", i, v.key)) {
					keys[v.key] = v.from.Draw(t, v.key)
				}
			}
		}
		either := func(key, none string) string {
			if v, ok := one[key]; ok {
				return v
			}
			if v, ok := all[key]; ok {
				return v
			}
			return none
		}
		want := project.SpawnAgent{Adapter: either("adapter", "claude"), Idle: 5 * time.Minute}
		want.Named = one["adapter"] != "" || all["adapter"] != ""
		want.Timeout, _ = time.ParseDuration(either("timeout", "10m"))
		want.Retries, _ = strconv.Atoi(either("retries", "2"))
		common, has := all["adapter"]
		if !has {
			common = "claude"
		}
		if _, own := one["model"]; own || common == want.Adapter {
			want.Model = either("model", "")
		}
		written := func(indent string, keys map[string]string) []string {
			var lines []string
			for _, key := range slices.Sorted(maps.Keys(keys)) {
				lines = append(lines, indent+key+": '"+keys[key]+"'")
				if key == "retries" {
					lines[len(lines)-1] = indent + key + ": " + keys[key]
				}
			}
			return lines
		}
		lines := rapid.Permutation(append(written("  ", all), "  agents:\n    critic:\n"+strings.Join(written("      ", one), "\n"))).Draw(t, "order")
		text := "spawn:\n" + strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := project.Project{Root: dir}.Config(t.Context(), 100)
		if got := c.Spawn.For("critic"); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\ngot %+v, %v, want %+v", text, got, err, want)
		}
	})
}

func TestLimitOfSpawns(t *testing.T) {
	for _, test := range []struct{ set, jobs, want int }{{0, 0, 4}, {0, 2, 4}, {0, 8, 8}, {1, 8, 1}, {10, 8, 10}} {
		if got := (project.Spawn{Concurrency: test.set}).Limit(test.jobs); got != test.want {
			t.Errorf("%+v: got %d", test, got)
		}
	}
}
