// Package plugintest is the conformance kit for normalizers, which switchyard plugin test
// runs. Authors of plugins can call it from Go tests.
//
// It checks a module against ABI v1 and runs the golden cases of a corpus. Then it tests the
// plugin with reports that are truncated, deeply nested, very large, in the wrong encoding or
// of wrong types, with other initial memory, and on a second engine. A plugin passes if it
// always answers correctly, or refuses a report with a code of its own.
package plugintest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Options configure a run.
type Options struct {
	// Corpus is a directory of golden cases, or "". switchyard plugin test --help lists the
	// members of a case.
	Corpus string
	// Limits are the limits of the plugin. The interpreter gets ten times the time.
	Limits abi.Limits
	// CacheDir is as in plugins.Config.
	CacheDir string
	// Read reads a file of the corpus. It must fail if the file has more than limit bytes.
	// By default any file is read.
	Read func(ctx context.Context, path string, limit int64) ([]byte, error)
	// Time limits the whole run; the default is two minutes. A plugin that needs longer
	// fails, as does one that often reaches its own time limit. The remaining checks are
	// then not run.
	Time time.Duration
}

// A plugin of the Go toolchain needs about ten seconds for a run. After maxTimeouts reports
// that reach the plugin's time limit, the run ends.
const (
	defaultTime = 2 * time.Minute
	maxTimeouts = 5
)

// Report is the result of a run.
type Report struct {
	// Plugin identifies the plugin. It is empty if the module could not be loaded.
	Plugin abi.Identity `json:"plugin"`
	// Size is the size of the module, in bytes.
	Size   int     `json:"size"`
	Passed int     `json:"passed"`
	Failed int     `json:"failed"`
	Checks []Check `json:"checks"`
}

// Check is the result of one check.
type Check struct {
	Group  Group  `json:"group"`
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Detail is the reason for a failure or a skip, or a measurement.
	Detail string `json:"detail,omitzero"`
}

// Group is a kind of checks.
type Group string

// The groups, in the order of a run.
const (
	GroupModule      Group = "module"
	GroupCorpus      Group = "corpus"
	GroupDeterminism Group = "determinism"
	GroupHostile     Group = "hostile input"
	GroupLimits      Group = "limits"
)

// Groups lists the groups in the order of a run.
func Groups() []Group {
	return []Group{GroupModule, GroupCorpus, GroupDeterminism, GroupHostile, GroupLimits}
}

// Status is the outcome of a check.
type Status string

// The outcomes. A check without a subject is skipped; its detail has the reason.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip"
)

// OK reports whether the plugin passed: no check failed, and at least one passed.
func (r Report) OK() bool { return r.Failed == 0 && r.Passed > 0 }

// Run tests a module. A failing plugin is not an error. If ctx is done, Run returns the
// checks made so far and the cause of ctx.
func Run(ctx context.Context, wasm []byte, o Options) (Report, error) {
	limit := cmp.Or(o.Time, defaultTime)
	inTime, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the run took longer than %s", limit))
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
		k.add(GroupLimits, "time", Fail, fmt.Sprintf("%s; the remaining checks were not made", context.Cause(inTime)))
	}
	return k.report, nil
}

// TB is the part of testing.TB that Test needs.
type TB interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
}

// Test runs the kit in a Go test and reports every failed check.
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

// kit is one run. It is not safe for concurrent use.
type kit struct {
	ctx      context.Context // done if the run must end or k has given up
	giveUp   context.CancelCauseFunc
	timeouts int
	wasm     []byte
	options  Options
	report   Report

	runtimes []*plugins.Runtime
	plugin   *plugins.Plugin
	cases    []seed
	stored   int // bytes of the stored reports
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
		_ = r.Close(context.WithoutCancel(k.ctx))
	}
}

// runtime returns a runtime that lives as long as the kit.
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
	k.report.Checks = append(k.report.Checks, Check{group, name, status, textutil.Clip(detail, maxDetail)})
}

// maxDetail limits a detail, in code points: an answer may have megabytes.
const maxDetail = 2000

// check adds a check that fails if err is not nil.
func (k *kit) check(group Group, name string, err error) {
	if k.ctx.Err() != nil {
		return // err may be due to the end of the context.
	}
	if err != nil {
		k.fail(group, name, err)
		return
	}
	k.add(group, name, Pass, "")
}

// fail adds a check that failed with err. It ends the run if the plugin often reaches its
// time limit: hundreds of reports would follow.
func (k *kit) fail(group Group, name string, err error) {
	k.add(group, name, Fail, explain(err))
	if errs.CodeOf(err) != errs.PluginTimeout {
		return
	}
	if k.timeouts++; k.timeouts == maxTimeouts {
		k.giveUp(fmt.Errorf("the plugin reached its time limit %d times", maxTimeouts))
	}
}

// explain returns an error's text with its code and hint.
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

// module checks that the module loads, and that its description is always the same.
func (k *kit) module() bool {
	first, err := k.runtime(plugins.Config{}).Load(k.ctx, k.wasm)
	k.check(GroupModule, "loads and describes itself", err)
	if err != nil {
		return false
	}
	k.plugin = first
	k.report.Plugin = first.Identity()
	interpreted, err := k.runtime(plugins.Config{Interpret: true}).Load(k.ctx, k.wasm)
	if err == nil && !reflect.DeepEqual(first.Description(), interpreted.Description()) {
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
