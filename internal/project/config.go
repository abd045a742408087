package project

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// maxConfig is the maximum size of switchyard.yaml, in bytes.
const maxConfig = 1 << 20

// Config is the content of switchyard.yaml, with defaults for missing keys.
type Config struct {
	// MaxRounds is the cap of tasks without their own, 0 if not set.
	MaxRounds int
	// Policy names the policy, "" for the default. A path is relative to the project's
	// root.
	Policy string
	// Trust lists the signers of policies.
	Trust Trust
	// Plugins are the configurations of plugins, by the plugin's name or by a name of the
	// project.
	Plugins map[string]PluginConfig
	// PluginPaths are plugin files and folders of them, relative to the project's root
	// and inside it.
	PluginPaths []string
	Limits      Limits
	// Verify is the project's verification, or nil.
	Verify *Verify
	// Reports are the commands that write reports for every round.
	Reports Reports
	// Evidence is what a round requires besides reports.
	Evidence Evidence
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
	// Economy is how strictly the critic and the executor avoid needless code: one of the
	// constants below.
	Economy string
	// Budget limits the consumption of agents.
	Budget Budget
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
	FileOwner
}

// Evidence is what a round requires besides reports.
type Evidence string

// The kinds of evidence.
const (
	// EvidenceReports: a critic's report of the round suffices.
	EvidenceReports Evidence = "reports"
	// EvidenceStamps: the executor and the critic also need an attestation of the round.
	EvidenceStamps Evidence = "stamps"
)

// Audit configures the search-before-write rule.
type Audit struct {
	// Agents are those that must use a search tool.
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

// The values of economy.
const (
	// EconomyOff: not at all.
	EconomyOff = "off"
	// EconomyLite: the executor is told to write only necessary code.
	EconomyLite = "lite"
	// EconomyFull: the critic also reports needless code.
	EconomyFull = "full"
	// EconomyUltra: the critic also reports less certain cases.
	EconomyUltra = "ultra"
)

// defaults returns the configuration of a project without a file.
func defaults() Config {
	return Config{
		Evidence: EvidenceReports,
		Audit: Audit{
			Agents:      []string{"np-researcher", "np-executor", "np-build-fixer"},
			SearchTools: []string{"knowledge-search"},
		},
		Researchers: 3,
		Phases:      []string{PhaseDesign, PhaseTests},
		Spawn:       defaultSpawn(),
		Economy:     EconomyLite,
	}
}

// Config reads the project's configuration. maxRounds is the highest cap of a task.
// plugins are the names of the plugins besides those of switchyard.lock; if there are
// none, the names in the configuration are not checked.
//
// # Errors
//
// config-invalid, also for unknown keys and plugins: the detail "problems" has every
// problem with its line. And the codes of Read and Lock.
func (p Project) Config(ctx context.Context, maxRounds int, plugins ...string) (Config, error) {
	data, file, err := Project{Root: p.Root, Dir: p.Root}.read(ctx, ConfigFile, maxConfig)
	if errs.CodeOf(err) == errs.FileNotFound {
		return defaults(), nil
	}
	if err != nil {
		return Config{}, err
	}
	c, r, err := parseConfig(data, maxRounds)
	if err == nil && len(plugins) > 0 {
		err = p.checkPlugins(ctx, r, c, plugins)
	}
	if err == nil {
		err = r.err()
	}
	if err != nil {
		return Config{}, err
	}
	var owner FileOwner
	owner.Owner, owner.Foreign = otherOwner(file, os.Geteuid())
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

// parseConfig parses a configuration. The problems are in the reader, unless the text is
// not YAML.
func parseConfig(data []byte, maxRounds int) (Config, *reader, error) {
	var document, more yaml.Node
	c, r := defaults(), &reader{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return c, r, nil
	} else if err != nil {
		return c, r, invalidConfig(": %s", describeYAMLError(err))
	}
	if err := d.Decode(&more); err == nil {
		return c, r, invalidConfig(": the file holds more than one document")
	} else if !errors.Is(err, io.EOF) {
		return c, r, invalidConfig(": %s", describeYAMLError(err))
	}
	for _, root := range document.Content {
		r.mapping(valueOf(root, ""), c.fields(r, maxRounds))
	}
	return c, r, nil
}

// fields returns the function that reads each key.
func (c *Config) fields(r *reader, maxRounds int) fields {
	return fields{
		"max_rounds":    func(v value) { c.MaxRounds = r.integer(v, 1, maxRounds) },
		"policy":        func(v value) { c.Policy = r.text(v) },
		"policy_trust":  func(v value) { c.Trust.read(r, v) },
		"plugins":       func(v value) { c.Plugins = r.settings(v) },
		"plugin_paths":  func(v value) { c.PluginPaths = r.paths(v) },
		"plugin_limits": func(v value) { r.mapping(v, c.Limits.fields(r)) },
		"verify":        func(v value) { c.Verify = r.verify(v) },
		"reports":       func(v value) { c.Reports.Commands = r.reports(v) },
		"evidence": func(v value) {
			c.Evidence = Evidence(r.oneOf(v, string(EvidenceReports), string(EvidenceStamps)))
		},
		"audit": func(v value) {
			r.mapping(v, fields{
				"agents":       func(v value) { c.Audit.Agents = r.agents(v) },
				"search_tools": func(v value) { c.Audit.SearchTools = r.tools(v) },
			})
		},
		"research": func(v value) {
			r.mapping(v, fields{
				"agents": func(v value) { c.Researchers = r.integer(v, 1, maxResearchers) },
			})
		},
		"phases": func(v value) { c.Phases = r.phases(v) },
		"base":   func(v value) { c.Base = r.text(v) },
		"spawn":  func(v value) { c.Spawn.read(r, v) },
		"economy": func(v value) {
			c.Economy = r.oneOf(v, EconomyOff, EconomyLite, EconomyFull, EconomyUltra)
		},
		"budget":  func(v value) { c.Budget.read(r, v) },
		"metrics": func(v value) { c.Metrics.read(r, v) },
	}
}

func invalidConfig(format string, args ...any) *errs.Error {
	f := errs.New(errs.ConfigInvalid, ConfigFile+format, args...)
	return f.With("path", ConfigFile)
}
