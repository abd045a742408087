package main

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
)

// criticPlugin reads what the reference's critics write.
const criticPlugin = "np-critic"

// loopReviewed is what the phase post-critics prints: the decision, in which each
// finding has its raw text and the buckets hold the findings themselves.
type loopReviewed struct {
	host.Decision
	Phase    string        `json:"phase"`
	Findings []loopFinding `json:"findings"`
	Routing  loopRouting   `json:"routing"`
	Forced   bool          `json:"forced"`
}

// loopFinding is a finding with the text of the report that had it first.
type loopFinding struct {
	finding.Finding
	Raw jsontext.Value `json:"raw"`
}

// loopRouting is where the findings alone would go.
type loopRouting struct {
	NextDestination string                   `json:"next_destination"`
	Stuck           bool                     `json:"stuck"`
	FindingCount    int                      `json:"finding_count"`
	Buckets         map[string][]loopFinding `json:"buckets"`
}

func (r *loopRound) reviewed(ctx context.Context) (any, error) {
	text, err := r.criticOutputs(ctx)
	if err != nil {
		return nil, err
	}
	req := criticRequest(text)
	req.Force = r.force
	d, err := ask(ctx, r.app, func(e *host.Engine) (host.Decision, error) { return e.Review(ctx, r.id, req) })
	if err != nil {
		return nil, err
	}
	return newLoopReviewed(d), nil
}

// criticRequest hands a text to the engine that was read already, so that what
// was checked is what is decided on.
func criticRequest(text []byte) host.Request {
	return host.Request{Reports: []host.ReportRef{{Plugin: criticPlugin, Path: host.Stdin}}, Stdin: bytes.NewReader(text)}
}

func newLoopReviewed(d host.Decision) loopReviewed {
	v := loopReviewed{
		Decision: d, Phase: "post-critics", Forced: d.Force != nil,
		Routing: loopRouting{
			NextDestination: d.Routing.NextDestination, Stuck: d.Routing.NextDestination == "stuck", FindingCount: d.Routing.FindingCount,
			Buckets: map[string][]loopFinding{"executor": nil, "researcher": nil, "askuser": nil, "plan-checker": nil, "stuck": nil},
		},
	}
	for _, f := range d.Findings {
		raw := loopFinding{Finding: f}
		if len(f.Sources) > 0 {
			raw.Raw = f.Sources[0].Raw
		}
		v.Findings = append(v.Findings, raw)
		v.Routing.Buckets[f.Route] = append(v.Routing.Buckets[f.Route], raw)
	}
	return v
}

// criticOutputs returns the text of the critics' reports: one or several of them.
func (r *loopRound) criticOutputs(ctx context.Context) ([]byte, error) {
	inline, path := r.flags.outputs, r.flags.outputsPath
	var text []byte
	var reports []jsontext.Value
	switch {
	case inline.given && path.given:
		return nil, errs.New(errs.LoopRunRoundPostCriticsConflictingOutputs, "the reports are given twice, as text and as a file")
	case path.given:
		var err error
		if text, reports, err = r.reportFile(ctx, path.text); err != nil {
			return nil, err
		}
	case inline.text != "":
		var kind jsontext.Kind
		text = []byte(inline.text)
		switch kind, reports = parseReports(text); kind {
		case '[':
		case 0:
			return nil, errs.New(errs.LoopRunRoundPostCriticsMissingOutputsInvalidJSON, "the reports are no JSON")
		default:
			return nil, errs.New(errs.LoopRunRoundPostCriticsInvalidOutputs, "the reports are no list")
		}
	default:
		return nil, errs.New(errs.LoopRunRoundPostCriticsMissingOutputs, "no report is given")
	}
	if len(reports) == 0 {
		return nil, errs.New(errs.LoopRunRoundPostCriticsEmptyOutputs, "the list of reports is empty, so that no critic has reported")
	}
	return text, nil
}

// findings returns a request with what a task is put aside with, or the zero
// Request where it keeps the findings that it has.
func (r *loopRound) findings(ctx context.Context) (host.Request, error) {
	inline, path := r.flags.findings, r.flags.findingsPath
	var text []byte
	var items []jsontext.Value
	switch {
	case inline.given && path.given:
		return host.Request{}, errs.New(errs.LoopRunRoundStuckConflictingFindings, "the findings are given twice, as text and as a file")
	case path.given:
		var err error
		if text, items, err = r.reportFile(ctx, path.text); err != nil {
			return host.Request{}, err
		}
	case inline.given:
		var kind jsontext.Kind
		text = []byte(inline.text)
		if kind, items = parseReports(text); kind != '[' && kind != '{' {
			return host.Request{}, errs.New(errs.LoopRunRoundStuckInvalidFindings, "the findings are no JSON list and no report")
		}
	default:
		return host.Request{}, nil
	}
	if !hasReport(items) {
		text = append(append([]byte(`{"critic":"critic","findings":`), text...), '}')
	}
	return criticRequest(text), nil
}

// reportFile reads a file that holds one report or a list of them.
func (r *loopRound) reportFile(ctx context.Context, path string) ([]byte, []jsontext.Value, error) {
	text, err := r.confinedReport(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	switch kind, reports := parseReports(text); kind {
	case '[', '{':
		return text, reports, nil
	case 0:
		return nil, nil, errs.New(errs.LoopRunRoundCriticOutputsPathInvalidJSON, "%s is no JSON", path).With("path", path)
	default:
		return nil, nil, errs.New(errs.LoopRunRoundCriticOutputsPathInvalidShape, "%s holds neither a report nor a list of them", path).With("path", path)
	}
}

// parseReports returns the kind of a text's JSON value, 0 for none, and the
// values of a list, or the one value that is no list. It looks no closer: what a
// report may be, its plugin says.
func parseReports(text []byte) (jsontext.Kind, []jsontext.Value) {
	lax := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	value := jsontext.Value(text)
	if !value.IsValid(lax...) {
		return 0, nil
	}
	if value.Kind() != '[' {
		return value.Kind(), []jsontext.Value{value}
	}
	var items []jsontext.Value
	if err := json.Unmarshal(text, &items, lax...); err != nil {
		return 0, nil
	}
	return '[', items
}

// hasReport tells a list of reports from one of findings: the former have lists
// of their own.
func hasReport(items []jsontext.Value) bool {
	for _, item := range items {
		var report struct {
			Findings jsontext.Value `json:"findings"`
			Criteria jsontext.Value `json:"criteria"`
		}
		err := json.Unmarshal(item, &report, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if err == nil && (report.Findings != nil || report.Criteria != nil) {
			return true
		}
	}
	return false
}
