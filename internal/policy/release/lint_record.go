package release

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// checkRecord checks the version's decision record and its invariants.
func (w *versionLinter) checkRecord(ctx context.Context, seen *Version) error {
	record, ok := w.namedRecord()
	if err := w.checkInvariants(ctx, record, seen); err != nil {
		return err
	}
	change, compared, err := w.compare(ctx)
	if err != nil {
		return err
	}
	if compared {
		w.checkStep(change, seen)
	}
	if !ok {
		return nil
	}
	w.checkAccepted(record)
	w.checkText(record)
	w.checkSupersedes(record)
	if w.edited() {
		return nil // There is a finding for that. The record's figures are of what was released.
	}
	if compared {
		w.checkDiff(record, change)
	}
	return w.checkReplay(ctx, record)
}

// edited reports whether the version is not what was released.
func (w *versionLinter) edited() bool {
	locked := w.lock.digests[w.ref]
	return locked != "" && locked != w.policy.Identity().Digest
}

// about returns a finding about the version's record.
func about(rule Rule, r adr.Record, format string, args ...any) Finding {
	f := finding(rule, r.File, format, args...)
	f.ADR = r.Name
	return f
}

// namedRecord returns the record that the version names, if it is about the version.
func (w *versionLinter) namedRecord() (adr.Record, bool) {
	name := w.policy.Identity().ADR
	found, ok := w.records.of(name)
	metadata := fmt.Sprintf("the METADATA of package switchyard.%s in %s", policyName, w.metadataFile())
	if !ok {
		f := finding(RecordNamed, recordsDir, "%s names %s, which does not exist", metadata, name)
		f.ADR = name
		w.say(f.hint("write the record, or correct custom.adr"))
		return adr.Record{Waives: []adr.Waive{}}, false
	}
	if r := found.Record; r.Policy != w.ref {
		w.say(about(RecordNamed, r, "%s names this record, which is about %s", metadata, cmp.Or(r.Policy, "no policy")).hint("every version has a record of its own: set policy: %s in it, or correct custom.adr", w.ref))
		return adr.Record{Waives: []adr.Waive{}}, false
	}
	return found.Record, true
}

// metadataFile returns the module that has the METADATA of the policy's package.
func (w *versionLinter) metadataFile() string {
	i := slices.IndexFunc(w.modules, func(m routing.Source) bool {
		head, _, ok := cutMetadata(m.Text)
		return ok && strings.Contains(head, "METADATA")
	})
	return path.Join(w.folder, w.modules[max(i, 0)].Name)
}

func (w *versionLinter) checkAccepted(r adr.Record) {
	f := about(RecordAccepted, r, "%s is %s", r.Name, r.Status)
	switch {
	case r.Status == adr.Proposed:
		w.say(f.hint("switchyard policy release %s --accept accepts it", w.ref))
	case !r.Status.Decided():
		w.say(f.hint("remove %s if it is a draft; the record of a released version is accepted or superseded", w.folder))
	}
}

func (w *versionLinter) checkSupersedes(r adr.Record) {
	if want := w.beforeRef(); r.Supersedes != want {
		w.say(about(RecordSupersedes, r, "%s supersedes %s, and the version before is %s", r.Name, cmp.Or(r.Supersedes, "none"), cmp.Or(want, "none")).hint("%s", filledIn(w.ref)))
	}
}

// filledIn returns the hint for a figure that is missing or wrong.
func filledIn(ref string) string { return "switchyard policy release " + ref + " fills it in" }

// compare returns the changes from the previous version. It reports false if the two cannot
// be compared.
func (w *versionLinter) compare(ctx context.Context) (diff.Diff, bool, error) {
	if !isVersion(w.ref) || w.before != nil && w.before.policy == nil {
		return diff.Diff{}, false, ctx.Err()
	}
	change, err := w.diff(ctx)
	if ctx.Err() != nil {
		return change, false, ctx.Err()
	}
	if err != nil {
		w.say(finding(Step, w.folder, "it cannot be compared with the version before: %s", err))
		return change, false, nil
	}
	return change, true, nil
}

// diff returns the changes from the previous version.
func (v *version) diff(ctx context.Context) (diff.Diff, error) {
	var from *routing.Policy
	if v.before != nil {
		from = v.before.policy
	}
	return diff.Compare(ctx, from, v.policy)
}

// checkStep requires the version's step to be large enough for its changes.
func (w *versionLinter) checkStep(change diff.Diff, seen *Version) {
	step, why := change.Step()
	seen.Step = step
	if w.before == nil {
		return
	}
	from, to := identity(w.before.ref).Version, identity(w.ref).Version
	if diff.Enough(from, to, step) {
		return
	}
	next := diff.NextVersion(from, step)
	if diff.Enough(from, to, diff.None) {
		again := "switchyard policy new"
		if step == diff.Major {
			again += " --major"
		}
		w.say(finding(Step, w.folder, "the step from %s is too small and needs a %s one: %s", w.before.ref, step, strings.Join(why, "; ")).
			hint("it has to be %s: rename the directory, custom.version and the record's policy, or remove directory and record and begin again with %s", next, again))
		return
	}
	w.say(finding(Step, w.folder, "it does not follow %s: a number is left out", w.before.ref).hint("the next version is %s, as the change is", next))
}

func (w *versionLinter) checkDiff(r adr.Record, change diff.Diff) {
	want := diffFigures(change)
	switch {
	case r.Diff == nil:
		w.say(about(RecordDiff, r, "%s does not say what changes", r.Name).hint("%s", filledIn(w.ref)))
	case *r.Diff != want:
		w.say(about(RecordDiff, r, "the diff in %s is wrong: it is %q with %s", r.Name, want.Summary, want.Digest).hint("%s", filledIn(w.ref)))
	case !w.showsDiff(r, change):
		w.say(about(RecordDiff, r, "the diff that %s shows is not the one in its front matter", r.Name).hint("%s; write your own text outside of its markers", filledIn(w.ref)))
	}
}

// showsDiff reports whether a record's body has the current diff between its markers, if it
// has markers. People read the body, and not the digest.
func (w *versionLinter) showsDiff(r adr.Record, change diff.Diff) bool {
	found, _ := w.records.of(r.Name)
	return bytes.Equal(fill(found.Text, change.Markdown()), found.Text)
}

// maxSummary bounds the summary in a record, in code points.
const maxSummary = 1000

// diffFigures converts a difference to the form of a record.
func diffFigures(d diff.Diff) adr.Figures {
	return adr.Figures{Summary: textutil.Clip(d.Summary(), maxSummary), Digest: d.Digest()}
}

// replayFigures converts a replay to the form of a record.
func replayFigures(r replay.Report) adr.ReplayFigures {
	return adr.ReplayFigures{
		Figures: adr.Figures{Summary: textutil.Clip(r.Summary(), maxSummary), Digest: r.Digest()},
		Policy:  r.Candidate.Digest, Decisions: r.Decisions, Through: r.Through,
	}
}

// checkReplay requires a replay of this policy and, if there is a ledger, that its figures
// are correct.
func (w *versionLinter) checkReplay(ctx context.Context, r adr.Record) error {
	switch digest := w.policy.Identity().Digest; {
	case r.Replay == nil:
		w.say(about(RecordReplay, r, "%s does not say what it would have changed", r.Name).hint("%s", filledIn(w.ref)))
		return nil
	case r.Replay.Policy != digest:
		w.say(about(RecordReplay, r, "the replay in %s is of another policy: %s, and not %s", r.Name, r.Replay.Policy, digest).hint("%s", filledIn(w.ref)))
		return nil
	case w.options.Replay == nil:
		return nil
	}
	report, err := w.replay(ctx, r.Replay)
	if err != nil {
		return err
	}
	if want := replayFigures(report); *r.Replay != want {
		w.say(about(RecordReplay, r, "the replay in %s is not the ledger's, which is %q with %s", r.Name, want.Summary, want.Digest).
			hint("name the ledger that was replayed, or let switchyard policy release %s replay it again", w.ref))
	}
	return nil
}

// replay repeats the replay of a record, up to the same event. If that was a replay of no
// decisions, so is this one.
func (w *versionLinter) replay(ctx context.Context, of *adr.ReplayFigures) (replay.Report, error) {
	if of.Through == 0 {
		return replay.New(w.policy, replay.Options{}).Report(), ctx.Err()
	}
	return w.options.Replay(ctx, w.policy, of.Through)
}

// checkInvariants checks the version against the invariants, and its record's waivers
// against the violations.
func (w *versionLinter) checkInvariants(ctx context.Context, r adr.Record, seen *Version) error {
	o := check.Options{}
	if w.latest {
		o.Raised = w.options.Raised
	}
	waived := make(map[check.Invariant]bool)
	for _, waiver := range waivers(r) {
		waived[waiver.Invariant] = true
		if waiver.Invariant.Waivable() {
			o.Waivers = append(o.Waivers, waiver)
		}
	}
	report, err := check.Verify(ctx, w.policy, o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		w.say(finding(InvariantsHold, w.folder, "it cannot be checked: %s", err))
		return nil
	}
	seen.States = report.States
	for _, result := range report.Results {
		isWaived := waived[result.Invariant]
		switch {
		case result.Skipped != "":
		case !result.Holds && result.WaivedBy == "":
			w.say(w.violation(result, r, isWaived))
			delete(waived, result.Invariant)
		case result.Holds && isWaived && result.Waivable: // the waiver would hide a later violation
			w.say(about(RecordWaives, r, "%s waives %s, which holds", r.Name, result.Invariant).hint("remove the waiver"))
		}
	}
	for _, invariant := range slices.Sorted(maps.Keys(waived)) {
		if !invariant.Waivable() {
			w.say(about(RecordWaives, r, "%s waives %q, which no record can waive", r.Name, invariant).hint("remove the waiver"))
		}
	}
	return nil
}

func (w *versionLinter) violation(r check.Result, record adr.Record, isWaived bool) Finding {
	f := finding(InvariantsHold, w.folder, "%s: %s", r.Invariant, r.Says)
	if len(r.Violations) > 0 {
		first := r.Violations[0]
		f.Message = fmt.Sprintf("%s: %s", r.Invariant, first.Message)
		if first.Location != nil {
			f = f.at(*first.Location)
		}
	}
	f.Message += textutil.AndMore(r.Violated - 1)
	hint := "switchyard policy verify %s shows the smallest counterexample"
	switch {
	case r.Waivable:
		hint += "; the record may waive it"
	case isWaived:
		hint += "; " + record.Name + " waives it, which no record can"
	}
	return f.hint(hint, w.folder)
}
