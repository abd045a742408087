package project

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Spawn configures how agents are run.
type Spawn struct {
	// SpawnAgent applies to every agent that Agents does not name.
	SpawnAgent
	// Concurrency limits the concurrent spawns of one agent in the project, 0 for the
	// default; see Limit.
	Concurrency int
	// Env names further variables of the agents' environment.
	Env []string
	// Command is the program and the arguments of AdapterExec.
	Command []string
	// Confine says how agents are confined. ConfineGiven is true if the file has it.
	Confine      access.Settings
	ConfineGiven bool
	// Adapters are the project's own adapter files, relative to its root and inside it.
	Adapters []string
	// Plan is the path of a task's plan, relative to the root and inside it, or "". PlanOf
	// fills in the task.
	Plan string
	// Given is true if the file has this section, so that the user wants agents.
	Given bool
	// Agents are the complete settings of single agents: keys that the file does not set
	// come from SpawnAgent.
	Agents map[string]SpawnAgent
	// FileOwner is set if the section is code, see isCode.
	FileOwner
}

// SpawnAgent configures how one agent is run.
type SpawnAgent struct {
	// Adapter names the adapter that is tried first. Named is true if the file sets it.
	Adapter string
	Named   bool
	// Fallback names the adapters that are tried in turn if a spawn fails. It never
	// contains Adapter.
	Fallback []string
	// ManualFallback enables the manual fallback: after the last failure the caller is asked
	// to run the agent, and the task does not become stuck.
	ManualFallback bool
	// Model is the model for Adapter, "" for the adapter's default. It does not apply to
	// a fallback, which has other models.
	Model string
	// Timeout limits a spawn with all its attempts, and Idle the time without output.
	Timeout, Idle time.Duration
	// Retries is the number of times that a failed attempt is repeated with the same adapter.
	Retries int
}

// AdapterChain returns the adapters in the order in which they are tried.
func (a SpawnAgent) AdapterChain() []string { return append([]string{a.Adapter}, a.Fallback...) }

// UsedAdapters returns the adapters that some agent may run with.
func (s Spawn) UsedAdapters() []string {
	used := s.AdapterChain()
	for _, a := range s.Agents {
		used = append(used, a.AdapterChain()...)
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// AdapterExec is the adapter that runs Spawn.Command.
const AdapterExec = "exec"

// The limits of spawn settings.
const (
	maxRetries                         = 5
	defaultConcurrency, maxConcurrency = 4, 64
	maxArguments                       = 256

	minSpawn, maxSpawn = time.Second, 24 * time.Hour
)

// variableName matches names of environment variables; variableRule describes it in
// words.
const (
	variableName = `^[A-Za-z_][A-Za-z0-9_]{0,127}$`
	variableRule = "1 to 128 letters, digits and _, no digit first"
)

// taskInPlan is replaced by the task's id in Spawn.Plan.
const taskInPlan = "{task}"

func defaultSpawn() Spawn {
	return Spawn{
		SpawnAgent: SpawnAgent{Adapter: "claude", Timeout: 10 * time.Minute, Idle: 5 * time.Minute, Retries: 2},
		Confine:    access.Settings{Want: confinement.Best(), Limits: sandbox.Limits{Processes: defaultProcesses}},
	}
}

// Limit returns the number of spawns of an agent that may run at once, for a command that
// runs jobs tasks at once. A limit in the settings holds for all commands.
func (s Spawn) Limit(jobs int) int { return cmp.Or(s.Concurrency, max(jobs, defaultConcurrency)) }

// For returns the settings of one agent, by its name under spawn.agents. A built-in agent
// may have its other name there.
func (s Spawn) For(agent string) SpawnAgent {
	for _, name := range definition.Spellings(agent) {
		if a, ok := s.Agents[name]; ok {
			return a
		}
	}
	return s.SpawnAgent
}

// PlanOf returns the path of a task's plan, relative to the project's root, or "" if the
// project does not set it. It is inside the root for every valid task id.
func (s Spawn) PlanOf(task string) string {
	return strings.ReplaceAll(s.Plan, taskInPlan, task)
}

// isCode reports whether the settings can run a program, hand out a secret, or let agents
// reach more than by default.
func (s Spawn) isCode() bool {
	return len(s.Env)+len(s.Command)+len(s.Adapters) > 0 || hasExtraAccess(s.Confine)
}

// read reads the settings of all agents, and then the settings of single agents, which
// inherit from them regardless of their order in the file.
func (s *Spawn) read(v value, r *configReader) {
	s.Given = len(v.node.Content) > 0
	before := v.problemCount()
	readAgents := func() {}
	s.SpawnAgent = readSpawnAgent(v, s.SpawnAgent, fields{
		"concurrency": func(v value) { s.Concurrency = v.integer(1, maxConcurrency) },
		// Patterns of variables could hand out unexpected ones.
		"env":      func(v value) { s.Env = v.words(variableName, variableRule) },
		"command":  func(v value) { s.Command = readArguments(v) },
		"adapters": func(v value) { s.Adapters = v.localPaths() },
		"confine": func(v value) {
			s.ConfineGiven = true
			readConfine(v, &s.Confine)
		},
		"limits": func(v value) { readResources(v, &s.Confine.Limits) },
		"plan":   func(v value) { s.Plan = readPlan(v) },
		"agents": func(v value) { readAgents = func() { s.readAgents(v, r) } },
	})
	readAgents()
	if v.problemCount() == before && len(s.Command) == 0 && slices.Contains(s.UsedAdapters(), AdapterExec) {
		v.fail(".command is missing, which the adapter %s runs", AdapterExec)
	}
}

func (s *Spawn) readAgents(v value, r *configReader) {
	if len(v.node.Content) > 2*maxAgents {
		v.fail(" has more than %d entries", maxAgents)
		return
	}
	s.Agents = make(map[string]SpawnAgent)
	v.entries(func(key, content value) {
		name := key.node.Value
		if !regexp.MustCompile(agentName).MatchString(name) {
			content.fail(" must have a name of %s", agentRule)
		} else {
			r.agents = append(r.agents, key)
		}
		for _, other := range definition.Spellings(name) {
			if _, twice := s.Agents[other]; twice {
				v.addProblem(key.line, "%s is already defined as %s", content.path, other)
			}
		}
		s.Agents[name] = readSpawnAgent(content, s.SpawnAgent, nil)
	})
}

// checkAgents reports names under spawn.agents that no agent has. Their settings would apply
// to nothing, and rounds would run without a critic whose name has a mistake.
func (p Project) checkAgents(r *configReader) {
	if len(r.agents) == 0 {
		return
	}
	var known []string
	for _, agent := range (definition.Library{Root: p.Root}).List() {
		if !agent.Definition.Module { // A module is never spawned.
			known = append(known, definition.Spellings(agent.Name)...)
		}
	}
	for _, key := range r.agents {
		name := key.node.Value
		if slices.Contains(known, name) {
			continue
		}
		suggestion := "; it needs a definition, such as " + path.Join(definition.Folder, name+".md")
		r.addProblem(key.line, "%s: no agent has this name%s", join(key.path, name), cmp.Or(textutil.DidYouMean(name, known), suggestion))
	}
}

// readSpawnAgent reads the settings of an agent. Missing keys have the values of from.
// more are additional keys.
func readSpawnAgent(v value, from SpawnAgent, more fields) SpawnAgent {
	a := from
	var fallback, model value // zero if missing
	keys := fields{
		"adapter": func(v value) { a.Adapter, a.Named = v.word(agentName, agentRule), true },
		"fallback_on_error": func(v value) {
			fallback = v
			a.Fallback, a.ManualFallback = v.words(agentName, agentRule), true
		},
		"model": func(v value) {
			model = v
			a.Model = v.word(`^[A-Za-z0-9][A-Za-z0-9._:/@+\[\]-]{0,255}$`, "1 to 256 letters, digits and any of . _ : / @ + - [ ], a letter or digit first")
		},
		"timeout":      func(v value) { a.Timeout = v.duration(minSpawn, maxSpawn, "from 1s to 24h, such as 10m") },
		"idle_timeout": func(v value) { a.Idle = v.duration(minSpawn, maxSpawn, "from 1s to 24h, such as 5m") },
		"retries":      func(v value) { a.Retries = v.integer(0, maxRetries) },
	}
	maps.Copy(keys, more)
	v.mapping(keys)

	if model.node == nil && a.Adapter != from.Adapter {
		a.Model = ""
	}
	if fallback.node == nil {
		a.Fallback = slices.DeleteFunc(slices.Clone(a.Fallback), func(name string) bool { return name == a.Adapter })
	} else if slices.Contains(a.Fallback, a.Adapter) {
		fallback.fail(" has %s, which is the adapter that it follows", a.Adapter)
	}
	return a
}

func readArguments(v value) []string {
	var words []string
	v.list(maxArguments, func(v value) { words = append(words, v.text()) })
	switch {
	case v.node.Kind != yaml.SequenceNode:
	case len(strings.Join(words, "")) > maxCommand:
		v.fail(" has more than %d bytes", maxCommand)
	case len(v.node.Content) == 0, len(words) > 0 && strings.TrimSpace(words[0]) == "":
		v.expected("a list that begins with a program")
	}
	return words
}

func readPlan(v value) string {
	path := v.text()
	// Any valid id can stand for the real one: ids contain no separator and do not begin
	// with a dot.
	of := strings.ReplaceAll(path, taskInPlan, "T")
	switch {
	case !v.isText():
	case strings.ContainsAny(of, "{}"):
		v.expected("a path whose only part in braces is %s", taskInPlan)
	case !filepath.IsLocal(of) || filepath.Clean(of) == ".":
		v.expected("the path of a file in the project")
	}
	return path
}
