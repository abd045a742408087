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

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Options say how to test.
type Options struct {
	// Corpus is a folder of golden cases, "" for none. See Case.
	Corpus string
	// Limits are those that the plugin has to live with; a zero field takes its
	// default. The interpreter gets ten times the time.
	Limits plugins.Limits
	// CacheDir is that of plugins.Config.
	CacheDir string
}

// Report is the outcome of a run.
type Report struct {
	// Plugin says which plugin it was. It is empty where the module could not
	// be loaded.
	Plugin plugins.Identity `json:"plugin"`
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
	k := &kit{ctx: ctx, wasm: wasm, options: o, report: Report{Size: len(wasm)}}
	defer k.close()
	err := k.run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return k.report, err
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
	ctx     context.Context
	wasm    []byte
	options Options
	report  Report

	runtimes []*plugins.Runtime
	plugin   *plugins.Plugin
	cases    []loadedCase
}

func (k *kit) run() error {
	if !k.module() {
		return nil
	}
	for _, group := range []func(){k.corpus, k.determinism, k.hostile, k.limits} {
		if k.ctx.Err() != nil {
			return nil
		}
		group()
	}
	return nil
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
		config.Limits.Time = 10 * cmp.Or(config.Limits.Time, plugins.DefaultTime)
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
	k.report.Checks = append(k.report.Checks, Check{group, name, status, detail})
}

// check adds a check that fails where err is not nil.
func (k *kit) check(group Group, name string, err error) {
	if k.ctx.Err() != nil {
		return // Whatever failed, it may be for that.
	}
	if err != nil {
		k.add(group, name, Fail, explain(err))
		return
	}
	k.add(group, name, Pass, "")
}

// explain says an error with its code, and what to do about it.
func explain(err error) string {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err.Error()
	}
	text := fmt.Sprintf("%s: %s", f.Code, f.Message)
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

func sameDescription(a, b plugins.Description) bool {
	return a.Name == b.Name && a.Version == b.Version && a.Critic == b.Critic && slices.Equal(a.Formats, b.Formats) &&
		slices.Equal(a.Detect, b.Detect) && slices.Equal(a.DetectAny, b.DetectAny) && slices.Equal(a.Items, b.Items)
}

// since says how long ago that was, in words for people.
func since(start time.Time) string { return time.Since(start).Round(10 * time.Microsecond).String() }
