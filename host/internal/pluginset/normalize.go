package pluginset

import (
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Report is a normalised report.
type Report struct {
	Path   string
	Digest string
	// Command is the command that printed it, and Run the run of the agent that wrote it; both
	// are "" if the caller gave it.
	Command, Run string
	// Confinement is the level of its critic or tool, "" if unknown, which counts as "none".
	Confinement confinement.Level
	Plugin      plugins.Identity
	Result      plugins.Result
	// Took is the plugin's run time.
	Took time.Duration
}

// ReadsDraft reports whether a command or an agent that Switchyard started wrote the report.
// A report that the caller gave does not say which files it is about.
func (r Report) ReadsDraft() bool { return r.Command != "" || r.Run != "" }

// ReportRef splits [PLUGIN=]FILE. The text before the first "=" is a plugin if it is a
// plugin's name or a module's path, or if it exists and the whole text does not: then it
// is a directory of plugins, or reading the report fails. Otherwise the whole text is a file
// with "=" in its name, for plugin.
func (s *Set) ReportRef(text, plugin string) api.ReportRef {
	before, after, ok := strings.Cut(text, "=")
	if ok && before != "" &&
		(abi.IsName(before) || strings.HasSuffix(before, project.ModuleSuffix) || !s.project.Exists(text) && s.project.Exists(before)) {
		return api.ReportRef{Plugin: before, Path: after}
	}
	return api.ReportRef{Plugin: plugin, Path: text}
}

// NormalizeAll reads and normalises reports in order. It ends at the first error: a
// decision needs all of its reports.
func (s *Set) NormalizeAll(ctx context.Context, refs []api.ReportRef, stdin io.Reader, config project.Config) ([]Report, error) {
	resolver := s.Resolver(config)
	if err := resolver.CheckSettings(ctx, false); err != nil {
		return nil, err
	}
	all := make([]Report, 0, len(refs))
	for _, ref := range refs {
		report, err := resolver.Normalize(ctx, ref, stdin)
		if err != nil {
			return nil, errs.With(err, "report", cmp.Or(ref.Name, ref.Path))
		}
		all = append(all, report)
	}
	return all, nil
}

// Normalize reads a report and normalises it.
func (r *Resolver) Normalize(ctx context.Context, ref api.ReportRef, stdin io.Reader) (Report, error) {
	prepared, err := r.prepare(ctx, ref, stdin)
	if err != nil {
		return Report{}, err
	}
	begin := time.Now()
	result, err := prepared.plugin.Normalize(ctx, prepared.document, prepared.config)
	if err != nil {
		return Report{}, err
	}
	paths := newPathMapper(r.tree)
	defer paths.close()
	paths.apply(result.Findings)
	redactAll(result)
	return Report{Path: cmp.Or(ref.Name, ref.Path), Digest: prepared.report, Plugin: prepared.plugin.Identity(), Result: result, Took: time.Since(begin)}, nil
}

// redactAll removes the secrets that a critic quotes, before a finding is identified, stored or
// shown to the next agent, and those in the reasons of skipped items. Names of files stay, because
// readers look for the files, and so does the report itself.
func redactAll(r plugins.Result) {
	for i := range r.Skipped {
		r.Skipped[i].Reason = redact.Text(r.Skipped[i].Reason)
	}
	for i := range r.Unmapped {
		r.Unmapped[i].Rule = redact.Text(r.Unmapped[i].Rule)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Critic, f.Category, f.Remediation = redact.Text(f.Critic), redact.Text(f.Category), redact.Text(f.Remediation)
		for j := range f.ConfirmedBy {
			f.ConfirmedBy[j] = redact.Text(f.ConfirmedBy[j])
		}
		for j := range f.Sources {
			f.Sources[j].Critic = redact.Text(f.Sources[j].Critic)
			raw := &f.Sources[j].Raw
			text := redact.Text(string(*raw))
			if text == string(*raw) {
				continue
			}
			*raw = jsontext.Value(text)
			if !raw.IsValid() { // A key without an end extends to the end.
				*raw, _ = jsontext.AppendQuote(nil, text) // It fails only for invalid UTF-8.
			}
		}
	}
}

// Normalize runs a plugin on one report.
func (s *Set) Normalize(ctx context.Context, ref api.ReportRef, stdin io.Reader) (api.NormalizedReport, error) {
	config, err := s.Config(ctx, ref)
	if err != nil {
		return api.NormalizedReport{}, err
	}
	all, err := s.NormalizeAll(ctx, []api.ReportRef{ref}, stdin, config)
	if err != nil {
		return api.NormalizedReport{}, err
	}
	return api.NormalizedReport{Plugin: all[0].Plugin, Report: all[0].Digest, Result: all[0].Result}, nil
}

// preparedReport is everything that a plugin needs to normalise a report.
type preparedReport struct {
	report   string // its digest, as it was read
	plugin   *plugins.Plugin
	document *document.Document
	config   jsontext.Value // the project's configuration of the plugin, or nil
	limits   plugins.Limits
}

// prepare reads a report, and finds and loads its plugin.
func (r *Resolver) prepare(ctx context.Context, ref api.ReportRef, stdin io.Reader) (preparedReport, error) {
	source, err := r.source(ctx, ref.Path, stdin)
	if err != nil {
		return preparedReport{}, err
	}
	plugin, err := r.choose(ctx, ref.Plugin, source)
	if err != nil {
		return preparedReport{}, err
	}
	config := r.config.Plugins[plugin.Identity().Name].Settings
	doc, err := plugin.Document(source, config)
	if err != nil {
		return preparedReport{}, err
	}
	return preparedReport{
		report: source.Digest(), plugin: plugin, document: doc, config: config, limits: r.runtime.Limits(),
	}, nil
}

// source reads a report of at most the configured size.
func (r *Resolver) source(ctx context.Context, path string, stdin io.Reader) (*document.Source, error) {
	limits := r.reportLimits()
	var data []byte
	var err error
	if path == api.Stdin {
		data, err = project.ReadAll(ctx, stdin, "standard input", limits.Bytes)
	} else {
		data, err = r.project.Read(ctx, path, limits.Bytes)
	}
	if errs.CodeOf(err) == errs.FileTooLarge {
		err = document.TooLarge(limits.Bytes)
	}
	if err != nil {
		return nil, err
	}
	return document.Read(data, limits)
}

func (r *Resolver) reportLimits() document.Limits {
	return document.Limits{Bytes: r.config.Limits.Report}.WithDefaults()
}

// CheckSubject compares the task and the round that reports name with the given ones. If
// the task is "" or the round is 0, it is taken from the reports, which must agree. It
// returns the round, 0 if no report names one.
func CheckSubject(reports []Report, task string, round int) (int, error) {
	expected := &task
	if task == "" {
		expected = nil
	}
	for _, r := range reports {
		if id := r.Result.TaskID; id != nil {
			if expected == nil {
				expected = id
			}
			if *id != *expected {
				return 0, errs.New(errs.ReportWrongTask, "the report is about task %q, not %q", *id, *expected).
					With("report", r.Path).With("expected", *expected).With("actual", *id)
			}
		}
		if n := r.Result.Round; n != nil {
			if round == 0 {
				round = *n
			}
			if *n != round {
				return 0, errs.New(errs.ReportWrongRound, "the report is about round %d, not round %d", *n, round).
					With("report", r.Path).With("expected", round).With("actual", *n)
			}
		}
	}
	return round, nil
}
