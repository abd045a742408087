package project

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The limits of settings.
const (
	maxRuns        = 10
	maxResearchers = 5
	maxAgents      = 64
	// maxCommand is in bytes. A system accepts about twice that as one argument.
	maxCommand = 64 << 10

	minVerify, maxVerify = time.Second, 2 * time.Hour
)

// The defaults of a verification.
const (
	defaultRuns    = 1
	defaultTimeout = 10 * time.Minute
)

// problemCount returns the number of problems so far.
func (r *reader) problemCount() int { return len(r.problems) + r.more }

// verify reads the verification: its command alone, or a mapping.
func (r *reader) verify(v value) *Verify {
	result := &Verify{Runs: defaultRuns, Timeout: defaultTimeout}
	switch {
	case v.isText():
		result.Command = r.command(v)
		return result
	case v.node.Kind != yaml.MappingNode:
		// An empty value must not mean "no verification".
		r.expected(v, "a command, or a mapping of command, runs and timeout")
		return nil
	}
	named := false
	r.mapping(v, fields{
		"command": func(v value) { named = true; result.Command = r.command(v) },
		"runs":    func(v value) { result.Runs = r.integer(v, 1, maxRuns) },
		"timeout": func(v value) { result.Timeout = r.duration(v, minVerify, maxVerify, "from 1s to 2h, such as 10m") },
	})
	if !named {
		r.addProblem(v.line, "%s.command is missing", v.path)
	}
	return result
}

// command reads a shell command line.
func (r *reader) command(v value) string {
	command := r.text(v)
	switch {
	case strings.TrimSpace(command) == "" && v.isText():
		r.expected(v, "a command")
	case len(command) > maxCommand:
		r.addProblem(v.line, "%s has more than %d bytes", v.path, maxCommand)
	case strings.ContainsRune(command, 0):
		r.addProblem(v.line, "%s holds a zero byte", v.path)
	}
	return command
}

// duration reads a time with its unit. allowed describes the range in words.
func (r *reader) duration(v value, least, most time.Duration, allowed string) time.Duration {
	d, err := time.ParseDuration(v.node.Value)
	if !v.isText() || err != nil || d < least || d > most {
		r.expected(v, "%s", allowed)
	}
	return d
}

// agentName matches names of agents and adapters; agentRule describes it in words.
const (
	agentName = `^[A-Za-z0-9_-]{1,128}$`
	agentRule = "1 to 128 letters, digits, _ and -"
)

// agents reads names of agents. An empty list is valid and means no agents.
func (r *reader) agents(v value) []string {
	return r.names(v, regexp.MustCompile(agentName), agentRule)
}

// tools reads names of tools, which may have the prefix of a server or a module.
func (r *reader) tools(v value) []string {
	names := r.names(v, regexp.MustCompile(`^[A-Za-z0-9_.:/-]{1,128}$`), "1 to 128 letters, digits, _, -, ., : and /")
	if v.node.Kind == yaml.SequenceNode && len(v.node.Content) == 0 {
		r.expected(v, "a list of one tool at least, or audit.agents must be []")
	}
	return names
}

func (r *reader) names(v value, valid *regexp.Regexp, rule string) []string {
	names := []string{}
	r.list(v, maxAgents, func(v value) {
		name := v.node.Value
		switch {
		case !v.isText() || !valid.MatchString(name):
			r.expected(v, "names of %s", rule)
		case slices.Contains(names, name):
			r.addProblem(v.line, "%s has %s twice", v.path, name)
		}
		names = append(names, name)
	})
	return names
}

// phases reads some of the optional phases. Their order is fixed, so another order is a
// mistake.
func (r *reader) phases(v value) []string {
	order := []string{PhaseDesign, PhaseTests}
	phases := []string{}
	last := -1
	r.list(v, len(order), func(v value) {
		at := slices.Index(order, r.oneOf(v, order...))
		if at >= 0 && at <= last {
			r.addProblem(v.line, "%s must be in the order %s, each once", v.path, strings.Join(order, ", "))
		}
		last = max(last, at)
		phases = append(phases, v.node.Value)
	})
	return phases
}

// paths reads paths inside the project.
func (r *reader) paths(v value) []string {
	var paths []string
	r.list(v, maxModules, func(v value) {
		if path := r.text(v); filepath.IsLocal(path) {
			paths = append(paths, filepath.Clean(path))
		} else if v.isText() {
			r.addProblem(v.line, "%s: %s does not lie in the project", v.path, v)
		}
	})
	return paths
}
