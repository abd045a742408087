// Package findingformat writes findings in the formats of other tools: code scanning,
// code review, CI and test reports.
//
// A format is a pure function: the same review gives the same bytes. Hidden characters are
// escaped, and invalid UTF-8 is replaced, as in all outputs.
package findingformat

import (
	"cmp"
	"io"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/finding"
)

// Review is the list of findings of one review.
type Review struct {
	// Version is the version of Switchyard.
	Version string
	// TaskID is "" for a review without a task.
	TaskID string
	// Round is the round of the review, 0 if there is no review.
	Round int
	// Bar is the severity from which findings are open, "" if the policy has no bar.
	Bar string
	// Deferred reports whether the findings are below the bar.
	Deferred bool
	Findings []finding.Finding
}

// tool names Switchyard in reports. The plugins know their own findings by it.
const tool = "switchyard"

// Format writes a review.
type Format func(io.Writer, Review) error

var formats = map[string]Format{
	"github":   github,
	"junit":    junit,
	"markdown": markdown,
	"rdjsonl":  rdjsonl,
	"sarif":    sarif,
}

// Names lists the formats.
func Names() []string { return slices.Sorted(maps.Keys(formats)) }

// Find returns the format with the name, or nil.
func Find(name string) Format { return formats[name] }

// isMissing reports whether there is no review, so that an empty list of findings does not
// mean that the task is free of them.
func (r Review) isMissing() bool { return r.Round == 0 && len(r.Findings) == 0 }

func (r Review) deferral() string { return "deferred below the bar " + r.Bar }

// words are a format's words for the severities.
type words struct{ fail, risk, nit string }

func (w words) of(s finding.Severity) string {
	switch s {
	case finding.Nit:
		return w.nit
	case finding.Risk:
		return w.risk
	default: // A critic can invent severities. That must not make its findings look harmless.
		return w.fail
	}
}

// message returns the remediation, or the category if the remediation is empty: some
// readers refuse an empty text.
func message(f finding.Finding) string { return cmp.Or(f.Remediation, f.Category) }
