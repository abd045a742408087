package host_test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// reviewedAt returns a project whose round was killed after its review and before its
// decision. The review's run is recorded as one at that level.
func reviewedAt(t *testing.T, level confinement.Level, config string, critic fakeagent.Scenario) site {
	t.Helper()
	from := newSite(t, config, critic).between(t)
	s := from
	s.root = t.TempDir()
	state := s.path(project.StateDir)
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := copyEvents(t.Context(), state, from.path(project.StateDir), func(e ledger.Event) []byte {
		if e.Kind != string(task.KindSpawnEnded) {
			return e.Body
		}
		var body object
		if err := json.Unmarshal(e.Body, &body); err != nil {
			t.Fatal(err)
		}
		setAll("confinement", level, body["spawn"].(object), body["event"].(object)["receipt"].(object))
		text, err := json.Marshal(body, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}); err != nil {
		t.Fatal(err)
	}
	if err := copyFiles(s.root, from.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestConfinementOfADecision checks that the level of a decision is the lowest of its
// reports.
func TestConfinementOfADecision(t *testing.T) {
	t.Parallel()
	const linter = `reports:
  - run: printf '{"critic":"style","task_id":"T","round":1,"findings":[]}'
    plugin: np-critic
spawn: {retries: 0, adapter: claude}
`
	for _, c := range []struct {
		name         string
		level        confinement.Level
		config       string
		given        bool
		want         confinement.Level
		reports      []confinement.Level
		seenByPolicy confinement.Level
	}{
		{name: "a confined critic", level: confinement.Files, want: confinement.Files, reports: []confinement.Level{confinement.Files}, seenByPolicy: confinement.Files},
		{name: "another level", level: confinement.Network, want: confinement.Network, reports: []confinement.Level{confinement.Network}, seenByPolicy: confinement.Network},
		{name: "an unconfined critic", level: confinement.None, want: confinement.None, reports: []confinement.Level{confinement.None}, seenByPolicy: confinement.None},
		{
			name: "a given report", level: confinement.Files, given: true, want: confinement.None,
			reports: []confinement.Level{"", confinement.Files}, seenByPolicy: confinement.None,
		},
		{
			name: "the report of a command", level: confinement.Files, config: linter, want: confinement.None,
			reports: []confinement.Level{"", confinement.Files}, seenByPolicy: confinement.None,
		},
		{
			name: "a policy without a bar", level: confinement.Files, config: once + "policy: routing@1.2.0\n", want: confinement.Files,
			reports: []confinement.Level{confinement.Files},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := reviewedAt(t, c.level, cmp.Or(c.config, once), fakeagent.Finds(wrong()))
			run := s.state(t).Runs[0].Intent.Run
			req := host.Request{Spawn: true}
			if c.given {
				req.Reports, req.Stdin = []host.ReportRef{{Plugin: "np-critic", Path: api.Stdin}}, strings.NewReader(clean)
			}
			r, err := s.engine(t, noon).Round(t.Context(), "T", req)
			if err != nil || r.ManualFallback != nil {
				t.Fatalf("got %+v, %v", r, err)
			}
			d := r.Decision
			var levels []confinement.Level
			for _, report := range d.Reports {
				levels = append(levels, report.Confinement)
			}
			last := d.Reports[len(d.Reports)-1]
			if d.Confinement != c.want || !slices.Equal(levels, c.reports) || last.Run != run || d.Spawns[0].Confinement != c.level {
				t.Errorf("got level %q of the reports %q of run %q, spawned at %q", d.Confinement, levels, last.Run, d.Spawns[0].Confinement)
			}
			var seen confinement.Level
			if d.Input.Facts != nil {
				seen = d.Input.Confinement
			}
			if seen != c.seenByPolicy {
				t.Errorf("the policy saw %q", seen)
			}
			if last := s.state(t).Last; last == nil || last.Confinement != c.want {
				t.Errorf("the task's last decision is %+v", last)
			}
			if x, err := s.engine(t, noon).Explain(t.Context(), "T", 0); err != nil || x.Decision.Confinement != c.want {
				t.Errorf("explained as %+v, %v", x.Decision, err)
			}
		})
	}
}

// TestGivenReportsHaveNoConfinement checks that a decision says nothing of confinement if
// Switchyard started nothing.
func TestGivenReportsHaveNoConfinement(t *testing.T) {
	a := newRecord(t, "T")
	d := a.decided(t)[0].Decision
	if d.Confinement != "" || d.Reports[0].Confinement != "" || d.Input.Confinement != confinement.None {
		t.Errorf("got %q and %q, and the policy saw %q", d.Confinement, d.Reports[0].Confinement, d.Input.Confinement)
	}
}

// TestForgedConfinement checks that a changed level is detected, although all hashes match
// and the record does not contradict itself.
func TestForgedConfinement(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := reviewedAt(t, confinement.Files, once, fakeagent.Finds(wrong()))
	if _, err := s.round(t); err != nil {
		t.Fatal(err)
	}
	whole := &archive{root: s.root, Engine: s.engine(t, noon)}
	if report := checked(t, whole.Engine); !report.Sound() || report.Decisions != 1 {
		t.Fatalf("got %+v", report)
	}
	soundEvents(t, whole.Engine)
	report := func(decision object) object { return decision["reports"].([]any)[0].(object) }
	for name, c := range map[string]struct {
		forge func(event, decision, input, barInput object)
		says  string
	}{
		"a higher level of the decision": {func(event, decision, input, barInput object) {
			setAll("confinement", "files+network", event, decision, input, barInput)
		}, `and the lowest of its reports is "files"`},
		"a higher level of the report": {func(event, decision, input, barInput object) {
			setAll("confinement", "files+network", event, decision, input, barInput, report(decision))
		}, `and that of the run is "files"`},
		"a lower level": {func(event, decision, input, barInput object) {
			setAll("confinement", "none", event, decision, input, barInput, report(decision))
		}, `and that of the run is "files"`},
		"no level": {func(event, decision, _, _ object) {
			delete(event, "confinement")
			delete(decision, "confinement")
		}, `and the lowest of its reports is "files"`},
		"the level of the decision alone": {func(_, decision, _, _ object) { decision["confinement"] = "files+network" }, `and the lowest of its reports is "files"`},
		"the level that the policy saw":   {func(_, _, input, barInput object) { setAll("confinement", "files+network", input, barInput) }, "its policy saw the confinement"},
		"the level that the bar saw":      {func(_, _, _, barInput object) { barInput["confinement"] = "files+network" }, "its input is not that of the findings"},
		"a report that no run wrote": {func(_, decision, _, _ object) {
			report(decision)["digest"] = "sha256:" + strings.Repeat("0", 64)
		}, `and that of the run is "none"`},
		"a report of another run": {func(_, decision, _, _ object) { report(decision)["run"] = "other" }, `and that of the run is "none"`},
		"a report of no run":      {func(_, decision, _, _ object) { delete(report(decision), "run") }, `and that of the run is ""`},
	} {
		t.Run(name, func(t *testing.T) {
			a := whole.copied(t)
			e := a.decided(t)[0].Event
			a.forge(t, e, forging(t, c.forge))
			a.finds(t, e, c.says)
		})
	}
	t.Run("a higher level of the receipt", func(t *testing.T) {
		a := whole.copied(t)
		events := soundEvents(t, a.Engine)
		at := slices.IndexFunc(events, func(e ledger.Event) bool { return e.Kind == string(task.KindSpawnEnded) })
		a.forge(t, events[at], func(body string) string {
			return strings.Replace(body, `"confinement":"files"`, `"confinement":"files+network"`, 1)
		})
		a.finds(t, events[at], "and its record says")
	})
	t.Run("an unknown level of the receipt", func(t *testing.T) {
		a := whole.copied(t)
		events := soundEvents(t, a.Engine)
		at := slices.IndexFunc(events, func(e ledger.Event) bool { return e.Kind == string(task.KindSpawnEnded) })
		a.forge(t, events[at], func(body string) string {
			return strings.ReplaceAll(body, `"confinement":"files"`, `"confinement":"full"`)
		})
		a.finds(t, events[at], "unknown confinement level")
	})
}

// finds fails unless ledger verify finds a problem of an event.
func (a *archive) finds(t *testing.T, e ledger.Event, says string) {
	t.Helper()
	chains, err := a.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	decisions := checked(t, a.Engine)
	for _, p := range slices.Concat(chains.Problems, decisions.Problems) {
		if p.Task == e.Task && p.N == e.N && strings.Contains(p.Message, says) {
			return
		}
	}
	t.Errorf("got %+v and %+v, want %s", chains.Problems, decisions.Problems, says)
}
