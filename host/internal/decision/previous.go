package decision

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// CriticPlugin is the plugin that normalizes the report of the engine's own critic, and
// SpawnCritic the critic of the finding that says that this critic failed.
const (
	CriticPlugin = "np-critic"
	SpawnCritic  = "spawner"
)

// readStatements returns the statements of a review's reports about findings of the previous
// review, by fingerprint. found are the merged findings of this review.
//
// # Errors
//
// report-previous-invalid if a statement contradicts another one, or a finding.
func readStatements(evidence []pluginset.Report, found []finding.Finding) (map[string]finding.PreviousStatus, error) {
	reported := make(map[string]bool, len(found))
	for _, f := range found {
		// An audit repeats its findings until an agent gets them, even if they are fixed.
		reported[f.Fingerprint] = f.Critic != finding.AuditCritic
	}
	stated := make(map[string]finding.PreviousStatus)
	for _, ev := range evidence {
		for _, s := range ev.Result.Previous {
			earlier := cmp.Or(stated[s.ID], s.Status)
			switch {
			case earlier != s.Status:
				return nil, errPrevious(ev, s, "another report says that it is "+string(earlier))
			case s.Status != finding.Open && reported[s.ID]:
				return nil, errPrevious(ev, s, "it is reported again")
			case (s.Status == finding.Open || s.Status == finding.Induced) && len(ev.Result.Findings) == 0:
				return nil, errPrevious(ev, s, "the report has no findings")
			}
			stated[s.ID] = s.Status
		}
	}
	return stated, nil
}

// AnswerPrevious returns the current status of each finding of the previous review. found are
// the merged findings of this review.
//
// # Errors
//
// report-ambiguous as in Merge; report-previous-invalid if a statement contradicts another one
// or a finding, or is about an unknown finding; errors of the ledger.
func AnswerPrevious(ctx context.Context, t *record.Task, evidence []pluginset.Report, found []finding.Finding) ([]api.PreviousFinding, error) {
	if err := checkFingerprints(found); err != nil {
		return nil, err
	}
	stated, err := readStatements(evidence, found)
	if err != nil {
		return nil, err
	}
	before, last, err := t.OpenReview(ctx)
	if err != nil {
		return nil, err
	}
	known := make(map[string]string, len(before)) // the subjects by fingerprint
	for _, f := range before {
		known[f.Fingerprint] = subject(f)
	}
	reported, subjects := make(map[string]bool, len(found)), make(map[string]bool, len(found))
	for _, f := range found {
		reported[f.Fingerprint], subjects[subject(f)] = true, true
	}
	for _, ev := range evidence {
		for _, s := range ev.Result.Previous {
			about, ok := known[s.ID]
			switch {
			case !ok:
				return nil, errPrevious(ev, s, "the previous review has no such finding")
			// The finding's line may have moved, and its words may differ.
			case s.Status == finding.Open && !subjects[about]:
				return nil, errPrevious(ev, s, "no finding is reported of "+about)
			}
		}
	}
	if err := findUndone(ctx, t, evidence, stated, found, reported); err != nil {
		return nil, err
	}
	reports := countReports(last.Reports, evidence)
	var all []api.PreviousFinding
	for _, f := range before {
		status := cmp.Or(stated[f.Fingerprint], finding.Unverified)
		switch {
		case reported[f.Fingerprint]:
			status = finding.Open
		case status == finding.Unverified && len(f.Sources) > 0 && !slices.ContainsFunc(f.Sources, reports.isMissing):
			status = finding.Gone
		}
		all = append(all, api.PreviousFinding{Fingerprint: f.Fingerprint, Category: f.Category, File: f.File, Line: f.Line, Status: status})
	}
	return all, nil
}

// findUndone sets the finding whose fix each contradiction of a review asks to undo. reported has
// the fingerprints of found.
//
// # Errors
//
// report-previous-invalid if an earlier review did not have that finding, or it is still
// open; errors of the ledger.
func findUndone(ctx context.Context, t *record.Task, evidence []pluginset.Report, stated map[string]finding.PreviousStatus, found []finding.Finding, reported map[string]bool) error {
	var undone []finding.Finding // only fingerprints
	for _, ev := range evidence {
		for _, f := range ev.Result.Findings {
			if f.Undoes != "" {
				undone = append(undone, finding.Finding{Fingerprint: f.Undoes})
			}
		}
	}
	past, err := t.Traces(ctx, undone)
	if err != nil {
		return err
	}
	for _, ev := range evidence {
		for _, f := range ev.Result.Findings {
			switch {
			case f.Undoes == "":
			case t.Status.Compare(past[f.Undoes]) == task.New:
				return errUndoes(ev, f, "no earlier review has such a finding")
			case reported[f.Undoes] || stated[f.Undoes] == finding.Open:
				return errUndoes(ev, f, "that finding is still open")
			}
		}
	}
	reviews := make(map[int][]finding.Finding) // by round
	for i := range found {
		f := &found[i]
		if f.Undoes == "" {
			continue
		}
		round := past[f.Undoes].Since
		if _, read := reviews[round]; !read {
			if reviews[round], err = t.DecidedFindings(ctx, round); err != nil {
				return err
			}
		}
		f.Undone = &finding.Undone{Round: round}
		for _, before := range reviews[round] {
			if before.Fingerprint == f.Undoes {
				f.Undone = &finding.Undone{Round: round, File: before.File, Line: before.Line, Remediation: before.Remediation}
			}
		}
	}
	return nil
}

func errUndoes(ev pluginset.Report, f finding.Finding, why string) error {
	ref := f.Sources[0].Ref
	return errs.New(errs.ReportPreviousInvalid, "the report asks to undo the fix of finding %s, but %s", f.Undoes, why).
		With("report", ev.Path).With("ref", ref).With("finding", f.Undoes)
}

// subject identifies a finding without its line and its words.
func subject(f finding.Finding) string {
	if f.File == nil {
		return fmt.Sprintf("category %s without a file", f.Category)
	}
	return fmt.Sprintf("category %s in %s", f.Category, *f.File)
}

// reportOrigin is where a report comes from. Reports of several tools can have the same one.
type reportOrigin struct{ plugin, command string }

// reportCounts compares the reports of a review with the reports of the previous review.
type reportCounts struct {
	// origins are the origins of the previous review's reports, by digest.
	origins map[string]reportOrigin
	// more is the number of reports of an origin that this review has beyond the previous one.
	more map[reportOrigin]int
}

func countReports(previous []api.Report, evidence []pluginset.Report) reportCounts {
	c := reportCounts{make(map[string]reportOrigin), make(map[reportOrigin]int)}
	for _, r := range previous {
		from := reportOrigin{r.Plugin, r.Command}
		c.origins[r.Digest] = from
		c.more[from]--
	}
	for _, ev := range evidence {
		if cmp.Or(ev.Plugin.Use, ev.Plugin.Name) != CriticPlugin { // Its reports have statements about earlier findings.
			c.more[reportOrigin{ev.Plugin.Name, ev.Command}]++
		}
	}
	return c
}

// isMissing reports whether a source of a finding may not have reported again.
func (c reportCounts) isMissing(s finding.Source) bool {
	if s.Critic == finding.AuditCritic || s.Critic == SpawnCritic {
		return false
	}
	from, ok := c.origins[s.Report]
	return !ok || c.more[from] < 0
}

func errPrevious(ev pluginset.Report, s abi.Statement, why string) error {
	return errs.New(errs.ReportPreviousInvalid, "the report says that finding %s of the previous review is %s, but %s", s.ID, s.Status, why).
		With("report", ev.Path).With("ref", s.Ref).With("finding", s.ID).With("status", string(s.Status))
}
