// Package doctor checks the prerequisites of a project's commands.
package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/query"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Doctor checks a project.
type Doctor struct {
	project *core.Project
	reader  *query.Reader
}

// New returns a Doctor of p. It verifies the ledger with reader. The caller closes p after it.
func New(p *core.Project, reader *query.Reader) *Doctor { return &Doctor{p, reader} }

type diagnosis struct{ api.Health }

// Diagnose checks the prerequisites of the project's commands and, if deep is set, every
// event of the ledger. It does not change the project. It runs each adapter's program to ask
// for its version and its help, and adds and removes a worktree. If probe is set, it also
// runs the executor's adapter once, which costs money.
func (d *Doctor) Diagnose(ctx context.Context, deep, probe bool) (api.Health, error) {
	h := diagnosis{api.Health{OK: true, Root: d.project.Root}}
	config, err := d.project.Config(ctx)
	readable := err == nil
	if readable {
		err = d.project.Plugins().Resolver(config).CheckSettings(ctx, true)
	}
	h.check(project.ConfigFile, err, present(d.project.AtRoot(), project.ConfigFile, "is not there: the defaults apply"))
	if readable {
		if d.project.AtRoot().Exists(project.ConfigFile) {
			h.check("ownership", cmp.Or(config.Verify.CheckTrusted(), config.Reports.CheckTrusted(), config.Metrics.CheckTrusted(), config.Spawn.CheckTrusted()), "what "+project.ConfigFile+" runs is yours")
		}
		d.checkPlugins(ctx, &h)
		destinations := d.checkPolicy(ctx, &h, config)
		d.checkRun(ctx, &h, config, destinations, probe)
		d.showConfinement(&h, config)
		if config.Base != "" {
			_, err := d.project.NewBase(ctx, "", config)
			h.check("base", err, "drafts begin at the merge base with "+config.Base)
		}
	}
	d.checkLedger(ctx, &h, deep)
	if err := prompt.Check(d.project.Root); err != nil {
		h.check("prompts", err, "")
	}
	h.check("environment", childenv.Guard(d.project.Environ), "not that of a spawned agent")
	if ctx.Err() != nil {
		return h.Health, context.Cause(ctx)
	}
	catalog, err := agents.Catalog(ctx, d.project, config)
	if err = cmp.Or(err, config.Spawn.CheckTrusted()); err != nil {
		h.check("adapters", err, "")
		catalog, config.Spawn.Command = adapter.NewCatalog(), nil // Asking would run untrusted programs.
	} else {
		for _, name := range config.Spawn.UsedAdapters() {
			if _, err := catalog.Get(name); err != nil && name != "" { // Unreadable settings have an empty one.
				h.check("adapters", err, "")
			}
		}
	}
	d.checkAdapters(ctx, &h, catalog, config)
	for _, listed := range (definition.Library{Root: d.project.Root}).List() {
		def, problem := listed.Definition, listed.Err
		a := api.AgentHealth{Name: listed.Name, Path: def.Path, Module: def.Module, Broken: problem != nil}
		if problem == nil && !def.Module { // A module is never spawned.
			problem = def.Spawnable(def.Profile)
		}
		if problem != nil {
			a.Problem = problem.Error()
		}
		h.Agents = append(h.Agents, a)
		h.OK = h.OK && listed.Err == nil
	}
	return h.Health, context.Cause(ctx)
}

// present returns "is valid" if a file exists, else absent.
func present(p project.Project, file, absent string) string {
	if p.Exists(file) {
		return "is valid"
	}
	return absent
}

// checkPlugins loads the project's plugins as its lock pins them.
func (d *Doctor) checkPlugins(ctx context.Context, h *diagnosis) {
	_, err := d.project.Lock(ctx)
	h.check(project.LockFile, err, present(d.project.AtRoot(), project.LockFile, "is not there: no plugin is pinned"))
	if err != nil {
		return
	}
	all, err := d.project.Plugins().List(ctx)
	own, named := 0, 0
	for _, p := range all.Plugins {
		switch {
		case p.Use != "":
			named++ // The plugin's entry reports its problem.
		case p.Problem != nil:
			h.check("plugins", errs.New(p.Problem.Code, "%s", p.Problem.Message), "")
		case p.Path != "":
			own++
		}
	}
	if err != nil || all.OK {
		h.check("plugins", err, fmt.Sprintf("%d built in, %d of the project", len(all.Plugins)-own-named, own))
	}
}

// checkPolicy loads the policy that a round would use, and returns its destinations, nil if
// it cannot be loaded.
func (d *Doctor) checkPolicy(ctx context.Context, h *diagnosis, config project.Config) map[string]routing.Destination {
	c, err := d.project.Policies().Select(ctx, "", config)
	if err == nil {
		// checkLedger reports a ledger that cannot be opened.
		if l, open := d.project.OpenLedger(ctx); open == nil {
			c, err = d.project.Policies().CheckAdopted(ctx, l, c)
			_ = l.Close() // It was only read.
		}
	}
	if err != nil {
		h.check("policy", err, "")
		return nil
	}
	id := c.Identity()
	h.check("policy", nil, fmt.Sprintf("%s %s (%s) can decide", id.Name, id.Version, id.ADR))
	return c.Destinations()
}

// checkLedger opens the ledger and reads its last event or, if deep is set, all of them.
func (d *Doctor) checkLedger(ctx context.Context, h *diagnosis, deep bool) {
	var events int64
	l, err := d.project.OpenLedger(ctx)
	if err == nil {
		defer l.Close()
		events, err = l.Last(ctx)
	}
	fine := fmt.Sprintf("%d events, readable; doctor --deep verifies them", events)
	switch {
	case err != nil:
	case events == 0:
		fine = "is empty: nothing was recorded yet"
	case deep:
		var report query.Verified
		report, err = d.reader.Verify(ctx)
		switch {
		case err != nil:
		case !report.Sound():
			err = errs.New(errs.LedgerTampered, "%s: switchyard ledger verify lists them", textutil.Count(len(report.Problems), "problem"))
		case len(report.Transcripts.Altered) > 0:
			err = errs.New(errs.TranscriptAltered, "%s changed: switchyard ledger verify lists them", textutil.Count(len(report.Transcripts.Altered), "transcript"))
		}
		fine = fmt.Sprintf("%d events, intact", report.Events)
	}
	h.check("ledger", err, fine)
}

// checkAdapters asks the program of each adapter for its version and flags. If the project
// configures no agents, its default adapter counts only if its program is installed.
func (d *Doctor) checkAdapters(ctx context.Context, h *diagnosis, catalog *adapter.Catalog, config project.Config) {
	keeper, err := d.project.Supervisor()
	if h.check("processes", err, supervise.Cleanup()); err != nil {
		return
	}
	used, names := config.Spawn.UsedAdapters(), catalog.Names()
	h.Adapters = make([]api.AdapterHealth, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			a := d.examine(ctx, keeper, catalog, name, config)
			a.Used = slices.Contains(used, name) && (config.Spawn.Given || a.Binary != "")
			h.Adapters[i] = a
		})
	}
	all.Wait()
	for _, a := range h.Adapters {
		h.OK = h.OK && (a.OK || !a.Used)
	}
}

// check adds the result of a check; fine is its text if err is nil.
func (h *diagnosis) check(name string, err error, fine string) {
	c := api.Check{Name: name, OK: err == nil, Text: fine}
	if err != nil {
		h.OK = false
		c.Text = strings.TrimLeft(strings.TrimPrefix(err.Error(), name), ": ")
		c.Code = errs.CodeOf(err)
		if f, ok := errors.AsType[*errs.Error](err); ok {
			if problems, _ := f.Details["problems"].([]string); len(problems) > 1 {
				c.Problems = problems
			}
		}
	}
	h.Checks = append(h.Checks, c)
}

// Limits for one query of an adapter's program.
const (
	askTime  = 30 * time.Second
	askBytes = 4 << 20
)

// examine finds an adapter's program and asks for its version and flags.
func (d *Doctor) examine(ctx context.Context, k *supervise.Supervisor, catalog *adapter.Catalog, name string, config project.Config) api.AdapterHealth {
	h := api.AdapterHealth{Name: name}
	a, err := catalog.Get(name)
	if err != nil {
		h.Problem = err.Error()
		return h
	}
	h.Tested = a.Tested()
	if h.Binary, err = a.Binary(d.project.Environ, d.project.Root, config.Spawn.Command); err != nil {
		h.Problem = err.Error()
		return h
	}
	needs := a.Needs()
	help := ""
	for _, args := range append([][]string{needs.Version}, needs.Help...) {
		if len(args) == 0 {
			continue
		}
		text, err := d.ask(ctx, k, append([]string{h.Binary}, args...))
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

// version extracts the version from a program's output, or returns the start of its first
// line.
func version(text string) string {
	if v := regexp.MustCompile(`\d+(\.\d+)+([0-9A-Za-z.+-]*[0-9A-Za-z])?`).FindString(text); v != "" {
		return v
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return textutil.FitBytes(line, 80)
}

// mentions reports whether a help text names a flag as a whole word.
func mentions(help, flag string) bool {
	return regexp.MustCompile(`(^|[^A-Za-z0-9-])` + regexp.QuoteMeta(flag) + `($|[^A-Za-z0-9-])`).MatchString(help)
}

func (d *Doctor) ask(ctx context.Context, k *supervise.Supervisor, argv []string) (string, error) {
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
	result, err := k.Run(ctx, supervise.Spec{
		Argv: argv, Dir: dir, Env: append(childenv.Child(d.project.Environ), "TMPDIR="+dir, "TMP="+dir, "TEMP="+dir),
		Output: f, OutputLimit: askBytes, Timeout: askTime, Grace: time.Second,
	})
	if err != nil {
		if f := errs.CodeOf(err); f != "" {
			return "", err
		}
		return "", cmp.Or(context.Cause(ctx), err)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, askBytes))
	switch {
	case err != nil:
		return "", err
	case result.End != supervise.Exited:
		return "", fmt.Errorf("%s", result.End)
	case result.ExitCode != 0:
		return "", fmt.Errorf("exit code %d: %s", result.ExitCode, textutil.FitBytes(redact.Text(string(bytes.TrimSpace(text))), 200))
	}
	return string(text), nil
}

// showConfinement shows the level at which agents run here, and why they cannot run at a
// higher one. It starts a program at each level.
func (d *Doctor) showConfinement(h *diagnosis, config project.Config) {
	settings := config.Spawn.Confine
	reached, missing := confinement.None, []string{}
	for _, level := range confinement.Levels()[1:] {
		if !settings.Level.AtLeast(level) {
			break
		}
		if err := sandbox.Probe(level); err != nil {
			missing = append(missing, err.Error())
			if reached == confinement.None {
				break // Higher levels need more.
			}
			continue
		}
		reached = level
	}
	err := agents.CheckConfinement(d.project, config, "", d.project.Root)
	text := fmt.Sprintf("agents run at the level %s", reached)
	if settings.Level == confinement.None {
		text = "agents are not confined: spawn.confine is off"
	}
	if runtime.GOOS == "darwin" && reached != confinement.None {
		text += ", which was never tried on macOS"
	}
	h.check("confinement", err, strings.Join(append([]string{text}, missing...), "; "))
}
