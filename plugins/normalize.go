package plugins

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// Normalize runs the plugin on a report. config is the plugin's configuration, a JSON
// object, or nil.
//
// # Errors
//
// The guest's own code if it refuses the report, else a plugin-… code. The details name the
// plugin and its version. If ctx is done, its cause.
func (p *Plugin) Normalize(ctx context.Context, doc *document.Document, config jsontext.Value) (abi.Result, error) {
	reply, err := p.Ask(ctx, doc, config)
	if err != nil {
		return abi.Result{}, err
	}
	result, err := p.parseReply(ctx, doc, config, reply)
	return result, p.withPlugin(err)
}

// Document returns the report as JSON, in the form that the plugin gets with this
// configuration.
//
// # Errors
//
// The errors of document.Source.For.
func (p *Plugin) Document(source *document.Source, config jsontext.Value) (*document.Document, error) {
	if value, ok := at(config, p.description.LinesIf); ok && value.Kind() == 't' {
		doc, err := source.AsValues()
		return doc, p.withPlugin(err)
	}
	doc, err := source.For(p.formats)
	return doc, p.withPlugin(err)
}

// Items returns the patterns of the items that the plugin must account for with this
// configuration.
//
// # Errors
//
// plugin-config-invalid if the configuration's patterns are not valid, or if there are no
// patterns at all: the plugin could drop every item.
func (p *Plugin) Items(config jsontext.Value) ([]string, error) {
	more, problem := p.configuredItems(config)
	items := slices.Concat(p.description.Items, more)
	if problem == "" && len(items) == 0 {
		problem = "names no items to account for"
	}
	if problem != "" {
		return nil, p.withPlugin(errs.New(errs.PluginConfigInvalid, "%s of the configuration %s", p.description.ItemsFrom, problem).
			With("config", p.description.ItemsFrom))
	}
	return items, nil
}

// configuredItems returns the patterns of the configuration, and their problem, or "".
func (p *Plugin) configuredItems(config jsontext.Value) (more []string, problem string) {
	value, ok := at(config, p.description.ItemsFrom)
	if !ok {
		return nil, ""
	}
	if value.Kind() == '"' {
		value = slices.Concat(jsontext.Value("["), value, jsontext.Value("]"))
	}
	err := json.Unmarshal(value, &more)
	switch {
	case err != nil:
		problem = "is not a list of texts"
	case len(p.description.Items)+len(more) > maxPointers:
		problem = fmt.Sprintf("has more than %d entries", maxPointers)
	}
	for _, pointer := range more {
		if wrong := checkPointer(pointer); wrong != "" && problem == "" {
			problem = fmt.Sprintf("has %q, which %s", clip(pointer), wrong)
		}
	}
	return more, problem
}

// at returns the value at a pointer into a configuration, if there is one.
func at(config jsontext.Value, pointer string) (jsontext.Value, bool) {
	if pointer == "" || config == nil {
		return nil, false
	}
	doc, err := document.Parse(config, document.Limits{})
	if err != nil {
		return nil, false
	}
	return doc.At(pointer)
}

// Reply is a guest's answer to one report.
type Reply struct {
	// Answer is the output of sy_normalize, not checked yet.
	Answer jsontext.Value
	// Memory is the size of the guest's linear memory at the end, in bytes. Answer
	// keeps that memory alive.
	Memory int64
}

// Ask runs a fresh instance of the guest without checking its answer. It is for tools that
// test plugins.
//
// # Errors
//
// The errors of Normalize that concern running the guest.
func (p *Plugin) Ask(ctx context.Context, doc *document.Document, config jsontext.Value) (reply Reply, err error) {
	defer func() { err = p.withPlugin(err) }()
	m, err := p.compile(ctx)
	if err != nil {
		return Reply{}, err
	}
	if config == nil {
		config = jsontext.Value("{}")
	}
	err = p.runtime.call(ctx, m, func(ctx context.Context, g *instance) error {
		if err := g.fillScratch(ctx); err != nil {
			return err
		}
		rep, err := g.writeInput(ctx, doc.Bytes())
		if err != nil {
			return err
		}
		conf, err := g.writeInput(ctx, config)
		if err != nil {
			return err
		}
		if rep.overlaps(conf) {
			return abi.Violation(errs.PluginABI, abi.Overlap, "%s handed out the same memory twice", exportAlloc)
		}
		packed, err := g.invoke(ctx, exportNormalize, uint64(rep.ptr), uint64(rep.len), uint64(conf.ptr), uint64(conf.len))
		if err != nil {
			return err
		}
		answer, err := g.readOutput(packed)
		if err != nil {
			return err
		}
		reply = Reply{Answer: answer, Memory: int64(g.Memory().Size())}
		return nil
	})
	return reply, err
}

// parseReply checks an answer against the ABI and the report. Its time does not count as
// the guest's.
func (p *Plugin) parseReply(ctx context.Context, doc *document.Document, config jsontext.Value, reply Reply) (abi.Result, error) {
	out, err := decodeOutput(reply.Answer)
	if err != nil {
		return abi.Result{}, err
	}
	if out.Error != nil {
		return abi.Result{}, out.Error.fault()
	}
	if p.identity.Use != "" {
		out.rename(p.description.Critic, p.identity.Name)
	}
	items, err := p.Items(config)
	if err != nil {
		return abi.Result{}, err
	}
	ctx, cancel := p.runtime.deadline(ctx)
	defer cancel()
	return checkConservation(ctx, p, doc, items, out)
}

// withPlugin adds the plugin to an error's details.
func (p *Plugin) withPlugin(err error) error {
	return errs.With(err, "plugin", p.identity.String())
}

func (r *Runtime) describe(ctx context.Context, m *module) (abi.Description, error) {
	var answer []byte
	err := r.call(ctx, m, func(ctx context.Context, g *instance) error {
		packed, err := g.invoke(ctx, exportDescribe)
		if err != nil {
			return err
		}
		answer, err = g.readOutput(packed)
		return err
	})
	if err != nil {
		return abi.Description{}, err
	}
	return decodeDescription(answer)
}
