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

// Spawn says who runs agents, and how.
type Spawn struct {
	// SpawnAgent is for every agent that Agents does not name.
	SpawnAgent
	// Concurrency is how many spawns of one agent may run at once in the project.
	Concurrency int
	// Env names further variables that an agent's environment gets.
	Env []string
	// Command is the program and the arguments of AdapterExec.
	Command []string
	// Adapters are the project's own adapter files, relative to its root and
	// inside of it.
	Adapters []string
	// Plan is where a task's plan lies, "" where the project has none: a path
	// relative to the root and inside of it. PlanOf fills in the task.
	Plan string
	// Given says that the file has such a section, so that agents are wanted.
	Given bool
	// Agents are the settings of single agents, whole: what the file does not
	// say there comes from SpawnAgent.
	Agents map[string]SpawnAgent
	// FileOwner is set if Env, Command or Adapters are.
	FileOwner
}

// SpawnAgent is how one agent is run.
type SpawnAgent struct {
	// Adapter names the adapter that is tried first, and Named says that the file does.
	Adapter string
	Named   bool
	// Fallback names those that are tried in turn when a spawn fails. It never
	// has Adapter.
	Fallback []string
	// HandBack says that the last failure goes back to the caller, who runs the
	// agent in some other way, and that the task does not get stuck on it.
	HandBack bool
	// Model is what Adapter is told to use, "" for its own choice. A fallback
	// knows other models, so it is for Adapter alone.
	Model string
	// Timeout is how long a spawn may take with all its attempts, and Idle how
	// long it may show no sign of life.
	Timeout, Idle time.Duration
	// Retries is how often a failed attempt is repeated with the same adapter.
	Retries int
}

// AdapterExec is the adapter that runs Spawn.Command.
const AdapterExec = "exec"

// The bounds of what a project may set for its spawns.
const (
	maxRetries     = 5
	maxConcurrency = 64
	maxArguments   = 256

	minSpawn, maxSpawn = time.Second, 24 * time.Hour
)

// variableName is what a name of a variable of the environment looks like, and
// variableRule says it in words.
const (
	variableName = `^[A-Za-z_][A-Za-z0-9_]{0,127}$`
	variableRule = "1 to 128 letters, digits and _, no digit first"
)

// taskInPlan stands for the task's id in Spawn.Plan.
const taskInPlan = "{task}"

func defaultSpawn() Spawn {
	return Spawn{
		SpawnAgent:  SpawnAgent{Adapter: "claude", Timeout: 10 * time.Minute, Idle: 5 * time.Minute, Retries: 2},
		Concurrency: 4,
	}
}

// For returns the settings of one agent. The name is the one that the file may
// have under spawn.agents.
func (s Spawn) For(agent string) SpawnAgent {
	if a, ok := s.Agents[agent]; ok {
		return a
	}
	return s.SpawnAgent
}

// PlanOf returns the path of a task's plan, relative to the project's root, or ""
// where the project has none. It lies inside for every valid id of a task.
func (s Spawn) PlanOf(task string) string {
	return strings.ReplaceAll(s.Plan, taskInPlan, task)
}

// isCode says that what the file sets can run something, or hand out a secret.
func (s Spawn) isCode() bool { return len(s.Env)+len(s.Command)+len(s.Adapters) > 0 }

// read reads the settings of all agents, and then those of single ones, which
// inherit from them wherever they stand in the file.
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

// uses says whether any agent may be run by an adapter.
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

// spawnAgent reads how an agent is run. What is not said there is as in from.
// Beside those keys there may be more.
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

// name reads a word that a pattern describes, and a rule in words.
func (r *reader) name(v value, valid, rule string) string {
	if !v.isText() || !regexp.MustCompile(valid).MatchString(v.node.Value) {
		r.expected(v, "%s", rule)
	}
	return v.node.Value
}

// variables reads names of environment variables: exact ones, because a pattern
// hands out what nobody thought of.
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

// plan reads where a task's plan lies.
func (r *reader) plan(v value) string {
	path := r.text(v)
	// Any valid id does for the one that will stand there: none has a separator
	// or begins with a dot.
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
