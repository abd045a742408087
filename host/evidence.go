package host

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Auto stands for the one plugin that recognises a report.
const Auto = "auto"

// Stdin as a report's path is standard input.
const Stdin = "-"

// evidence is a report as its plugin understood it.
type evidence struct {
	path   string
	digest string
	// command is what printed it, "" if the caller gave it.
	command string
	plugin  plugins.Identity
	result  plugins.Result
	// took is how long the plugin ran.
	took time.Duration
}

// gather reads and normalises the reports in order. The first that fails ends
// it: a decision rests on all of its evidence or is not made.
func (e *Engine) gather(ctx context.Context, refs []ReportRef, stdin io.Reader, config project.Config) ([]evidence, error) {
	shelf := e.newShelf(config)
	if err := shelf.checkSettings(ctx, false); err != nil {
		return nil, err
	}
	all := make([]evidence, 0, len(refs))
	for _, ref := range refs {
		ev, err := e.normalize(ctx, ref, stdin, shelf)
		if err != nil {
			if f, ok := errors.AsType[*errs.Error](err); ok {
				err = f.With("report", ref.Path)
			}
			return nil, err
		}
		all = append(all, ev)
	}
	return all, nil
}

// noEvidence is the error of a decision on nothing.
func noEvidence() error { return errs.New(errs.NoEvidence, "no report is given") }

func (e *Engine) normalize(ctx context.Context, ref ReportRef, stdin io.Reader, shelf *shelf) (evidence, error) {
	ready, err := e.prepare(ctx, ref, stdin, shelf)
	if err != nil {
		return evidence{}, err
	}
	begin := time.Now()
	result, err := ready.Plugin.Normalize(ctx, ready.Document, ready.Config)
	if err != nil {
		return evidence{}, err
	}
	paths := newPathMapper(e.project.Root)
	defer paths.close()
	paths.apply(result.Findings)
	return evidence{path: ref.Path, digest: ready.Report, plugin: ready.Plugin.Identity(), result: result, took: time.Since(begin)}, nil
}

// source reads a report of at most limit bytes, 0 for the default.
func (e *Engine) source(ctx context.Context, path string, stdin io.Reader, limit int64) (*document.Source, error) {
	limits := document.Limits{Bytes: limit}.WithDefaults()
	var data []byte
	var err error
	if path == Stdin {
		data, err = project.ReadAll(ctx, stdin, "standard input", limits.Bytes)
	} else {
		data, err = e.project.Read(ctx, path, limits.Bytes)
	}
	if errs.CodeOf(err) == errs.FileTooLarge {
		err = document.TooLarge(limits.Bytes)
	}
	if err != nil {
		return nil, err
	}
	return document.Read(data, limits)
}

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
				return 0, errs.New(errs.ReportWrongTask, "the report is about task %q, not %q", *id, *expected).
					With("report", ev.path).With("expected", *expected).With("actual", *id)
			}
		}
		if n := ev.result.Round; n != nil {
			if round == 0 {
				round = *n
			}
			if *n != round {
				return 0, errs.New(errs.ReportWrongRound, "the report is about round %d, not round %d", *n, round).
					With("report", ev.path).With("expected", round).With("actual", *n)
			}
		}
	}
	return round, nil
}
