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
	reply, err := p.Ask(ctx, doc, config)
	if err != nil {
		return Result{}, err
	}
	result, err := p.understand(ctx, doc, reply)
	return result, p.named(err)
}

// Document is a report as the plugin gets it: as JSON, transcoded if need be.
//
// # Errors
//
// Those of report.Source.For.
func (p *Plugin) Document(source *report.Source) (*report.Document, error) {
	doc, err := source.For(p.formats)
	return doc, p.named(err)
}

// Reply is what a guest answered to one report.
type Reply struct {
	// Answer is what sy_normalize returned, not looked at yet.
	Answer jsontext.Value
	// Memory is the linear memory that the guest had in the end, in bytes. It
	// is kept for as long as Answer is.
	Memory int64
}

// Ask has a fresh instance of the guest answer, and does not judge the answer.
// It is for tools that look at plugins; Normalize is for those who use them.
//
// # Errors
//
// Those of Normalize that have to do with running the guest.
func (p *Plugin) Ask(ctx context.Context, doc *report.Document, config jsontext.Value) (Reply, error) {
	reply, err := p.ask(ctx, doc, config)
	return reply, p.named(err)
}

func (p *Plugin) ask(ctx context.Context, doc *report.Document, config jsontext.Value) (Reply, error) {
	m, err := p.prepare(ctx)
	if err != nil {
		return Reply{}, err
	}
	if config == nil {
		config = emptyConfig
	}
	var reply Reply
	err = p.runtime.call(ctx, m, func(ctx context.Context, g *instance) error {
		if err := g.litter(ctx); err != nil {
			return err
		}
		rep, err := g.give(ctx, doc.Bytes())
		if err != nil {
			return err
		}
		conf, err := g.give(ctx, config)
		if err != nil {
			return err
		}
		if rep.overlaps(conf) {
			return broken(CodeABI, Overlap, "%s handed out the same memory twice", exportAlloc)
		}
		packed, err := g.invoke(ctx, exportNormalize, uint64(rep.ptr), uint64(rep.len), uint64(conf.ptr), uint64(conf.len))
		if err != nil {
			return err
		}
		answer, err := g.take(packed)
		if err != nil {
			return err
		}
		// No instance uses this memory after the call, so the view stays.
		reply = Reply{Answer: answer, Memory: int64(g.Memory().Size())}
		return nil
	})
	return reply, err
}

// understand holds an answer against the ABI and the report. The guest has had
// its time; this has its own.
func (p *Plugin) understand(ctx context.Context, doc *report.Document, reply Reply) (Result, error) {
	out, err := decodeOutput(reply.Answer)
	if err != nil {
		return Result{}, err
	}
	if out.Error != nil {
		return Result{}, out.Error.fault()
	}
	ctx, cancel := p.runtime.deadline(ctx)
	defer cancel()
	return account(ctx, p, doc, out)
}

// named says in an error's details which plugin it is about.
func (p *Plugin) named(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.With("plugin", p.identity.Name+"@"+p.identity.Version)
	}
	return err
}

// describe asks a guest what it is.
func (r *Runtime) describe(ctx context.Context, m *module) (Description, error) {
	var answer []byte
	err := r.call(ctx, m, func(ctx context.Context, g *instance) error {
		packed, err := g.invoke(ctx, exportDescribe)
		if err != nil {
			return err
		}
		answer, err = g.take(packed)
		return err
	})
	if err != nil {
		return Description{}, err
	}
	return decodeDescription(answer)
}
