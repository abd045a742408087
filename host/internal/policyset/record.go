package policyset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// decisionRecord is the part of a recorded decision that replay and verification need.
type decisionRecord struct {
	replay.Recorded
	// event is the state machine's event, and stuck the value shown to users.
	event task.RoundDecided
	stuck bool
}

// recordReader reads decisions. Rounds repeat, so it decodes an input once.
type recordReader struct {
	mu     sync.Mutex
	inputs map[string]*routing.Input // by their texts; guarded by mu
}

const (
	maxInputs    = 1 << 12 // inputs that a recordReader remembers
	maxInputText = 1 << 10 // bytes of such an input
)

// input decodes an input, nil if text is nil. The result is shared, and must not be
// modified.
func (r *recordReader) input(text jsontext.Value) (*routing.Input, error) {
	if text == nil {
		return nil, nil
	}
	r.mu.Lock()
	in, ok := r.inputs[string(text)]
	r.mu.Unlock()
	if ok {
		return in, nil
	}
	if err := json.Unmarshal(text, &in); err != nil || len(text) > maxInputText {
		return in, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inputs == nil || len(r.inputs) == maxInputs {
		r.inputs = make(map[string]*routing.Input)
	}
	r.inputs[string(text)] = in
	return in, nil
}

// read reads the event of a decision, and checks its hash. It is safe for concurrent use.
func (r *recordReader) read(e ledger.Event) (decisionRecord, error) {
	if e.Hash != e.Sum() {
		return decisionRecord{}, event.Tampered(e.Task, "event %d does not match its hash", e.N)
	}
	body, err := event.DecodeRound(e)
	d := cmp.Or(body.Decision, &event.RoundDecision{})
	in, inErr := r.input(d.Input)
	barInput, barErr := r.input(d.BarInput)
	err = errors.Join(err, inErr, barErr)
	switch {
	case err != nil:
	case in == nil || d.Policy == routing.Identity{}:
		err = errors.New("it lacks the decision, or what led to it")
	case d.TaskID != e.Task:
		err = fmt.Errorf("it is a decision about task %.80q", d.TaskID)
	}
	if err != nil {
		return decisionRecord{}, event.Tampered(e.Task, "event %d cannot be read: %w", e.N, err)
	}
	if err := checkCopies(body.Event, *d, *in); err != nil {
		return decisionRecord{}, event.Tampered(e.Task, "event %d contradicts itself: %w", e.N, err)
	}
	return decisionRecord{
		Recorded: replay.Recorded{
			Seq: e.Seq, N: e.N, Task: e.Task, Round: d.Round, At: e.At,
			Input: *in, BarInput: barInput, PolicyBar: d.PolicyBar, Bar: d.Bar, Reviewed: body.Event.Reviewed, Confinement: d.Confinement,
			Categories: append(categories(d.Findings, false), categories(d.Deferred, true)...),
			Decision:   routing.Decision{NextAction: d.NextAction, Reason: d.Reason}, Policy: d.Policy,
		},
		event: body.Event, stuck: d.Stuck,
	}, nil
}

// checkCopies fails if a record contradicts itself: the state machine's event, the shown
// decision and the policy's input repeat some fields.
func checkCopies(e task.RoundDecided, d event.RoundDecision, in routing.Input) error {
	var err error
	checkSame(&err, "round", e.Round, in.Round)
	checkSame(&err, "next_round", e.NextRound, d.NextRound)
	checkSame(&err, "max_rounds", e.MaxRounds, in.MaxRounds)
	checkSame(&err, "max_rounds", d.MaxRounds, in.MaxRounds)
	checkSame(&err, "finding_count", e.FindingCount, in.FindingCount)
	checkSame(&err, "verify", routing.Verify(e.Verify), in.Verify)
	checkSame(&err, "next_action", e.NextAction, d.NextAction)
	checkSame(&err, "reason", e.Reason, d.Reason)
	checkSame(&err, "policy", e.Policy, d.Policy.String())
	checkSame(&err, "progress", d.Progress, api.ProgressOf(in))
	checkSame(&err, "stalled_rounds", e.Stalled, in.StalledRounds)
	checkSame(&err, "deferred", e.Deferred, len(d.Deferred))
	checkSame(&err, "bar", e.Bar, barOf(d, e.Bar))
	return err
}

// checkSame sets err, unless it is set, if two copies of a field differ.
func checkSame[T comparable](err *error, field string, a, b T) {
	if *err == nil && a != b {
		*err = fmt.Errorf("%s is %.80v in one place and %.80v in another", field, a, b)
	}
}

// barOf returns the bar that the state machine's event must have for a decision. A policy
// without a bar keeps the bar of earlier reviews.
func barOf(d event.RoundDecision, earlier string) string {
	switch d.Bar {
	case "":
		return earlier
	case routing.BarAll:
		return ""
	default:
		return string(d.Bar)
	}
}

// categories counts alike findings.
func categories(findings []event.RoundFinding, deferred bool) []replay.Category {
	var alike []replay.Category
	index := make(map[replay.Category]int)
	for _, f := range findings {
		c := replay.Category{
			Name: f.Category, Route: f.Route, Unknown: f.UnknownCategory, Severity: f.Severity, Standing: f.Standing,
			Audited:  slices.ContainsFunc(f.Sources, func(s event.Source) bool { return s.Critic == finding.AuditCritic }),
			Deferred: deferred,
		}
		i, known := index[c]
		if !known {
			i = len(alike)
			index[c], alike = i, append(alike, c)
		}
		alike[i].Count++
	}
	return alike
}
