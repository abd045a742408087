package release

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Finding is one defect of a tree.
type Finding struct {
	Rule Rule `json:"rule"`
	// Policy is the version with the defect, such as routing@1.2.0, or "" if it is not
	// about one version.
	Policy string `json:"policy,omitzero"`
	// ADR is the decision record with the defect.
	ADR string `json:"adr,omitzero"`
	// File is the file or folder with the defect, relative to the tree's root.
	File string `json:"file,omitzero"`
	// Location is the line in it, if known.
	Location *routing.Location `json:"place,omitzero"`
	// Message is one lower-case sentence without a full stop.
	Message string `json:"message"`
	// Hint says how to fix it.
	Hint string `json:"hint,omitzero"`
}

// at returns the finding with a location.
func (f Finding) at(p routing.Location) Finding {
	if p.File != "" {
		f.File, f.Location = p.File, &p
	}
	return f
}

// hint returns the finding with a hint.
func (f Finding) hint(format string, args ...any) Finding {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// problems returns a finding for each problem of a policy that does not load, or for the
// error itself.
func problems(f Finding, err error) []Finding {
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		f.Message = err.Error()
		return []Finding{f}
	}
	list, ok := e.Details["problems"].([]routing.Problem)
	if !ok {
		f.Message = e.Message
		return []Finding{f}
	}
	var all []Finding
	for _, p := range list {
		g := f
		g.Message = p.Message
		all = append(all, g.at(routing.Location{File: p.File, Row: p.Row, Col: p.Col, Text: strings.TrimSpace(p.Source)}))
	}
	return all
}

// compareFindings orders by version, then by file and line.
func compareFindings(a, b Finding) int {
	var rowA, rowB int
	if a.Location != nil {
		rowA = a.Location.Row
	}
	if b.Location != nil {
		rowB = b.Location.Row
	}
	return cmp.Or(
		compareReferences(a.Policy, b.Policy), cmp.Compare(a.File, b.File), cmp.Compare(rowA, rowB),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
	)
}

// compareReferences orders versions by age: "" first, invalid versions last.
func compareReferences(a, b string) int {
	switch x, y := identity(a), identity(b); {
	case class(a) != class(b):
		return cmp.Compare(class(a), class(b))
	case class(a) == 1 && routing.Older(x, y):
		return -1
	case class(a) == 1 && routing.Older(y, x):
		return 1
	}
	return cmp.Compare(a, b)
}

func class(ref string) int {
	switch {
	case ref == "":
		return 0
	case isVersion(ref):
		return 1
	}
	return 2
}

func sorted(findings []Finding) []Finding {
	slices.SortFunc(findings, compareFindings)
	return findings
}
