package plugins

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/finding"
	"github.com/switchyard-dev/switchyard/plugins/report"
)

// fate is what a plugin did with an item of the report.
type fate int

const (
	unaccounted fate = iota
	found
	skipped
)

// item is one thing in the report that has to be accounted for.
type item struct {
	raw  jsontext.Value
	fate fate
}

// account holds a plugin's answer against the report (the conservation rule of
// design section 4): every item becomes at least one finding or one skipped
// entry and never both, and every ref leads to something. Then it cuts each
// finding's raw text out of the report, so that no plugin can alter it. A guest
// decides how much there is to look up, so this too ends with ctx.
func account(ctx context.Context, p *Plugin, doc *report.Document, out *output) (Result, error) {
	items := make(map[string]*item)
	var order []string
	for _, pattern := range p.description.Items {
		for ref, raw := range doc.Items(pattern) {
			if ctx.Err() != nil {
				return Result{}, context.Cause(ctx)
			}
			items[ref] = &item{raw: raw}
			order = append(order, ref)
		}
	}
	result := Result{Critic: out.Critic, TaskID: out.TaskID, Round: out.Round, Skipped: *out.Skipped}
	for _, s := range result.Skipped {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		it := items[s.Ref]
		if it == nil {
			if _, ok := doc.At(s.Ref); !ok {
				return Result{}, violated("skips %q, which is not in the report", s.Ref)
			}
			continue
		}
		if it.fate == skipped {
			return Result{}, violated("skips %q twice", s.Ref)
		}
		it.fate = skipped
	}
	result.Findings = make([]finding.Finding, 0, len(*out.Findings))
	for _, f := range *out.Findings {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		ref := *f.Ref
		raw, ok := jsontext.Value(nil), false
		if it := items[ref]; it != nil {
			if it.fate == skipped {
				return Result{}, violated("both skips and reports %q", ref)
			}
			it.fate = found
			raw, ok = it.raw, true
		} else {
			raw, ok = doc.At(ref)
		}
		if !ok {
			return Result{}, violated("refers to %q, which is not in the report", ref)
		}
		result.Findings = append(result.Findings, finding.Finding{
			Critic: f.Critic, Category: f.Category, Severity: f.Severity,
			File: f.File, Line: f.Line, Remediation: *f.Remediation,
			ConfirmedBy: []string{f.Critic},
			Sources: []finding.Source{{
				Critic: f.Critic, Plugin: p.identity.Name, Report: doc.Digest(), Ref: ref, Raw: raw,
			}},
		})
	}
	for _, ref := range order {
		if items[ref].fate == unaccounted {
			return Result{}, violated("drops %q", ref)
		}
	}
	return result, nil
}

func violated(format, ref string) *fault.Error {
	return fault.New(CodeConservation, "the plugin "+format, ref).With("ref", ref)
}
