package project

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Spawn configures how agents are run.
type Spawn struct {
	// SpawnAgent applies to every agent that Agents does not name.
	SpawnAgent
	// Concurrency limits the concurrent spawns of one agent in the project.
	Concurrency int
	// Env names further variables of the agents' environment.
	Env []string
	// Command is the program and the arguments of AdapterExec.
	Command []string
	// Adapters are the project's own adapter files, relative to its root and inside it.
	Adapters []string
	// Plan is the path of a task's plan, relative to the root and inside it, or "" for
	// none. PlanOf fills in the task.
	Plan string
	// Given is true if the file has this section, so that agents are wanted.
	Given bool
	// Agents are the complete settings of single agents: keys that the file does not set
	// come from SpawnAgent.
	Agents map[string]SpawnAgent
	// FileOwner is set if Env, Command or Adapters are.
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
	// HandBack enables the manual fallback: the last failure is returned to the caller,
	// who runs the agent in another way, and the task does not become stuck.
	HandBack bool
	// Model is the model for Adapter, "" for the adapter's default. It does not apply to
	// a fallback, which has other models.
	Model string
	// Timeout limits a spawn with all its attempts, and Idle the time without output.
	Timeout, Idle time.Duration
	// Retries is how often a failed attempt is repeated with the same adapter.
	Retries int
}

// AdapterExec is the adapter that runs Spawn.Command.
const AdapterExec = "exec"

// The limits of spawn settings.
const (
	maxRetries     = 5
	maxConcurrency = 64
	maxArguments   = 256

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
		SpawnAgent:  SpawnAgent{Adapter: "claude", Timeout: 10 * time.Minute, Idle: 5 * time.Minute, Retries: 2},
		Concurrency: 4,
	}
}

// For returns the settings of one agent, by its name under spawn.agents.
func (s Spawn) For(agent string) SpawnAgent {
	if a, ok := s.Agents[agent]; ok {
		return a
	}
	return s.SpawnAgent
}

// PlanOf returns the path of a task's plan, relative to the project's root, or "" if the
// project has none. It is inside the root for every valid task id.
func (s Spawn) PlanOf(task string) string {
	return strings.ReplaceAll(s.Plan, taskInPlan, task)
}

// isCode reports whether the settings can run something or hand out a secret.
func (s Spawn) isCode() bool { return len(s.Env)+len(s.Command)+len(s.Adapters) > 0 }

// read reads the settings of all agents, and then those of single agents, which inherit
// from them regardless of their order in the file.
func (s *Spawn) read(r *reader, v value) {
	s.Given = len(v.node.Content) > 0
	var agents *value
	before := r.problemCount()
	s.SpawnAgent = r.spawnAgent(v, s.SpawnAgent, fields{
		"concurrency": func(v value) { s.Concurrency = r.integer(v, 1, maxConcurrency) },
		"env":         func(v value) { s.Env = r.variables(v) },
		"command":     func(v value) { s.Command = r.arguments(v) },
		"adapters":    func(v value) { s.Adapters = r.paths(v) },
		"plan":        func(v value) { s.Plan = r.plan(v) },
		"agents":      func(v value) { agents = &v },
	})
	if agents != nil {
		s.Agents = r.spawnAgents(*agents, s.SpawnAgent)
	}
	if r.problemCount() == before && len(s.Command) == 0 && s.uses(AdapterExec) {
		r.addProblem(v.line, "%s.command is missing, which the adapter %s runs", v.path, AdapterExec)
	}
}

// uses reports whether any agent may run with an adapter.
func (s Spawn) uses(adapter string) bool {
	all := append(slices.Collect(maps.Values(s.Agents)), s.SpawnAgent)
	return slices.ContainsFunc(all, func(a SpawnAgent) bool {
		return a.Adapter == adapter || slices.Contains(a.Fallback, adapter)
	})
}

// spawnAgents reads the settings of single agents.
func (r *reader) spawnAgents(v value, all SpawnAgent) map[string]SpawnAgent {
	if v.node.Kind == yaml.MappingNode && len(v.node.Content) > 2*maxAgents {
		r.addProblem(v.line, "%s has more than %d entries", v.path, maxAgents)
		return nil
	}
	valid := regexp.MustCompile(agentName)
	agents := make(map[string]SpawnAgent)
	known := make(fields)
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		name := valueOf(v.node.Content[i], "").node.Value
		known[name] = func(v value) {
			if !valid.MatchString(name) {
				r.addProblem(v.line, "%s must have a name of %s", v.path, agentRule)
			}
			agents[name] = r.spawnAgent(v, all, nil)
		}
	}
	r.mapping(v, known)
	return agents
}

// spawnAgent reads the settings of an agent. Missing keys have the values of from. more
// are additional keys.
func (r *reader) spawnAgent(v value, from SpawnAgent, more fields) SpawnAgent {
	a := from
	set := make(map[string]value)
	keys := fields{
		"adapter": func(v value) { a.Adapter = r.name(v, agentName, agentRule) },
		"fallback_on_error": func(v value) {
			a.Fallback, a.HandBack = r.agents(v), true
		},
		"model": func(v value) {
			a.Model = r.name(v, `^[A-Za-z0-9][A-Za-z0-9._:/@+\[\]-]{0,255}$`, "1 to 256 letters, digits and any of . _ : / @ + - [ ], a letter or digit first")
		},
		"timeout":      func(v value) { a.Timeout = r.duration(v, minSpawn, maxSpawn, "from 1s to 24h, such as 10m") },
		"idle_timeout": func(v value) { a.Idle = r.duration(v, minSpawn, maxSpawn, "from 1s to 24h, such as 5m") },
		"retries":      func(v value) { a.Retries = r.integer(v, 0, maxRetries) },
	}
	for name, read := range keys {
		keys[name] = func(v value) { set[name] = v; read(v) }
	}
	maps.Copy(keys, more)
	r.mapping(v, keys)

	if _, named := set["adapter"]; named {
		a.Named = true
	}
	if _, named := set["model"]; !named && a.Adapter != from.Adapter {
		a.Model = ""
	}
	if list, named := set["fallback_on_error"]; !named {
		a.Fallback = slices.DeleteFunc(slices.Clone(a.Fallback), func(name string) bool { return name == a.Adapter })
	} else if slices.Contains(a.Fallback, a.Adapter) {
		r.addProblem(list.line, "%s has %s, which is the adapter that it follows", list.path, a.Adapter)
	}
	return a
}

// name reads a text that matches a pattern; rule describes the pattern in words.
func (r *reader) name(v value, valid, rule string) string {
	if !v.isText() || !regexp.MustCompile(valid).MatchString(v.node.Value) {
		r.expected(v, "%s", rule)
	}
	return v.node.Value
}

// variables reads names of environment variables. Patterns are not allowed, since they
// could hand out unexpected variables.
func (r *reader) variables(v value) []string {
	return r.names(v, regexp.MustCompile(variableName), variableRule)
}

// arguments reads a program and its arguments.
func (r *reader) arguments(v value) []string {
	var words []string
	size := 0
	r.list(v, maxArguments, func(v value) {
		word := r.text(v)
		if strings.ContainsRune(word, 0) {
			r.addProblem(v.line, "%s holds a zero byte", v.path)
		}
		size += len(word)
		words = append(words, word)
	})
	switch {
	case v.node.Kind != yaml.SequenceNode:
	case size > maxCommand:
		r.addProblem(v.line, "%s has more than %d bytes", v.path, maxCommand)
	case len(v.node.Content) == 0, len(words) > 0 && strings.TrimSpace(words[0]) == "":
		r.expected(v, "a list that begins with a program")
	}
	return words
}

// plan reads the path of a task's plan.
func (r *reader) plan(v value) string {
	path := r.text(v)
	// Any valid id can stand for the real one: ids contain no separator and do not begin
	// with a dot.
	of := strings.ReplaceAll(path, taskInPlan, "T")
	switch {
	case !v.isText():
	case strings.ContainsAny(of, "{}"):
		r.expected(v, "a path whose only part in braces is %s", taskInPlan)
	case !filepath.IsLocal(of) || filepath.Clean(of) == ".":
		r.expected(v, "the path of a file in the project")
	}
	return path
}
