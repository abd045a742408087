package host

import (
	"context"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Normalized is a report as a plugin understood it, before anything is merged.
type Normalized struct {
	Plugin plugins.Identity
	// Report is the digest of the report as it was read.
	Report string
	plugins.Result
}

// Normalize runs one plugin over one report, and keeps nothing.
func (e *Engine) Normalize(ctx context.Context, ref ReportRef, stdin io.Reader) (Normalized, error) {
	config, err := e.configFor(ctx, []ReportRef{ref})
	if err != nil {
		return Normalized{}, err
	}
	all, err := e.gather(ctx, []ReportRef{ref}, stdin, config)
	if err != nil {
		return Normalized{}, err
	}
	return Normalized{Plugin: all[0].plugin, Report: all[0].digest, Result: all[0].result}, nil
}

// Prepared is all that a plugin needs to normalise a report.
type Prepared struct {
	// Report is the digest of the report as it was read.
	Report   string
	Plugin   *plugins.Plugin
	Document *document.Document
	// Config is what the project configures for the plugin, nil for nothing.
	Config jsontext.Value
	// Limits are those that the plugin runs under.
	Limits plugins.Limits
}

// Prepare finds a report's plugin, and runs no more of it than loading needs.
func (e *Engine) Prepare(ctx context.Context, ref ReportRef, stdin io.Reader) (Prepared, error) {
	config, err := e.configFor(ctx, []ReportRef{ref})
	if err != nil {
		return Prepared{}, err
	}
	ready, err := e.prepare(ctx, ref, stdin, e.newShelf(config))
	if f, ok := errors.AsType[*errs.Error](err); ok {
		err = f.With("report", ref.Path)
	}
	return ready, err
}

func (e *Engine) prepare(ctx context.Context, ref ReportRef, stdin io.Reader, shelf *shelf) (Prepared, error) {
	source, err := e.source(ctx, ref.Path, stdin, shelf.config.Limits.Report)
	if err != nil {
		return Prepared{}, err
	}
	plugin, err := shelf.choose(ctx, ref.Plugin, source)
	if err != nil {
		return Prepared{}, err
	}
	config := shelf.config.Plugins[plugin.Identity().Name].Settings
	doc, err := plugin.Document(source, config)
	if err != nil {
		return Prepared{}, err
	}
	return Prepared{
		Report: source.Digest(), Plugin: plugin, Document: doc, Config: config, Limits: shelf.runtime.Limits(),
	}, nil
}
