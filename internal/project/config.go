package project

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/internal/transcript"
)

// The limits of the configuration.
const (
	// maxConfig is the maximum size of switchyard.yaml, in bytes.
	maxConfig = 1 << 20

	maxRuns        = 10
	maxResearchers = 5
	maxAgents      = 64
	// maxCommand is in bytes. Linux accepts about twice this as one argument.
	maxCommand = 64 << 10

	minVerify, maxVerify = time.Second, 2 * time.Hour

	// agentName matches names of agents and adapters; agentRule describes it in words.
	agentName = `^[A-Za-z0-9_-]{1,128}$`
	agentRule = "1 to 128 letters, digits, _ and -"
)

// Config is the content of switchyard.yaml, with defaults for missing keys.
type Config struct {
	// MaxRounds is the cap of tasks without their own.
	MaxRounds int
	// HardCap is the hard cap of tasks, 0 if not set.
	HardCap int
	// Policy names the policy, "" for the default. A path is relative to the project's
	// root.
	Policy string
	// TrustKeys are the keys that verify the signatures of policies. Without keys signatures
	// are not checked; otherwise a policy without a valid signature is refused, unless it is
	// built in.
	TrustKeys []TrustKey
	// Plugins are the configurations of plugins, by the plugin's name or by the project's
	// own name for a configuration.
	Plugins map[string]PluginConfig
	// PluginPaths are plugin files and directories of them, relative to the project's root
	// and inside it.
	PluginPaths []string
	Limits      Limits
	// Verify is the project's verification, or nil.
	Verify *Verify
	// Reports are the commands that write reports for every round.
	Reports Reports
	// Attestations is set if a round requires attestations of the executor and the critic;
	// otherwise a critic's report of the round suffices.
	Attestations bool
	// Audit configures the search-before-write rule.
	Audit Audit
	// Researchers is the number of researchers' attestations that the research phase
	// needs.
	Researchers int
	// Phases are the optional phases between research and draft, in order.
	Phases []string
	// Base is a branch: a draft is the difference from its merge base with HEAD. "" means
	// the commit at which the task began.
	Base string
	// Spawn configures how agents are run.
	Spawn Spawn
	// Economy is how strictly the critic and the executor avoid needless code.
	Economy prompt.Economy
	// Budget limits the consumption of agents.
	Budget Budget
	// Transcripts says how long transcripts of agents are stored. The zero value stores no
	// transcripts.
	Transcripts transcript.Limits
	// CommitHooks runs the repository's commit hooks before run commits a reviewed tree;
	// otherwise they are skipped.
	CommitHooks bool
	// Metrics says where metrics are written.
	Metrics Metrics
}

// Verify is the command that verifies a draft. It is code from the repository.
type Verify struct {
	// Command is a shell command line. It is never blank.
	Command string
	// Runs is the number of runs, all of which must be green.
	Runs int
	// Timeout limits one run.
	Timeout time.Duration
	// Confine says how it is confined. By default it is not, since it needs the user's tools.
	Confine access.Settings
	FileOwner
}

// Audit configures the search-before-write rule.
type Audit struct {
	// Agents are the agents that must use a search tool.
	Agents []string
	// SearchTools are the tools that count as search tools.
	SearchTools []string
}

// The optional phases.
const (
	// PhaseDesign is the architect's phase.
	PhaseDesign = "design"
	// PhaseTests is the test writer's phase.
	PhaseTests = "tests"
)

// defaults returns the configuration of a project without a file.
func defaults() Config {
	return Config{
		MaxRounds: task.DefaultRounds,
		Audit: Audit{
			Agents:      []string{"np-researcher", "np-executor", "np-build-fixer"},
			SearchTools: []string{"knowledge-search"},
		},
		Researchers: 3,
		Phases:      []string{PhaseDesign, PhaseTests},
		Spawn:       defaultSpawn(),
		Economy:     prompt.EconomyLite,
		Transcripts: defaultTranscripts(),
	}
}

// Config reads the project's configuration. maxRounds is the highest cap of a task.
// plugins are the names of the plugins that switchyard.lock does not have; without any, the
// names in the configuration are not checked.
//
// # Errors
//
// config-invalid, also for unknown keys, agents and plugins: the detail "problems" has every
// problem with its line. Also the codes of Read and Lock.
func (p Project) Config(ctx context.Context, maxRounds int, plugins ...string) (Config, error) {
	data, file, err := p.AtRoot().read(ctx, ConfigFile, maxConfig)
	if errs.CodeOf(err) == errs.FileNotFound {
		return defaults(), nil
	}
	if err != nil {
		return Config{}, err
	}
	c, r, err := parseConfig(data, maxRounds)
	if err == nil {
		p.checkAgents(r)
	}
	if err == nil && len(plugins) > 0 {
		err = p.checkPlugins(ctx, r, c, plugins)
	}
	if err = cmp.Or(err, r.err()); err != nil {
		return Config{}, err
	}
	owner := ownerOf(file)
	if c.Verify != nil {
		c.Verify.FileOwner = owner
	}
	if len(c.Reports.Commands) > 0 {
		c.Reports.FileOwner = owner
	}
	if c.Spawn.isCode() {
		c.Spawn.FileOwner = owner
	}
	if c.Metrics.IsSet() {
		c.Metrics.FileOwner = owner
	}
	return c, nil
}

// configReader reads a configuration. It keeps the positions that checkPlugins and checkAgents
// need.
type configReader struct {
	reader
	// plugins maps the entries of plugins to their lines.
	plugins map[string]int
	// hardCap is the entry hard_cap.
	hardCap value
	// reportPlugins are the plugins of report commands.
	reportPlugins []value
	// agents are the names under spawn.agents.
	agents []value
}

// parseConfig parses a configuration. The problems are in the reader, unless the text is
// not YAML.
func parseConfig(data []byte, maxRounds int) (Config, *configReader, error) {
	c, r := defaults(), &configReader{reader: reader{file: ConfigFile, code: errs.ConfigInvalid}}
	err := r.read(data, func(root value) {
		known := root.mapping(c.fields(r, maxRounds))
		if known && c.HardCap != 0 && c.HardCap < c.MaxRounds {
			r.hardCap.fail(" is %d; it must be at least max_rounds, which is %d", c.HardCap, c.MaxRounds)
		}
	})
	return c, r, err
}

func (c *Config) fields(r *configReader, maxRounds int) fields {
	return fields{
		"max_rounds":    func(v value) { c.MaxRounds = v.integer(1, maxRounds) },
		"hard_cap":      func(v value) { c.HardCap, r.hardCap = v.integer(1, maxRounds), v },
		"policy":        func(v value) { c.Policy = v.textOf("a policy") },
		"policy_trust":  func(v value) { c.TrustKeys = readTrust(v) },
		"plugins":       func(v value) { c.Plugins = r.readPlugins(v) },
		"plugin_paths":  func(v value) { c.PluginPaths = v.localPaths() },
		"plugin_limits": c.Limits.read,
		"verify":        func(v value) { c.Verify = readVerify(v) },
		"reports":       func(v value) { c.Reports.Commands = r.readReports(v) },
		"evidence":      func(v value) { c.Attestations = v.oneOf("reports", "stamps") == "stamps" },
		"audit":         c.Audit.read,
		"research": func(v value) {
			v.mapping(fields{"agents": func(v value) { c.Researchers = v.integer(1, maxResearchers) }})
		},
		"phases":      func(v value) { c.Phases = readPhases(v) },
		"base":        func(v value) { c.Base = v.textOf("a branch") },
		"spawn":       func(v value) { c.Spawn.read(v, r) },
		"economy":     func(v value) { c.Economy = prompt.Economy(v.oneOf(textutil.Strings(prompt.Economies())...)) },
		"budget":      c.Budget.read,
		"transcripts": func(v value) { c.Transcripts = readTranscripts(v) },
		"run": func(v value) {
			v.mapping(fields{"hooks": func(v value) { c.CommitHooks = v.oneOf("skip", "run") == "run" }})
		},
		"metrics": c.Metrics.read,
	}
}

// readVerify reads the verification: a command, or a mapping.
func readVerify(v value) *Verify {
	result := &Verify{Runs: 1, Timeout: 10 * time.Minute}
	switch {
	case v.isText():
		result.Command = readCommand(v)
	case v.node.Kind != yaml.MappingNode:
		// An empty value must not mean "no verification".
		v.expected("a command, or a mapping of command, runs, timeout and confine")
	case v.mapping(fields{
		"command": func(v value) { result.Command = readCommand(v) },
		"runs":    func(v value) { result.Runs = v.integer(1, maxRuns) },
		"timeout": func(v value) { result.Timeout = v.duration(minVerify, maxVerify, "from 1s to 2h, such as 10m") },
		"confine": func(v value) { readConfine(v, &result.Confine) },
	}) && result.Command == "":
		v.fail(".command is missing")
	}
	return result
}

func readCommand(v value) string {
	command := v.textOf("a command")
	if len(command) > maxCommand {
		v.fail(" has more than %d bytes", maxCommand)
	}
	return command
}

func (a *Audit) read(v value) {
	v.mapping(fields{
		// An empty list is valid.
		"agents": func(v value) {
			a.Agents = v.words(agentName, agentRule)
			for i, name := range a.Agents {
				a.Agents[i] = definition.FullName(name)
			}
		},
		// Names of tools may have the prefix of a server or a module.
		"search_tools": func(v value) {
			a.SearchTools = v.words(`^[A-Za-z0-9_.:/-]{1,128}$`, "1 to 128 letters, digits, _, -, ., : and /")
			if v.node.Kind == yaml.SequenceNode && len(v.node.Content) == 0 {
				v.expected("a list of one tool at least, or audit.agents must be []")
			}
		},
	})
}

// readPhases reads some of the optional phases. Their order is fixed, so another order is
// a mistake.
func readPhases(v value) []string {
	order := []string{PhaseDesign, PhaseTests}
	phases := []string{}
	last := -1
	v.list(len(order), func(v value) {
		at := slices.Index(order, v.oneOf(order...))
		if at >= 0 && at <= last {
			v.fail(" must be in the order %s, each once", strings.Join(order, ", "))
		}
		last = max(last, at)
		phases = append(phases, v.node.Value)
	})
	return phases
}
