package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Settings are the values that a new switchyard.yaml sets. A zero field leaves the
// default.
type Settings struct {
	// MaxRounds is max_rounds.
	MaxRounds int
	// Researchers is research.agents.
	Researchers int
	// VerifyRuns is verify.runs. It stays a comment: it has no meaning without a command,
	// which the user must add.
	VerifyRuns int
	// Phases is phases; nil leaves the default, and an empty list means none.
	Phases []string
	// Suggestion stays a comment.
	Suggestion
}

// String returns the settings as in a switchyard.yaml.
func (s Settings) String() string {
	var set []string
	if s.MaxRounds != 0 {
		set = append(set, fmt.Sprintf("max_rounds: %d", s.MaxRounds))
	}
	if s.Researchers != 0 {
		set = append(set, fmt.Sprintf("research: {agents: %d}", s.Researchers))
	}
	if s.VerifyRuns != 0 {
		set = append(set, fmt.Sprintf("verify: {runs: %d}", s.VerifyRuns))
	}
	if s.Phases != nil {
		set = append(set, "phases: ["+strings.Join(s.Phases, ", ")+"]")
	}
	return strings.Join(set, ", ")
}

func (s Settings) none() bool {
	return s.MaxRounds == 0 && s.Researchers == 0 && s.VerifyRuns == 0 && s.Phases == nil
}

// header is the first line of a new switchyard.yaml. With two signs it stays a comment if
// the user removes one from each line.
const header = "## The configuration of switchyard. Every key is optional: a comment shows a default, or an example where there is none.\n\n"

// line is a line of a new switchyard.yaml.
type line struct {
	text, note string
	// set is true if the line is not a comment.
	set bool
}

// lines returns the lines of a new switchyard.yaml. Without comment signs they are the
// example of docs/configuration.md.
func (s Settings) lines() []line {
	d := defaults()
	phases := s.Phases
	if phases == nil {
		phases = d.Phases
	}
	return slices.Concat([]line{
		{fmt.Sprintf("max_rounds: %d", cmp.Or(s.MaxRounds, 3)), "a task's cap of rounds, 1 to 100 (default 3)", s.MaxRounds != 0},
		{"policy: routing@1.2.0", "or a directory or an OPA bundle, relative to this file (default: the adopted one)", false},
		{"policy_trust:", "the keys that must have signed a policy (default: none)", false},
		{"  keys:", "public ones, each in a file of the project or in a variable", false},
		{"    - {id: release-2026, algorithm: ES256, file: keys/policy.pem, scope: switchyard}", "or env: VARIABLE instead of file", false},
		{"  allow_rollback: false", "allow an older policy to follow a newer one (default false)", false},
		{},
		{"verify:", "or the command alone (default: none)", false},
		{"  command: " + cmp.Or(s.Verify, "make test"), "a line for the shell", false},
		{fmt.Sprintf("  runs: %d", cmp.Or(s.VerifyRuns, defaultRuns)), "green only if every run is, 1 to 10 (default 1)", false},
		{"  timeout: 10m", "of one run, 1s to 2h (default 10m)", false},
		{},
		{"reports:", "commands whose reports are part of every round (default: none)", false},
	}, s.Suggestion.lines(), []line{
		{},
		{"evidence: " + string(d.Evidence), "or stamps: the executor and the critic need an attestation of the round too (default reports)", false},
		{"audit:", "the search-before-write rule", false},
		{"  agents: " + flow(d.Audit.Agents), "must use a search tool (this is the default)", false},
		{"  search_tools: " + flow(d.Audit.SearchTools), "the tools that search (this is the default)", false},
		{},
		{"research:", "", s.Researchers != 0},
		{fmt.Sprintf("  agents: %d", cmp.Or(s.Researchers, d.Researchers)), "the number of researchers, 1 to 5 (default 3)", s.Researchers != 0},
		{"phases: " + flow(phases), "optional ones between research and draft (default: both)", s.Phases != nil},
		{},
		{"base: main", "a branch: a draft is the difference from its merge base with HEAD (default: from the commit at which the task began)", false},
		{"spawn:", "how agents are run", false},
		{"  adapter: " + d.Spawn.Adapter, "their CLI: claude, codex, gemini, opencode, copilot, exec or one of your own (default claude)", false},
		{"  fallback_on_error: [codex]", "tried in turn when a spawn fails; then the caller runs the agent (default: the task gets stuck)", false},
		{"  model: sonnet", "(default: the adapter's own)", false},
		{"  timeout: 10m", "of a spawn with all its attempts, 1s to 24h (default 10m)", false},
		{"  idle_timeout: 5m", "without output, 1s to 24h (default 5m)", false},
		{fmt.Sprintf("  retries: %d", d.Spawn.Retries), "of a failed attempt, 0 to 5 (default 2)", false},
		{fmt.Sprintf("  concurrency: %d", d.Spawn.Concurrency), "spawns of one agent at once in this project, 1 to 64 (default 4)", false},
		{"  env: [GOPRIVATE]", "variables for agents besides the usual ones (default: none)", false},
		{"  command: [tools/critic.sh]", "of the adapter exec: program and arguments", false},
		{"  adapters: [tools/adapters/mine.json]", "your own adapter files, inside the project", false},
		{"  plan: docs/plans/{task}.md", "a task's plan, for the agents (default: none)", false},
		{"  agents:", "other settings for single agents", false},
		{"    researcher: {adapter: codex, timeout: 20m}", "adapter, fallback_on_error, model, timeout, idle_timeout, retries", false},
		{"economy: " + d.Economy, "off, lite, full or ultra: how strictly unneeded code is reported (default lite)", false},
		{"budget:", "limits of what agents use; 0 is no limit (default: none)", false},
		{"  task: {rounds: 6, time: 2h, tokens: 2000000, dollars: 20}", "of a task", false},
		{"  round: {time: 40m, tokens: 600000, dollars: 6}", "of a round", false},
		{"  spawn: {tokens: 200000, dollars: 2}", "the most that one spawn may use; needed for the units that the others limit", false},
		{},
		{"metrics:", "destinations, updated after every recorded event (default: none)", false},
		{"  textfile: /var/lib/prometheus/node-exporter/switchyard.prom", "of a node exporter; relative paths are relative to this file", false},
		{"  push: http://127.0.0.1:9091", "a Pushgateway", false},
		{"  job: switchyard", "the job label of the push (default switchyard)", false},
		{"  grouping: {project: shop}", "the other labels of the group (default: the label project, or the directory's name and a digest)", false},
		{"  labels: {project: shop}", "added to every metric (default: none)", false},
		{},
		{"plugins:", "configurations of plugins, by the plugin's name or a new one", false},
		{"  sarif:", "", false},
		{"    categories:", "", false},
		{"      default: lint-violation", "of a rule that is not listed below", false},
		{"      rules:", "", false},
		{"        SA4006: dead-code", "", false},
		{"        G104: silenced-failure", "", false},
		{"  ruff:", "a new name, for --report ruff=FILE", false},
		{"    use: json-map", "the plugin that it configures", false},
		{"    items: /*", "", false},
		{"    file: /filename", "", false},
		{"    line: /location/row", "", false},
		{"    rule: /code", "", false},
		{"    message: /message", "", false},
		{"plugin_paths: [tools/plugins]", "your own plugins: files, or directories of them, inside the project", false},
		{"plugin_limits:", "the limits of a plugin for one report", false},
		{"  memory: 64MiB", "1KiB to 1GiB", false},
		{"  time: 2s", "1ms to 1m", false},
		{"  report: 32MiB", "1KiB to 1GiB", false},
		{"  output: 64MiB", "1KiB to 1GiB", false},
	})
}

// template returns the text of a new switchyard.yaml.
func (s Settings) template() string {
	var b strings.Builder
	b.WriteString(header)
	for _, l := range s.lines() {
		text := l.text
		if l.note != "" {
			text = fmt.Sprintf("%-30s # %s", text, l.note)
		}
		if !l.set && text != "" {
			text = "# " + text
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// flow formats words as a YAML list.
func flow(words []string) string { return "[" + strings.Join(words, ", ") + "]" }
