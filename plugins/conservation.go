package plugins

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// checkConservation checks a plugin's answer against the report: every item is the
// ref of at least one finding, or of one skipped entry or statement, and every ref
// exists (docs/plugin-abi.md). Then it cuts each finding's raw text out of the
// report, so that no plugin can alter it.
//
// Its memory grows with the answer but not with the report. Its time grows with the report
// and the patterns, and is limited by ctx.
func checkConservation(ctx context.Context, p *Plugin, doc *document.Document, items []string, out *output) (abi.Result, error) {
	claims, err := collectRefs(out)
	if err != nil {
		return abi.Result{}, err
	}
	for ref, raw := range doc.Items(ctx, items) {
		c, ok := claims[ref]
		if !ok {
			return abi.Result{}, errConservation(abi.Dropped, "drops %q", ref)
		}
		c.raw = raw
	}
	if ctx.Err() != nil {
		return abi.Result{}, context.Cause(ctx)
	}
	for ref, c := range claims {
		if ctx.Err() != nil {
			return abi.Result{}, context.Cause(ctx)
		}
		if c.raw == nil {
			c.raw, _ = doc.At(ref)
		}
	}
	return buildResult(p, doc, out, claims)
}

// reference is a value of the report that an answer refers to.
type reference struct {
	// as is "skips" or "answers for", which may refer to a value only once, or "" for
	// findings.
	as  string
	raw jsontext.Value // nil if the report does not have it
}

// collectRefs maps the answer's refs to their references.
func collectRefs(out *output) (map[string]*reference, error) {
	claims := make(map[string]*reference, len(*out.Findings)+len(*out.Skipped)+len(out.Previous))
	for _, f := range *out.Findings {
		claims[*f.Ref] = &reference{}
	}
	claim := func(ref, as string) error {
		c, ok := claims[ref]
		switch {
		case !ok:
			claims[ref] = &reference{as: as}
			return nil
		case c.as == as:
			return errConservation(abi.Contradicted, as+" %q twice", ref)
		default:
			return errConservation(abi.Contradicted, "both "+as+" and "+cmp.Or(c.as, "reports")+" %q", ref)
		}
	}
	for _, s := range *out.Skipped {
		if err := claim(s.Ref, "skips"); err != nil {
			return nil, err
		}
	}
	for _, s := range out.Previous {
		if err := claim(s.Ref, "answers for"); err != nil {
			return nil, err
		}
	}
	return claims, nil
}

// buildResult converts an answer to a result. It checks the refs in the answer's order, so
// that the same answer always gives the same error.
func buildResult(p *Plugin, doc *document.Document, out *output, claims map[string]*reference) (abi.Result, error) {
	for _, s := range *out.Skipped {
		if claims[s.Ref].raw == nil {
			return abi.Result{}, errConservation(abi.Invented, "skips %q, which is not in the report", s.Ref)
		}
	}
	for _, s := range out.Previous {
		if claims[s.Ref].raw == nil {
			return abi.Result{}, errConservation(abi.Invented, "answers for %q, which is not in the report", s.Ref)
		}
	}
	result := abi.Result{
		Critic: out.Critic, TaskID: out.TaskID, Round: out.Round,
		Findings: make([]finding.Finding, 0, len(*out.Findings)), Skipped: *out.Skipped, Unmapped: out.Unmapped, Previous: out.Previous,
	}
	quoted := int64(0)
	for _, f := range *out.Findings {
		c := claims[*f.Ref]
		if quoted += int64(len(c.raw)); quoted > p.runtime.config.Limits.Output {
			return abi.Result{}, errs.New(errs.PluginOutputTooLarge, "the plugin's findings refer to more than %d bytes of the report", p.runtime.config.Limits.Output).
				With("limit", p.runtime.config.Limits.Output)
		}
		if c.raw == nil {
			return abi.Result{}, errConservation(abi.Invented, "refers to %q, which is not in the report", *f.Ref)
		}
		result.Findings = append(result.Findings, finding.Finding{
			Critic: f.Critic, Category: f.Category, Severity: f.Severity,
			File: f.File, Line: f.Line, Remediation: *f.Remediation, Undoes: f.Undoes,
			ConfirmedBy: []string{f.Critic},
			Sources: []finding.Source{{
				Critic: f.Critic, Plugin: p.identity.Name, Report: doc.Digest(), Ref: *f.Ref, Raw: c.raw,
			}},
		})
	}
	return result, nil
}

func errConservation(problem abi.Problem, format, ref string) *errs.Error {
	return abi.Violation(errs.PluginConservationViolated, problem, "the plugin "+format, clip(ref)).With("ref", ref)
}
