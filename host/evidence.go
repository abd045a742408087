package host

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/project"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/plugins/report"
)

// Auto stands for the one plugin that recognises a report.
const Auto = "auto"

// Stdin as a report's path is standard input.
const Stdin = "-"

// maxPlugin is the largest plugin module, in bytes.
const maxPlugin = 8 << 20

// ReportRef names a report and the plugin that reads it.
type ReportRef struct {
	// Plugin is a built-in plugin's name, the path of a .wasm file, or Auto.
	Plugin string
	// Path is a file, or Stdin.
	Path string
}

// evidence is a report as its plugin understood it.
type evidence struct {
	path   string
	doc    *report.Document
	plugin plugins.Identity
	result plugins.Result
}

// gather reads and normalises the reports in order. The first that fails ends
// it: a decision rests on all of its evidence or is not made.
func (e *Engine) gather(ctx context.Context, refs []ReportRef, stdin io.Reader, config project.Config) ([]evidence, error) {
	if len(refs) == 0 {
		return nil, fault.New(CodeNoEvidence, "no report is given")
	}
	loaded := make(map[string]*plugins.Plugin)
	all := make([]evidence, 0, len(refs))
	for _, ref := range refs {
		ev, err := e.normalize(ctx, ref, stdin, config, loaded)
		if err != nil {
			if f, ok := errors.AsType[*fault.Error](err); ok {
				err = f.With("report", ref.Path)
			}
			return nil, err
		}
		all = append(all, ev)
	}
	return all, nil
}

func (e *Engine) normalize(ctx context.Context, ref ReportRef, stdin io.Reader, config project.Config, loaded map[string]*plugins.Plugin) (evidence, error) {
	data, err := e.read(ctx, ref.Path, stdin)
	if err != nil {
		return evidence{}, err
	}
	doc, err := report.Parse(data, report.Limits{})
	if err != nil {
		return evidence{}, err
	}
	plugin, err := e.plugin(ctx, ref.Plugin, doc, loaded)
	if err != nil {
		return evidence{}, err
	}
	result, err := plugin.Normalize(ctx, doc, config.Plugins[plugin.Identity().Name])
	if err != nil {
		return evidence{}, err
	}
	return evidence{path: ref.Path, doc: doc, plugin: plugin.Identity(), result: result}, nil
}

func (e *Engine) read(ctx context.Context, path string, stdin io.Reader) ([]byte, error) {
	var data []byte
	var err error
	if path == Stdin {
		data, err = project.Drain(ctx, stdin, "standard input", report.DefaultBytes)
	} else {
		data, err = e.project.Read(ctx, path, report.DefaultBytes)
	}
	if fault.CodeOf(err) == project.CodeTooLarge {
		err = report.TooLarge(report.DefaultBytes)
	}
	return data, err
}

// plugin finds the plugin for a report. loaded keeps the modules read from
// files, so that one that reads several reports is compiled once.
func (e *Engine) plugin(ctx context.Context, name string, doc *report.Document, loaded map[string]*plugins.Plugin) (*plugins.Plugin, error) {
	switch {
	case name == Auto:
		return e.catalog.Detect(doc)
	case !IsPluginFile(name):
		return e.catalog.Named(name)
	}
	if p, ok := loaded[name]; ok {
		return p, nil
	}
	wasm, err := e.project.Read(ctx, name, maxPlugin)
	if err != nil {
		return nil, err
	}
	p, err := e.runtime.Load(ctx, wasm)
	if err == nil {
		loaded[name] = p
	}
	return p, err
}

// IsPluginFile reports whether a plugin is named by the path of its module.
func IsPluginFile(name string) bool { return strings.HasSuffix(name, ".wasm") }

// bind holds what the reports say they are about against the task and the round
// that they are given for. An empty task or a round of 0 is not known yet and
// is taken from the reports, which must then agree. It returns the round, 0
// where nobody names one.
func bind(all []evidence, task string, round int) (int, error) {
	expected := &task
	if task == "" {
		expected = nil
	}
	for _, ev := range all {
		if id := ev.result.TaskID; id != nil {
			if expected == nil {
				expected = id
			}
			if *id != *expected {
				return 0, fault.New(CodeWrongTask, "the report is about task %q, not %q", *id, *expected).
					With("report", ev.path).With("expected", *expected).With("actual", *id)
			}
		}
		if n := ev.result.Round; n != nil {
			if round == 0 {
				round = *n
			}
			if *n != round {
				return 0, fault.New(CodeWrongRound, "the report is about round %d, not round %d", *n, round).
					With("report", ev.path).With("expected", round).With("actual", *n)
			}
		}
	}
	return round, nil
}
