package host

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/project"
	"github.com/switchyard-dev/switchyard/spawner/adapter"
	"github.com/switchyard-dev/switchyard/spawner/agent"
	"github.com/switchyard-dev/switchyard/spawner/environ"
	"github.com/switchyard-dev/switchyard/spawner/process"
	"github.com/switchyard-dev/switchyard/spawner/redact"
)

// Health is what Diagnose found.
type Health struct {
	// OK says that nothing that the project needs is broken.
	OK       bool            `json:"ok"`
	Root     string          `json:"root"`
	Checks   []Check         `json:"checks"`
	Adapters []AdapterHealth `json:"adapters"`
	Agents   []AgentHealth   `json:"agents"`
}

// Check is one thing that was looked at.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Text says what was found.
	Text string `json:"text"`
}

// AdapterHealth says whether an adapter's CLI can be used.
type AdapterHealth struct {
	Name string `json:"name"`
	// Used says that the project's settings name it.
	Used bool `json:"used"`
	OK   bool `json:"ok"`
	// Binary is the program's path, "" where there is none, and Version what it
	// says of itself, "" where it says nothing.
	Binary  string `json:"binary,omitzero"`
	Version string `json:"version,omitzero"`
	// Tested lists the versions that the adapter was held against, and
	// KnownVersion says that this is one of them.
	Tested       []string `json:"tested,omitzero"`
	KnownVersion bool     `json:"known_version"`
	// Missing are flags that the adapter needs and the program's help does not
	// name.
	Missing []string `json:"missing_flags,omitzero"`
	// Problem says why it cannot be used, "" for no reason.
	Problem string `json:"problem,omitzero"`
}

// AgentHealth is an agent or a module that a name leads to.
type AgentHealth struct {
	Name string `json:"name"`
	// Path is relative to the project's root, "" for ours.
	Path   string `json:"path,omitzero"`
	Module bool   `json:"module,omitzero"`
	// Problem says why it cannot be spawned, "" for no reason.
	Problem string `json:"problem,omitzero"`
}

// Diagnose looks at what the project's commands rely on. It changes nothing, and
// starts each adapter's program to ask for its version and its help.
func (e *Engine) Diagnose(ctx context.Context) (Health, error) {
	h := Health{OK: true, Root: e.project.Root}
	config, err := e.Config(ctx)
	if err == nil {
		err = e.newShelf(config).checkSettings(ctx, true)
	}
	h.check(project.ConfigFile, err, "is valid, or not there")
	report, err := e.Verify(ctx)
	if err == nil && !report.Sound() {
		err = fmt.Errorf("%d problems: switchyard ledger verify lists them", len(report.Problems))
	}
	h.check("ledger", err, fmt.Sprintf("%d events, intact", report.Events))
	h.check("environment", environ.Guard(e.environ), "not that of a spawned agent")
	if ctx.Err() != nil {
		return h, context.Cause(ctx)
	}
	catalog, err := e.catalog(ctx, config)
	if err = cmp.Or(err, trusted(config.Spawn)); err != nil {
		h.check("adapters", err, "")
		catalog, config.Spawn.Command = adapter.NewCatalog(), nil // Asking runs what they name.
	}
	keeper, err := e.keeper()
	if err != nil {
		return h, err
	}
	used := usedAdapters(config)
	names := catalog.Names()
	h.Adapters = make([]AdapterHealth, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			h.Adapters[i] = e.examine(ctx, keeper, catalog, name, config)
			h.Adapters[i].Used = slices.Contains(used, name)
		})
	}
	all.Wait()
	for _, a := range h.Adapters {
		h.OK = h.OK && (a.OK || !a.Used)
	}
	for _, listed := range (agent.Library{Root: e.project.Root}).List() {
		a := AgentHealth{Name: listed.Name, Path: listed.Definition.Path, Module: listed.Definition.Module}
		if problem := unspawnable(listed.Err, listed.Definition); problem != nil {
			a.Problem = problem.Error()
		}
		h.Agents = append(h.Agents, a)
		h.OK = h.OK && listed.Err == nil
	}
	return h, context.Cause(ctx)
}

// unspawnable is why an agent cannot be spawned; a module is not meant to be.
func unspawnable(err error, d agent.Definition) error {
	if err == nil && !d.Module {
		return d.Spawnable()
	}
	return err
}

func (h *Health) check(name string, err error, fine string) {
	c := Check{Name: name, OK: err == nil, Text: fine}
	if err != nil {
		c.Text, h.OK = err.Error(), false
	}
	h.Checks = append(h.Checks, c)
}

// usedAdapters are those that the settings name.
func usedAdapters(config project.Config) []string {
	var used []string
	all := []project.SpawnAgent{config.Spawn.SpawnAgent}
	for _, a := range config.Spawn.Agents {
		all = append(all, a)
	}
	for _, a := range all {
		used = append(append(used, a.Adapter), a.Fallback...)
	}
	return used
}

// The limits of asking a program about itself.
const (
	askTime  = 30 * time.Second
	askBytes = 4 << 20
)

// examine looks for an adapter's program and asks it about itself.
func (e *Engine) examine(ctx context.Context, k *process.Keeper, catalog *adapter.Catalog, name string, config project.Config) AdapterHealth {
	h := AdapterHealth{Name: name}
	a, err := catalog.Get(name)
	if err != nil {
		h.Problem = err.Error()
		return h
	}
	h.Tested = a.Tested()
	if h.Binary, err = a.Binary(e.environ, e.project.Root, config.Spawn.Command); err != nil {
		h.Problem = err.Error()
		return h
	}
	needs := a.Needs()
	help := ""
	for _, args := range append([][]string{needs.Version}, needs.Help...) {
		if len(args) == 0 {
			continue
		}
		text, err := e.ask(ctx, k, append([]string{h.Binary}, args...))
		if err != nil {
			h.Problem = fmt.Sprintf("%s: %s", strings.Join(args, " "), err)
			return h
		}
		if slices.Equal(args, needs.Version) && h.Version == "" {
			h.Version = version(text)
		} else {
			help += text
		}
	}
	for _, flag := range needs.Flags {
		if !mentions(help, flag) {
			h.Missing = append(h.Missing, flag)
		}
	}
	h.KnownVersion = len(h.Tested) == 0 || slices.ContainsFunc(h.Tested, func(t string) bool { return h.Version == t || strings.HasPrefix(h.Version, t+".") })
	if h.OK = len(h.Missing) == 0; !h.OK {
		h.Problem = "its help does not name " + strings.Join(h.Missing, ", ")
	}
	return h
}

// version is the version in what a program says of itself, or the start of that.
func version(text string) string {
	if v := regexp.MustCompile(`\d+(\.\d+)+([0-9A-Za-z.+-]*[0-9A-Za-z])?`).FindString(text); v != "" {
		return v
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return cut(line, 80)
}

// mentions reports whether a help text names a flag, and not only a longer one.
func mentions(help, flag string) bool {
	return regexp.MustCompile(`(^|[^A-Za-z0-9-])` + regexp.QuoteMeta(flag) + `($|[^A-Za-z0-9-])`).MatchString(help)
}

// ask runs a program that says something of itself.
func (e *Engine) ask(ctx context.Context, k *process.Keeper, argv []string) (string, error) {
	dir, err := os.MkdirTemp("", "switchyard-ask-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	f, err := os.OpenFile(filepath.Join(dir, "output"), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	result, err := k.Run(ctx, process.Spec{
		Argv: argv, Dir: dir, Env: append(environ.Child(e.environ, environ.Policy{}), "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir),
		Output: f, OutputLimit: askBytes, Timeout: askTime, Grace: time.Second,
	})
	if err != nil {
		if f := fault.CodeOf(err); f != "" {
			return "", err
		}
		return "", cmp.Or(context.Cause(ctx), err)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, askBytes))
	switch {
	case err != nil:
		return "", err
	case result.End != process.Exited:
		return "", fmt.Errorf("%s", result.End)
	case result.ExitCode != 0:
		return "", fmt.Errorf("exit code %d: %s", result.ExitCode, cut(redact.Text(string(bytes.TrimSpace(text))), 200))
	}
	return string(text), nil
}
