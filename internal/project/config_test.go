package project_test

import (
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
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
	"github.com/switchyard-dev/switchyard/internal/transcript"
)

// unset returns the configuration of a project that sets nothing.
func unset() project.Config {
	return project.Config{
		MaxRounds: 3,
		Audit: project.Audit{
			Agents:      []string{"np-researcher", "np-executor", "np-build-fixer"},
			SearchTools: []string{"knowledge-search"},
		},
		Researchers: 3,
		Phases:      []string{"design", "tests"},
		Spawn: project.Spawn{
			SpawnAgent: project.SpawnAgent{Adapter: "claude", Timeout: 10 * time.Minute, Idle: 5 * time.Minute, Retries: 2},
			Confine:    access.Settings{Want: confinement.Best(), Limits: sandbox.Limits{Processes: 4096}},
		},
		Economy:     "lite",
		Transcripts: transcript.Limits{Age: 720 * time.Hour, Size: 200 << 20},
	}
}

func TestConfigFillsInTheDefaults(t *testing.T) {
	if c, err := (project.Project{Root: t.TempDir()}).Config(t.Context(), 100); err != nil || !reflect.DeepEqual(c, unset()) {
		t.Errorf("no file: %+v, %v", c, err)
	}
	for _, text := range []string{
		"", "# nothing\n", "---\n", "{}\n", "null\n", "audit:\n", "audit: {}\n", "research:\nplugins:\nplugin_limits:\n", "\ufeff# a mark\n",
		"spawn:\nbudget:\ntranscripts:\n", "spawn: {}\nbudget: {task: , round: {}, spawn: {}}\n",
	} {
		if c, err := configured(t, text); err != nil || !reflect.DeepEqual(c, unset()) {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
}

func TestConfigOfTheLoop(t *testing.T) {
	set := func(change func(*project.Config)) project.Config {
		c := unset()
		change(&c)
		return c
	}
	verify := func(v project.Verify) project.Config {
		// These tests write the file as the current user.
		return set(func(c *project.Config) { v.Owner = max(os.Geteuid(), 0); c.Verify = &v })
	}
	for text, want := range map[string]project.Config{
		"verify: make test": verify(project.Verify{Command: "make test", Runs: 1, Timeout: 10 * time.Minute}),
		"verify: 'true'":    verify(project.Verify{Command: "true", Runs: 1, Timeout: 10 * time.Minute}),
		"verify: {command: go test ./..., runs: 10, timeout: 2h}":  verify(project.Verify{Command: "go test ./...", Runs: 10, Timeout: 2 * time.Hour}),
		"verify:\n  timeout: 1s\n  command: |\n    make\n    test": verify(project.Verify{Command: "make\ntest\n", Runs: 1, Timeout: time.Second}),
		"evidence: stamps":                                set(func(c *project.Config) { c.Attestations = true }),
		"audit: {agents: []}":                             set(func(c *project.Config) { c.Audit.Agents = []string{} }),
		"audit: {agents: [a_B-1]}":                        set(func(c *project.Config) { c.Audit.Agents = []string{"a_B-1"} }),
		"audit: {search_tools: [Web.Search, mcp__a/b:c]}": set(func(c *project.Config) { c.Audit.SearchTools = []string{"Web.Search", "mcp__a/b:c"} }),
		"research: {agents: 5}":                           set(func(c *project.Config) { c.Researchers = 5 }),
		"hard_cap: 5\nmax_rounds: 5":                      set(func(c *project.Config) { c.MaxRounds, c.HardCap = 5, 5 }),
		"research: {agents: 1}":                           set(func(c *project.Config) { c.Researchers = 1 }),
		"phases: []":                                      set(func(c *project.Config) { c.Phases = []string{} }),
		"phases: [tests]":                                 set(func(c *project.Config) { c.Phases = []string{"tests"} }),
		"phases: &all [design, tests]\nmax_rounds: 100":   set(func(c *project.Config) { c.MaxRounds = 100 }),
		"audit: {agents: &a [x], search_tools: *a}": set(func(c *project.Config) {
			c.Audit = project.Audit{Agents: []string{"x"}, SearchTools: []string{"x"}}
		}),
	} {
		if c, err := configured(t, text+"\n"); err != nil || !reflect.DeepEqual(c, want) {
			t.Errorf("%s:\n%+v, %v, want\n%+v", text, c, err, want)
		}
	}
}

func TestConfigSaysWhatIsWrongAndWhere(t *testing.T) {
	long := strings.Repeat("x", 129)
	for text, says := range map[string]string{
		"verify:":                                        "line 1: verify is empty; it must be a command, or a mapping of command, runs, timeout and confine",
		"policy: ''":                                     `line 1: policy is ""; it must be a policy`,
		"policy:":                                        "line 1: policy is empty; it must be text",
		"base: ' '":                                      `line 1: base is " "; it must be a branch`,
		"verify: ''":                                     `line 1: verify is ""; it must be a command`,
		"verify: ' \t'":                                  "it must be a command",
		"verify: true":                                   "line 1: verify is true; it must be a command",
		"verify: 3":                                      "line 1: verify is 3; it must be a command",
		"verify: [make, test]":                           "line 1: verify is a list",
		"verify: {}":                                     "line 1: verify.command is missing",
		"verify: {runs: 2}":                              "line 1: verify.command is missing",
		"verify: {command: }":                            "line 1: verify.command is empty; it must be text",
		"verify: {command: a, runs: 0}":                  "line 1: verify.runs is 0; it must be a whole number from 1 to 10",
		"verify: {command: a, runs: 11}":                 "verify.runs is 11; it must be a whole number from 1 to 10",
		"verify: {command: a, runs: 2.0}":                "verify.runs is 2.0;",
		"verify: {command: a, runs: '2'}":                `verify.runs is "2";`,
		"verify: {command: a, runs: 0x2}":                "verify.runs is 0x2;",
		"verify: {command: a, runs: 010}":                "verify.runs is 010;",
		"verify: {command: a, runs: []}":                 "verify.runs is a list;",
		"verify:\n  command: a\n  timeout: 3h":           `line 3: verify.timeout is "3h"; it must be from 1s to 2h, such as 10m`,
		"verify: {command: a, timeout: 999ms}":           "it must be from 1s to 2h",
		"verify: {command: a, timeout: 600}":             "verify.timeout is 600; it must be from 1s to 2h",
		`verify: "a\0b"`:                                 "verify has a zero byte",
		"verify: " + strings.Repeat("a", 64<<10+1):       "verify has more than 65536 bytes",
		"evidence: stamp":                                `evidence is "stamp"; it must be reports or stamps`,
		"evidence:":                                      "evidence is empty; it must be reports or stamps",
		"evidence: [stamps]":                             "evidence is a list; it must be reports or stamps",
		"audit: [np-critic]":                             "audit is a list; it must be a mapping of keys",
		"audit: {agents: np-critic}":                     `audit.agents is "np-critic"; it must be a list`,
		"audit: {agents: }":                              "audit.agents is empty; it must be a list",
		"audit: {agents: [a b]}":                         `audit.agents is "a b"; it must be names of 1 to 128 letters, digits, _ and -`,
		"audit: {agents: ['']}":                          `audit.agents is "";`,
		"audit: {agents: [1]}":                           "audit.agents is 1;",
		"audit: {agents: ['a\n\n b']}":                   `audit.agents is "a\nb";`,
		"audit: {agents: [" + long + "]}":                "letters, digits, _ and -",
		"audit: {agents: [a, b, a]}":                     "audit.agents has a twice",
		"audit: {search_tools: []}":                      "audit.search_tools is a list; it must be a list of one tool at least",
		"audit: {search_tools: [a b]}":                   `audit.search_tools is "a b"`,
		"audit:\n  agent: [a]":                           "line 2: unknown key audit.agent; did you mean audit.agents?",
		"research: 3":                                    "research is 3; it must be a mapping of keys",
		"research: {agents: 0}":                          "research.agents is 0; it must be a whole number from 1 to 5",
		"research: {agents: 6}":                          "from 1 to 5",
		"research: {agents: 99999999999999999999}":       "research.agents is 99999999999999999999; it must be a whole number from 1 to 5",
		"phases: [tests, design]":                        "phases must be in the order design, tests, each once",
		"phases: [tests, tests]":                         "phases must be in the order",
		"phases: [review]":                               `phases is "review"; it must be design or tests`,
		"phases: [design, tests, design]":                "phases has more than 2 entries",
		"phases: design":                                 `phases is "design"; it must be a list`,
		"phases:":                                        "phases is empty; it must be a list",
		"policy: 1.0":                                    "policy is 1.0; it must be text; quote it if it is meant so",
		"a\n":                                            `line 1: the file is "a"; it must be a mapping of keys`,
		"[a]: b":                                         "line 1: a key is a list; it must be a word",
		"<<: {max_rounds: 3}":                            "unknown key <<",
		"max_rounds: 3\nevidence: stamps\nmax_rounds: 4": "line 3: max_rounds is already defined in line 1",
		"plugin_limits: {tim: 1s}":                       "unknown key plugin_limits.tim; did you mean plugin_limits.time?",
		"plugin_paths: [1]":                              "plugin_paths is 1; it must be text",
		"plugins: {a: {b: *none}}":                       "unknown anchor 'none' referenced",
		"plugins: {a: {1: x, 1: y}}":                     "already defined at line 1",
		"plugins: {a: {b: {? [c] : d}}}":                 "plugins",
		"plugins: &p {a: *p}":                            "plugins",
		"audit: &a {agents: *a}":                         "audit.agents is a mapping; it must be a list",
		"plugins: {'a%sb': 3}":                           "line 1: plugins.a%sb is 3; it must be a mapping of the plugin's keys",
		"spawn: {agents: {'100%d': {}}}":                 "line 1: spawn.agents.100%d must have a name of",
		"reports: [{run: a, paths: [/a]}]":               `line 1: reports.paths is "/a"; it must be a pattern for paths in the project, such as **/*.go`,
		"reports: [{run: a, paths: ['a[']}]":             `reports.paths is "a["; it must be a pattern`,
		"reports:\n- run: a\n  paths: ['**', '!*.md']":   `line 3: reports.paths is "!*.md"; it must be a pattern without a leading !, because a pattern cannot exclude paths`,
	} {
		wantInvalid(t, text+"\n", says)
	}
}

func TestConfigReportsEveryProblemAtItsLine(t *testing.T) {
	_, err := configured(t, "colour: red\nmax_round: 5\naudit:\n  agnets: [a]\n  search_tools: [b]\nevidence: maybe\nVERIFY: x\n\"bad\\nkey\": 1\n")
	want := []string{
		"line 1: unknown key colour",
		"line 2: unknown key max_round; did you mean max_rounds?",
		"line 4: unknown key audit.agnets; did you mean audit.agents?",
		`line 6: evidence is "maybe"; it must be reports or stamps`,
		"line 7: unknown key VERIFY; did you mean verify?",
		`line 8: unknown key "bad\nkey"`,
	}
	f, ok := err.(*errs.Error)
	if !ok || f.Code != errs.ConfigInvalid || f.Message != "switchyard.yaml has 6 problems" {
		t.Fatalf("got %v", err)
	}
	if got, _ := f.Details["problems"].([]string); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestConfigReportsNoMoreThanItsShare(t *testing.T) {
	var text strings.Builder
	for i := range 10_000 {
		text.WriteString(strings.Repeat("k", 80) + strings.Repeat("q", i%7) + string(rune('a'+i%26)) + time.Duration(i).String() + ": 1\n")
	}
	_, err := configured(t, text.String())
	f, ok := err.(*errs.Error)
	if !ok || f.Code != errs.ConfigInvalid || f.Message != "switchyard.yaml has 10000 problems" {
		t.Fatalf("got %.200v", err)
	}
	problems, _ := f.Details["problems"].([]string)
	if size := len(strings.Join(problems, "")); len(problems) != 51 || problems[50] != "and 9950 more" || size > 10_000 {
		t.Errorf("got %d problems of %d bytes", len(problems), size)
	}
}

func TestConfigSuggestsOnlyWhatIsNear(t *testing.T) {
	for key, want := range map[string]string{
		"maxrounds": "max_rounds", "max-rounds": "max_rounds", "max_rounsd": "max_rounds", "polcy": "policy", "plugin": "plugins",
		"plugin_path": "plugin_paths", "phase": "phases", "verfiy": "verify", "Audit": "audit", "researchers": "research",
		"x": "", "loop": "", "timeout": "", "swarm": "", "": "", strings.Repeat("verify", 100): "",
	} {
		_, err := configured(t, `"`+key+`": 1`+"\n")
		if errs.CodeOf(err) != errs.ConfigInvalid {
			t.Errorf("%s: got %v", key, err)
			continue
		}
		_, got, _ := strings.Cut(err.Error(), "did you mean ")
		if got = strings.TrimSuffix(got, "?"); got != want {
			t.Errorf("%s: suggested %q, want %q", key, got, want)
		}
	}
}

// TestSettingsOfAllPluginsAreBounded checks that aliases cannot expand a small file until
// it fills the memory, however many plugins share it.
func TestSettingsOfAllPluginsAreBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString("plugins:\n  p0: &p {v: " + strings.Repeat("x", 400_000) + "}\n  p1: *p\n")
	if c, err := configured(t, text.String()); err != nil || len(c.Plugins) != 2 {
		t.Errorf("two: %d, %v", len(c.Plugins), err)
	}
	text.WriteString("  p2: *p\n")
	if _, err := configured(t, text.String()); errs.CodeOf(err) != errs.ConfigInvalid || !strings.Contains(err.Error(), "aliases") {
		t.Errorf("three: got %v", err)
	}
}

// TestConfigOfAnotherUser needs root to change a file's owner.
func TestConfigOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to somebody else")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, project.ConfigFile)
	if err := os.WriteFile(path, []byte("verify: make test\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for owner, foreign := range map[int]bool{0: false, 4321: true} {
		if err := os.Chown(path, owner, -1); err != nil {
			t.Fatal(err)
		}
		c, err := project.Project{Root: dir}.Config(t.Context(), 100)
		if err != nil || c.Verify == nil || c.Verify.Foreign != foreign || c.Verify.Owner != owner || c.Verify.Command != "make test" {
			t.Errorf("owner %d: %+v, %v", owner, c.Verify, err)
		}
	}
}

// TestConfigReadsWhatItIsGiven generates valid values and expects to read them back.
func TestConfigReadsWhatItIsGiven(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, project.ConfigFile)
	rapid.Check(t, func(t *rapid.T) {
		want := unset()
		want.MaxRounds = rapid.IntRange(1, 100).Draw(t, "rounds")
		want.Researchers = rapid.IntRange(1, 5).Draw(t, "researchers")
		evidence := rapid.SampledFrom([]string{"reports", "stamps"}).Draw(t, "evidence")
		want.Attestations = evidence == "stamps"
		want.Phases = rapid.SampledFrom([][]string{{}, {"design"}, {"tests"}, {"design", "tests"}}).Draw(t, "phases")
		want.Audit.Agents = rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z][A-Za-z0-9_-]{0,20}`), 0, 5, rapid.ID[string]).Draw(t, "agents")
		runs := rapid.IntRange(1, 10).Draw(t, "runs")
		seconds := rapid.IntRange(1, 7200).Draw(t, "seconds")
		quoted := make([]string, len(want.Audit.Agents))
		for i, a := range want.Audit.Agents {
			quoted[i] = `"` + a + `"`
		}
		lines := []string{
			"max_rounds: " + strconv.Itoa(want.MaxRounds),
			"research: {agents: " + strconv.Itoa(want.Researchers) + "}",
			"evidence: " + evidence,
			"phases: [" + strings.Join(want.Phases, ", ") + "]",
			"audit:\n  agents: [" + strings.Join(quoted, ", ") + "]",
			"verify:\n  command: make\n  runs: " + strconv.Itoa(runs) + "\n  timeout: " + strconv.Itoa(seconds) + "s",
		}
		text := strings.Join(rapid.Permutation(lines).Draw(t, "order"), "\n")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := project.Project{Root: dir}.Config(t.Context(), 100)
		want.Verify = &project.Verify{Command: "make", Runs: runs, Timeout: time.Duration(seconds) * time.Second, FileOwner: project.FileOwner{Owner: max(os.Geteuid(), 0)}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\ngot %+v, %v, want %+v", text, got, err, want)
		}
	})
}

// FuzzConfig checks that any text is a configuration within the limits or a typed error.
func FuzzConfig(f *testing.F) {
	f.Add("max_rounds: 5\nverify: {command: a, runs: 3}\naudit: {agents: [x]}\n")
	f.Add("audit: &a {agents: *a}\n")
	f.Add("? {a: b}\n: c\n--- !!map\n<<: *x\n")
	f.Add("plugins: {a: {b: 2001-01-01, c: !!binary aGk=, d: .inf}}\nphases: !!set {design}\n")
	f.Add("\"\\xff\": \x00\n")
	f.Add("spawn: &s {retries: 0, agents: {critic: *s, researcher: {fallback_on_error: [c], adapter: exec}}, command: [x]}\n")
	f.Add("budget: {task: {rounds: 3, time: 1h, tokens: 5, dollars: 0.000001}, spawn: {tokens: 5, dollars: 1e3}}\neconomy: off\n")
	dir := f.TempDir()
	path := filepath.Join(dir, project.ConfigFile)
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := project.Project{Root: dir}.Config(t.Context(), 100)
		if code := errs.CodeOf(err); err != nil {
			if code != errs.ConfigInvalid && code != errs.FileTooLarge {
				t.Fatalf("got %v", err)
			}
			return
		}
		if c.MaxRounds < 1 || c.MaxRounds > 100 || c.Researchers < 1 || c.Researchers > 5 || len(c.Phases) > 2 || len(c.Audit.SearchTools) == 0 {
			t.Errorf("got %+v", c)
		}
		if v := c.Verify; v != nil && (strings.TrimSpace(v.Command) == "" || v.Runs < 1 || v.Runs > 10 || v.Timeout < time.Second || v.Timeout > 2*time.Hour) {
			t.Errorf("got %+v", v)
		}
		holdSpawn(t, c.Spawn)
		holdBudget(t, c.Budget)
	})
}
