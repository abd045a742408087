package plugins

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/plugins/report"
)

// Normalize runs the plugin over a report. config is the plugin's own
// configuration, one JSON object; nil means none.
//
// # Errors
//
// The guest's own code where it refuses the report, else one of this package's
// codes; every one carries the plugin's name and version. A cancelled context
// yields its cause.
func (p *Plugin) Normalize(ctx context.Context, doc *report.Document, config jsontext.Value) (Result, error) {
	result, err := p.normalize(ctx, doc, config)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return Result{}, f.With("plugin", p.identity.Name+"@"+p.identity.Version)
	}
	return result, err
}

func (p *Plugin) normalize(ctx context.Context, doc *report.Document, config jsontext.Value) (Result, error) {
	m, err := p.prepare(ctx)
	if err != nil {
		return Result{}, err
	}
	if config == nil {
		config = emptyConfig
	}
	var out *output
	err = p.runtime.call(ctx, m, func(ctx context.Context, g *instance) error {
		rep, err := g.give(ctx, doc.Bytes())
		if err != nil {
			return err
		}
		conf, err := g.give(ctx, config)
		if err != nil {
			return err
		}
		if rep.overlaps(conf) {
			return fault.New(CodeABI, "%s handed out the same memory twice", exportAlloc)
		}
		packed, err := g.invoke(ctx, exportNormalize, uint64(rep.ptr), uint64(rep.len), uint64(conf.ptr), uint64(conf.len))
		if err != nil {
			return err
		}
		answer, err := g.take(packed)
		if err != nil {
			return err
		}
		out, err = decodeOutput(answer)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	if out.Error != nil {
		return Result{}, out.Error.fault()
	}
	// The answer has had its time; what the host does with it has its own.
	ctx, cancel := p.runtime.deadline(ctx)
	defer cancel()
	return account(ctx, p, doc, out)
}

// describe asks a guest what it is.
func (r *Runtime) describe(ctx context.Context, m *module) (Description, error) {
	var d Description
	err := r.call(ctx, m, func(ctx context.Context, g *instance) error {
		packed, err := g.invoke(ctx, exportDescribe)
		if err != nil {
			return err
		}
		answer, err := g.take(packed)
		if err != nil {
			return err
		}
		d, err = decodeDescription(answer)
		return err
	})
	if err != nil { // A guest that was left behind may still write to d.
		return Description{}, err
	}
	return d, nil
}
