package host_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/hosttest"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// counted is a project with a clock set by the test.
type counted struct {
	summarized
	now time.Time
}

func newCounted(t *testing.T) *counted {
	c := &counted{now: noon()}
	root := t.TempDir()
	e := hosttest.Engine(t, root, host.Options{Now: func() time.Time { return c.now }, By: "tess", Warn: func(err error) { t.Error(err) }})
	c.summarized = summarized{T: t, Engine: e, root: root}
	return c
}

func (c *counted) round(id string, categories ...string) api.RoundResult {
	c.Helper()
	d, err := c.Round(c.Context(), id, c.report(categories...))
	if err != nil {
		c.Fatal(err)
	}
	return d
}

// sums returns the counters of a measure, keyed by the label values joined with slashes.
func (c *counted) sums(m counters.Measure) map[string]int64 {
	c.Helper()
	t, err := c.Counters(c.Context(), ledger.CounterQuery{Measure: m.Name})
	if err != nil {
		c.Fatal(err)
	}
	sums := make(map[string]int64)
	for _, row := range t.Rows[0] {
		if len(row.Values) != len(m.Labels) {
			c.Errorf("%s counts under %q, and has the labels %v", m.Name, row.Values, m.Labels)
		}
		sums[strings.Join(row.Values, "/")] = row.Sum
	}
	return sums
}

func (c *counted) want(m counters.Measure, want map[string]int64) {
	c.Helper()
	if got := c.sums(m); !maps.Equal(got, want) {
		c.Errorf("%s: got %v, want %v", m.Name, got, want)
	}
}

func (c *counted) later(d time.Duration) { c.now = c.now.Add(d) }

const day = "2026-11-21"

// TestCountersOfATask takes a task to the executor, to the user and to its commit, and
// compares every counter with a value computed by hand.
func TestCountersOfATask(t *testing.T) {
	c := newCounted(t)
	c.round("T1", "todo-marker", "todo-marker", "edge-case-gap") // The two merge into one finding.
	c.want(counters.Tasks(), map[string]int64{"open": 1})
	c.later(time.Hour)
	c.round("T1", "todo-marker", "question-to-user")
	c.want(counters.Tasks(), map[string]int64{"waiting": 1})
	c.want(counters.BlockedTasks(), map[string]int64{"waiting/2026-11-21T13:00:00.000000000Z/T1/askuser": 1})
	c.later(90 * time.Second)
	if _, err := c.Answer(c.Context(), "T1", host.AnswerRequest{Text: "as it was"}); err != nil {
		t.Fatal(err)
	}
	c.want(counters.Tasks(), map[string]int64{"open": 1})
	c.want(counters.BlockedTasks(), map[string]int64{})
	c.round("T1")

	c.want(counters.Tasks(), map[string]int64{"committed": 1})
	c.want(counters.Rounds(), map[string]int64{"executor/1.3.0": 1, "askuser/1.3.0": 1, "commit/1.3.0": 1})
	c.want(counters.DailyRounds(), map[string]int64{day + "/executor": 1, day + "/askuser": 1, day + "/commit": 1})
	c.want(counters.Daily(), map[string]int64{day + "/committed": 1})
	c.want(counters.Verifications(), map[string]int64{"absent": 3})
	c.want(counters.Findings(), map[string]int64{
		"todo-marker/fail/executor": 2, "edge-case-gap/fail/executor": 1, "question-to-user/fail/askuser": 1,
	})
	// Round 2 brings one back, adds one and resolves one; after round 3 both are resolved.
	c.want(counters.Progress(), map[string]int64{"new": 3, "repeat": 1, "resolved": 3})
	c.want(counters.Stalled(), map[string]int64{})
	c.want(counters.Questions(), map[string]int64{"": 1})
	c.want(counters.QuestionWaits().Sum(), map[string]int64{"": 90_000})
	c.want(counters.QuestionWaits().Cells(), map[string]int64{"52": 1}) // 2^(51/8) = 83 s, 2^(52/8) = 90.5 s
	c.want(counters.TaskRounds().Cells(), map[string]int64{"3": 1})
	c.want(counters.TaskRounds().Sum(), map[string]int64{"": 3})
	p := policyOf(t, "routing@1.3.0")
	c.want(counters.Policies(), map[string]int64{"1.3.0/" + p.Digest + "/" + p.ADR: 3})
	c.want(counters.Adoptions(), map[string]int64{"1.3.0/" + p.Digest: 1})
	for _, d := range []counters.Distribution{counters.Evaluations(), counters.PluginRuns()} {
		n := int64(0)
		for _, cell := range c.sums(d.Cells()) {
			n += cell
		}
		if n != 3 {
			t.Errorf("%s: %d values of 3 rounds", d.Name, n)
		}
	}
}

// TestCountersOfAStuckTask checks that a task's state counters end when its state
// changes.
func TestCountersOfAStuckTask(t *testing.T) {
	c := newCounted(t)
	c.force = nil
	c.round("T1", "no-such-category")
	c.stop("T2", host.Request{})
	since := "2026-11-21T12:00:00.000000000Z"
	c.want(counters.Tasks(), map[string]int64{"stuck": 2})
	c.want(counters.Stops(), map[string]int64{"stuck-finding": 1, "by-hand": 1})
	c.want(counters.BlockedTasks(), map[string]int64{"stuck/" + since + "/T1/stuck-finding": 1, "stuck/" + since + "/T2/by-hand": 1})
	c.later(time.Minute)
	if _, err := c.Resume(c.Context(), "T1", host.ResumeRequest{Mode: "replan", Reason: "again"}); err != nil {
		t.Fatal(err)
	}
	c.want(counters.Tasks(), map[string]int64{"stuck": 1, "open": 1})
	c.want(counters.Resumes(), map[string]int64{"replan": 1})
	c.round("T1")
	// The work began again in round 2 and took one round.
	c.want(counters.TaskRounds().Cells(), map[string]int64{"1": 1})
	c.want(counters.Tasks(), map[string]int64{"stuck": 1, "committed": 1})
	c.want(counters.BlockedTasks(), map[string]int64{"stuck/" + since + "/T2/by-hand": 1})
	c.want(counters.Daily(), map[string]int64{day + "/stuck": 2, day + "/committed": 1})
}

// TestReportWithManyCategories checks that the policy's own labels are never displaced
// by those of a first report.
func TestReportWithManyCategories(t *testing.T) {
	c := newCounted(t)
	c.force = nil
	var junk []string
	for i := range 200 {
		junk = append(junk, fmt.Sprintf("junk-%03d", i))
	}
	c.round("T1", junk...)
	c.round("T2", "todo-marker")
	sums := c.sums(counters.Findings())
	if sums["todo-marker/fail/executor"] != 1 || sums["other/fail/stuck"] != 200-(100-29) || len(sums) != 1+(100-29)+1 {
		t.Errorf("got %v", sums)
	}
	c.want(counters.Measure{Name: ledger.OverflowMeasure, Labels: []counters.Dimension{{Name: "dimension"}}}, map[string]int64{"category": 200 - (100 - 29)})
}

// TestForcedGatesAreCounted checks that forced gates are counted by phase.
func TestForcedGatesAreCounted(t *testing.T) {
	c := newCounted(t)
	c.force = newSummarized(t).force
	c.red("T1")
	c.review("T1")
	c.commit("T1")
	c.want(counters.Forced(), map[string]int64{"draft": 1, "review": 1, "commit": 1})
	c.want(counters.Verifications(), map[string]int64{"red": 1, "absent": 1})
}

// TestFailuresAreCounted checks that a round that fails because of a plugin leaves its
// task unchanged and is counted, unless there is no ledger yet. Rejected input leaves no
// trace.
func TestFailuresAreCounted(t *testing.T) {
	c := newCounted(t)
	c.force = nil
	wasm, err := os.ReadFile(filepath.Join("..", "plugins", "testdata", "hostile", "trap-at-start.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	c.write("tools/trap.wasm", string(wasm))
	trap := func() {
		t.Helper()
		r := c.report("todo-marker")
		r.Reports[0].Plugin = "./tools/trap.wasm"
		if _, err := c.Round(t.Context(), "T1", r); errs.CodeOf(err) != errs.PluginTrap {
			t.Fatal(err)
		}
	}
	trap()
	c.want(counters.Failures(), map[string]int64{})
	c.round("T1", "todo-marker")
	before, err := c.Task(t.Context(), "T1")
	if err != nil {
		t.Fatal(err)
	}
	trap()
	broken := host.Request{Reports: []api.ReportRef{{Plugin: "np-critic", Path: api.Stdin}}, Stdin: strings.NewReader(`{"findings":1}`)}
	if _, err := c.Round(t.Context(), "T1", broken); err == nil {
		t.Fatal("a broken report is decided on")
	}
	c.want(counters.Failures(), map[string]int64{"plugin-trap": 1})
	c.want(counters.PluginFailures(), map[string]int64{"trap/trap": 1})
	after, err := c.Task(t.Context(), "T1")
	if err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("the task was %+v and is %+v, %v", before, after, err)
	}
	if report, err := c.Verify(t.Context()); err != nil || !report.Sound() {
		t.Errorf("got %+v, %v", report.Problems, err)
	}
	tasks, err := c.Engine.Tasks(t.Context())
	if err != nil || !slices.Equal(ids(tasks), []string{"T1"}) {
		t.Errorf("the tasks are %v, %v", ids(tasks), err)
	}
}

func ids(tasks []host.TaskStatus) (all []string) {
	for _, t := range tasks {
		all = append(all, t.TaskID)
	}
	return all
}
