// Package plugintest is the conformance kit for normalizers: what switchyard
// plugin test runs, for the tests of whoever writes a plugin in Go or beside it.
//
// It holds a module against ABI v1, runs the golden cases of a corpus, and then
// does to the plugin what the world will: reports of the wrong types, cut short,
// in the wrong encoding, deep and huge; other memory, another engine. A plugin
// passes if it answers by the rules or refuses with a name of its own, and always
// in the same way.
package plugintest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Options say how to test.
type Options struct {
	// Corpus is a folder of golden cases, "" for none. See Case.
	Corpus string
	// Limits are those that the plugin has to live with; a zero field takes its
	// default. The interpreter gets ten times the time.
	Limits abi.Limits
	// CacheDir is that of plugins.Config.
	CacheDir string
	// Read reads a file of the corpus, or fails where it has more than limit
	// bytes; nil reads any file that there is.
	Read func(ctx context.Context, path string, limit int64) ([]byte, error)
	// Time is how long the whole run may take, 0 for two minutes. A plugin that
	// needs longer fails, and so does one that runs into its own limit of time
	// again and again: both without the checks that are left.
	Time time.Duration
}

// defaultTime is how long a run may take. A plugin of the Go toolchain needs some
// ten seconds. maxTimeouts is how often a plugin may run into its limit.
const (
	defaultTime = 2 * time.Minute
	maxTimeouts = 5
)

// Report is the outcome of a run.
type Report struct {
	// Plugin says which plugin it was. It is empty where the module could not
	// be loaded.
	Plugin abi.Identity `json:"plugin"`
	// Size is that of the module, in bytes.
	Size   int     `json:"size"`
	Passed int     `json:"passed"`
	Failed int     `json:"failed"`
	Checks []Check `json:"checks"`
}

// Check is one thing that a plugin was held against.
type Check struct {
	Group  Group  `json:"group"`
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Detail says why it failed or was skipped, or what was measured.
	Detail string `json:"detail,omitzero"`
}

// Group is a kind of checks.
type Group string

// The groups, in the order in which they run.
const (
	GroupModule      Group = "module"
	GroupCorpus      Group = "corpus"
	GroupDeterminism Group = "determinism"
	GroupHostile     Group = "hostile input"
	GroupLimits      Group = "limits"
)

// Groups lists the groups in the order in which they run.
func Groups() []Group {
	return []Group{GroupModule, GroupCorpus, GroupDeterminism, GroupHostile, GroupLimits}
}

// Status is the outcome of a check.
type Status string

// The outcomes. A check is skipped where there is nothing to hold the plugin
// against, which its detail says.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip"
)

// OK reports whether nothing failed.
func (r Report) OK() bool { return r.Failed == 0 && r.Passed > 0 }

// Run tests a module. It ends early, with the checks made so far, when ctx is
// done; then the error is the context's cause. A plugin that fails is no error.
func Run(ctx context.Context, wasm []byte, o Options) (Report, error) {
	limit := cmp.Or(o.Time, defaultTime)
	inTime, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("all of it took longer than %s", limit))
	defer cancel()
	inTime, giveUp := context.WithCancelCause(inTime)
	defer giveUp(nil)
	k := &kit{ctx: inTime, giveUp: giveUp, wasm: wasm, options: o, report: Report{Size: len(wasm)}}
	defer k.close()
	k.run()
	if ctx.Err() != nil {
		return k.report, context.Cause(ctx)
	}
	if inTime.Err() != nil {
		k.add(GroupLimits, "time", Fail, fmt.Sprintf("%s; the checks that were left were not made", context.Cause(inTime)))
	}
	return k.report, nil
}

// TB is the part of testing.TB that Test needs.
type TB interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
}

// Test runs the kit in a Go test, and reports every check that fails.
func Test(t TB, wasm []byte, o Options) {
	t.Helper()
	report, err := Run(t.Context(), wasm, o)
	if err != nil {
		t.Errorf("plugin test: %v", err)
	}
	for _, c := range report.Checks {
		if c.Status == Fail {
			t.Errorf("%s: %s: %s", c.Group, c.Name, c.Detail)
		}
	}
}

// kit is one run. It belongs to one goroutine.
type kit struct {
	ctx      context.Context // done where the run has to end, or k has given up
	giveUp   context.CancelCauseFunc
	timeouts int
	wasm     []byte
	options  Options
	report   Report

	runtimes []*plugins.Runtime
	plugin   *plugins.Plugin
	cases    []loadedCase
	stored   int // bytes of the cases' reports
}

func (k *kit) run() {
	if !k.module() {
		return
	}
	for _, group := range []func(){k.corpus, k.determinism, k.hostile, k.limits} {
		if k.ctx.Err() != nil {
			return
		}
		group()
	}
}

func (k *kit) close() {
	for _, r := range k.runtimes {
		_ = r.Close(context.WithoutCancel(k.ctx)) // Nothing runs any more.
	}
}

// runtime makes a runtime that lasts as long as the kit.
func (k *kit) runtime(config plugins.Config) *plugins.Runtime {
	config.Limits = k.options.Limits
	if config.Interpret {
		config.Limits.Time = 10 * cmp.Or(config.Limits.Time, abi.DefaultTime)
	} else {
		config.CacheDir = k.options.CacheDir
	}
	r := plugins.New(config)
	k.runtimes = append(k.runtimes, r)
	return r
}

func (k *kit) add(group Group, name string, status Status, detail string) {
	switch status {
	case Pass:
		k.report.Passed++
	case Fail:
		k.report.Failed++
	}
	if points := []rune(detail); len(points) > maxDetail {
		detail = string(points[:maxDetail]) + "…"
	}
	k.report.Checks = append(k.report.Checks, Check{group, name, status, detail})
}

// maxDetail is how long a detail may be, in code points: an answer may be
// megabytes long.
const maxDetail = 2000

// check adds a check that fails where err is not nil.
func (k *kit) check(group Group, name string, err error) {
	if k.ctx.Err() != nil {
		return // Whatever failed, it may be for that.
	}
	if err != nil {
		k.fail(group, name, err)
		return
	}
	k.add(group, name, Pass, "")
}

// fail adds a check that failed with err, and gives up on a plugin that takes all
// its time again and again: there are hundreds of reports to come.
func (k *kit) fail(group Group, name string, err error) {
	k.add(group, name, Fail, explain(err))
	if errs.CodeOf(err) != errs.PluginTimeout {
		return
	}
	if k.timeouts++; k.timeouts == maxTimeouts {
		k.giveUp(fmt.Errorf("the plugin ran into its limit of time %d times", maxTimeouts))
	}
}

// explain says an error with its code, and what to do about it.
func explain(err error) string {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return err.Error()
	}
	text := fmt.Sprintf("%s: %s", f.Code, err)
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text
}

// module checks that the module loads and describes itself, always in the same
// way.
func (k *kit) module() bool {
	first, err := k.runtime(plugins.Config{}).Load(k.ctx, k.wasm)
	k.check(GroupModule, "loads and describes itself", err)
	if err != nil {
		return false
	}
	k.plugin = first
	k.report.Plugin = first.Identity()
	interpreted, err := k.runtime(plugins.Config{Interpret: true}).Load(k.ctx, k.wasm)
	if err == nil && !sameDescription(first.Description(), interpreted.Description()) {
		err = errors.New("the interpreter gets another description than the compiler")
	}
	k.check(GroupModule, "describes itself to the interpreter in the same way", err)
	d := first.Description()
	if len(d.Detect)+len(d.DetectAny) == 0 {
		k.add(GroupModule, "can be detected", Skip, "it names no detect pointers, so that its reports need --report "+d.Name+"=FILE")
	} else {
		k.add(GroupModule, "can be detected", Pass, "")
	}
	return true
}

func sameDescription(a, b abi.Description) bool {
	return a.Name == b.Name && a.Version == b.Version && a.Critic == b.Critic && slices.Equal(a.Formats, b.Formats) &&
		slices.Equal(a.Detect, b.Detect) && slices.Equal(a.DetectAny, b.DetectAny) && slices.Equal(a.Items, b.Items) &&
		a.ItemsFrom == b.ItemsFrom && a.LinesIf == b.LinesIf
}

// since says how long ago that was, in words for people.
func since(start time.Time) string { return time.Since(start).Round(10 * time.Microsecond).String() }
