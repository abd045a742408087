package host_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// archive is a project with many decisions: with and without findings, of known and
// unknown categories, with green, red and no verification, under two policies.
type archive struct {
	*host.Engine
	root string
	now  time.Time
}

// newArchive decides rounds of a number of tasks, a minute apart.
func newArchive(t testing.TB, tasks int) *archive {
	t.Helper()
	a := &archive{root: t.TempDir(), now: noon()}
	a.Engine = newEngine(t, a.root, func() time.Time { return a.now })
	random := rand.New(rand.NewPCG(6, 3))
	for i := range tasks {
		id := fmt.Sprintf("T-%d", i)
		for range 1 + random.IntN(3) {
			a.now = a.now.Add(time.Minute)
			d, err := a.Round(t.Context(), id, randomRequest(random))
			switch {
			case errs.CodeOf(err) == errs.CommitUnverified:
				continue // The task is verified already; nothing was recorded.
			case err != nil:
				t.Fatal(err)
			}
			if d.NextAction != "executor" && d.NextAction != "researcher" && d.NextAction != "plan-checker" {
				break
			}
		}
	}
	return a
}

// newRecord returns an archive with one decision for each task, all with the same finding.
func newRecord(t testing.TB, tasks ...string) *archive {
	t.Helper()
	a := &archive{root: t.TempDir()}
	a.Engine = newEngine(t, a.root, noon)
	for _, id := range tasks {
		if _, err := a.Round(t.Context(), id, request(issues)); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// copied returns another archive with the same ledger.
func (a *archive) copied(t testing.TB) *archive {
	t.Helper()
	c := &archive{root: t.TempDir()}
	c.Engine = newEngine(t, c.root, noon)
	a.edit(t, "PRAGMA wal_checkpoint(TRUNCATE)")
	data, err := os.ReadFile(a.database())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(c.database()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.database(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// decided returns the decisions of the archive in the order of recording, read naively.
func (a *archive) decided(t testing.TB) (decisions []decidedRound) {
	t.Helper()
	for event, err := range a.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Kind != string(task.KindDecided) {
			continue
		}
		var body struct {
			Decision host.Decision `json:"decision"`
		}
		if err := json.Unmarshal(event.Body, &body); err != nil {
			t.Fatal(err)
		}
		decisions = append(decisions, decidedRound{event, body.Decision})
	}
	if len(decisions) == 0 {
		t.Fatal("nothing is decided")
	}
	return decisions
}

type decidedRound struct {
	ledger.Event
	host.Decision
}

// again decides a round under a candidate, naively.
func (d decidedRound) again(t rapid.TB, candidate *policies.Policy) string {
	in := d.Input
	in.Routes = map[string]int{}
	for _, f := range d.Findings {
		to, _ := candidate.Route(f.Category)
		in.Routes[to]++
	}
	now, err := candidate.Decide(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return now.NextAction
}

// export writes the ledger as ledger export does.
func (a *archive) export(t testing.TB, w io.Writer) {
	t.Helper()
	for event, err := range a.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := json.MarshalWrite(w, event); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			t.Fatal(err)
		}
	}
}

// replayed replays the archive and fails the test on an error.
func (a *archive) replayed(t rapid.TB, req api.ReplayRequest) replay.Report {
	t.Helper()
	report, err := a.Policies().Replay(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// edit changes the ledger directly.
func (a *archive) edit(t testing.TB, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", a.database())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

func (a *archive) database() string { return filepath.Join(a.root, project.StateDir, "ledger.db") }

// forge changes an event's body and updates its hash.
func (a *archive) forge(t testing.TB, e ledger.Event, change func(body string) string) {
	t.Helper()
	body := change(string(e.Body))
	if body == string(e.Body) {
		t.Fatalf("the forgery changes nothing of %s", body)
	}
	e.Body = []byte(body)
	a.edit(t, "UPDATE events SET body = ?, hash = ? WHERE seq = ?", body, e.Sum(), e.Seq)
}

func policy(t testing.TB, ref string) *policies.Policy {
	t.Helper()
	p, err := policies.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rerouted returns routing 1.2.0 with a category routed elsewhere.
func rerouted(t rapid.TB, category, to string) *policies.Policy {
	t.Helper()
	p, err := policies.Load(context.Background(), "routing@1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	sources := p.Sources()
	was, known := p.Route(category)
	if known {
		sources[0].Text = strings.Replace(sources[0].Text, fmt.Sprintf("%q: %q,", category, was), fmt.Sprintf("%q: %q,", category, to), 1)
	} else {
		sources[0].Text = strings.Replace(sources[0].Text, "route_table := {", fmt.Sprintf("route_table := {\n\t%q: %q,", category, to), 1)
	}
	if p, err = (routing.Loader{}).FromSources(context.Background(), "rerouted", sources); err != nil {
		t.Fatal(err)
	}
	if got, _ := p.Route(category); got != to {
		t.Fatalf("%s goes to %s, want %s", category, got, to)
	}
	return p
}

// TestReplayUnderAnotherTable compares a replay with a naive one.
func TestReplayUnderAnotherTable(t *testing.T) {
	sequential(t)
	a := newArchive(t, 25)
	decided := a.decided(t)
	flipped := int64(0)
	for _, category := range []string{"style", "missing-test", "information-missing", "question-to-user", "made-up", "never-seen"} {
		for _, to := range []string{"executor", "researcher", "plan-checker", "askuser", "stuck"} {
			t.Run(category+" to "+to, func(t *testing.T) {
				candidate := rerouted(t, category, to)
				report := a.replayed(t, api.ReplayRequest{Policy: candidate})
				flipped += report.ChangedCount()
				matrix := map[[2]string]int64{}
				var flips []string
				for _, d := range decided {
					now := d.again(t, candidate)
					matrix[[2]string{d.NextAction, now}]++
					if now != d.NextAction {
						flips = append(flips, fmt.Sprintf("%s round %d, event %d at %s: %s (%s) to %s", d.Task, d.Round, d.N, d.At, d.NextAction, d.Reason, now))
					}
				}
				got := map[[2]string]int64{}
				for _, c := range report.Matrix {
					got[[2]string{c.From, c.To}] = c.Count
				}
				if !maps.Equal(got, matrix) {
					t.Errorf("the matrix is %v, want %v", got, matrix)
				}
				var listed []string
				for _, f := range report.Changed {
					listed = append(listed, fmt.Sprintf("%s round %d, event %d at %s: %s (%s) to %s", f.Task, f.Round, f.Event, f.At, f.From.NextAction, f.From.Reason, f.To.NextAction))
				}
				if !slices.Equal(listed, flips) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(listed, "\n"), strings.Join(flips, "\n"))
				}
				if report.Decisions != int64(len(decided)) || report.Through != decided[len(decided)-1].Seq || report.ChangedCount() != int64(len(flips)) {
					t.Errorf("%d decisions through %d with %d flips", report.Decisions, report.Through, report.ChangedCount())
				}
			})
		}
	}
	if flipped < 50 {
		t.Errorf("%d flips are not much of a test", flipped)
	}
}

// TestReplayUnderTheRecordedPolicy checks that replaying under the recorded policy changes
// no decision.
func TestReplayUnderTheRecordedPolicy(t *testing.T) {
	a := newArchive(t, 25)
	decided := a.decided(t)
	for _, ref := range []string{"routing@1.1.0", policies.Default} {
		p := policy(t, ref)
		report := a.replayed(t, api.ReplayRequest{Policy: p})
		for _, f := range report.Changed {
			for _, d := range decided {
				if d.Task == f.Task && d.N == f.Event && d.Policy.Digest == p.Identity().Digest {
					t.Errorf("%s flips its own %+v", ref, f)
				}
			}
		}
		own := int64(0)
		for _, d := range decided {
			if d.Policy.Digest == p.Identity().Digest {
				own++
			}
		}
		if own < 10 {
			t.Errorf("%s decided %d rounds, which is not much of a test", ref, own)
		}
		if i := slices.IndexFunc(report.Policies, func(u replay.Used) bool { return u.Policy == p.Identity() }); i < 0 || report.Policies[i].Decisions != own {
			t.Errorf("%s decided %d rounds, and the report says %+v", ref, own, report.Policies)
		}
	}
}

// TestReplayOfAnotherLedger checks that the project's ledger, a copy of the database and an export
// give the same report.
func TestReplayOfAnotherLedger(t *testing.T) {
	a := newArchive(t, 12)
	candidate := rerouted(t, "style", "researcher")
	var text bytes.Buffer
	a.export(t, &text)
	a.edit(t, "PRAGMA wal_checkpoint(TRUNCATE)")
	copied, err := os.ReadFile(a.database())
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"export.jsonl": text.Bytes(), "copy.db": copied} {
		if err := os.WriteFile(filepath.Join(a.root, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	middle := a.decided(t)[10]
	for _, c := range []api.ReplayRequest{
		{Policy: candidate},
		{Policy: candidate, Since: middle.Time()},
		{Policy: candidate, Through: middle.Seq},
		{Policy: candidate, Since: noon().Add(time.Hour), Through: 1},
	} {
		own := a.replayed(t, c)
		other := newEngine(t, a.root, noon)
		for _, path := range []string{"export.jsonl", "copy.db", a.database()} {
			c.Ledger = path
			report, err := other.Policies().Replay(t.Context(), c)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			want, _ := json.Marshal(own, json.Deterministic(true))
			got, _ := json.Marshal(report, json.Deterministic(true))
			if !bytes.Equal(got, want) || report.Digest() != own.Digest() {
				t.Errorf("%s: got %s\nwant %s", path, got, want)
			}
		}
	}
	if entries, _ := filepath.Glob(filepath.Join(a.root, "copy.db?*")); len(entries) > 0 {
		t.Errorf("reading a copy leaves %v behind", entries)
	}
}

// TestReplayAgainLater checks that a replay's digest is the same after the ledger has
// grown.
func TestReplayAgainLater(t *testing.T) {
	a := newRecord(t, "S", "T")
	candidate := rerouted(t, "style", "researcher")
	first := a.replayed(t, api.ReplayRequest{Policy: candidate})
	if _, err := a.Round(t.Context(), "another", request(issues)); err != nil {
		t.Fatal(err)
	}
	if later := a.replayed(t, api.ReplayRequest{Policy: candidate}); later.Digest() == first.Digest() || later.Decisions != first.Decisions+1 {
		t.Error("a replay of more decisions has the same digest")
	}
	if again := a.replayed(t, api.ReplayRequest{Policy: candidate, Through: first.Through}); again.Digest() != first.Digest() {
		t.Errorf("got %+v, want %+v", again, first)
	}
}

// TestReplaySinceAndThrough checks that both bounds are inclusive.
func TestReplaySinceAndThrough(t *testing.T) {
	a := newArchive(t, 12)
	decided := a.decided(t)
	p := policy(t, policies.Default)
	rapid.Check(t, func(t *rapid.T) {
		req := api.ReplayRequest{Policy: p, Through: rapid.Int64Range(0, decided[len(decided)-1].Seq+2).Draw(t, "through")}
		if rapid.Bool().Draw(t, "since") {
			req.Since = rapid.SampledFrom(decided).Draw(t, "at").Time().Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "nanoseconds")))
		}
		var want, last int64
		for _, d := range decided {
			if !d.Time().Before(req.Since) && (req.Through == 0 || d.Seq <= req.Through) {
				want++
				last = d.Seq
			}
		}
		if report := a.replayed(t, req); report.Decisions != want || report.Through != last {
			t.Fatalf("%d decisions through %d, want %d through %d", report.Decisions, report.Through, want, last)
		}
	})
	if _, err := a.Policies().Replay(t.Context(), api.ReplayRequest{Policy: p, Through: -1}); err == nil {
		t.Error("there is an event -1")
	}
}

// TestReplayOfNothing checks that replaying an empty ledger creates nothing.
func TestReplayOfNothing(t *testing.T) {
	root := t.TempDir()
	report, err := newEngine(t, root, noon).Policies().Replay(t.Context(), api.ReplayRequest{Policy: policy(t, policies.Default), FailOn: [][2]string{{api.AnyAction, api.AnyAction}}})
	if err != nil || report.Decisions != 0 || report.Through != 0 {
		t.Errorf("got %+v, %v", report, err)
	}
	if _, err := os.Stat(filepath.Join(root, project.StateDir)); !errors.Is(err, os.ErrNotExist) {
		t.Error("it leaves state behind")
	}
}

// TestReplayRefusesFlips checks that a change named by --fail-on-flip is an error with the
// report.
func TestReplayRefusesFlips(t *testing.T) {
	a := &archive{root: t.TempDir()}
	a.Engine = newEngine(t, a.root, noon)
	for i, report := range []string{issues, issues, clean, `{"critic":"critic","findings":[{"category":"question-to-user"},{"category":"style"}]}`} {
		if _, err := a.Round(t.Context(), fmt.Sprint("T-", i), request(report)); err != nil {
			t.Fatal(err)
		}
	}
	candidate := rerouted(t, "style", "plan-checker")
	for _, c := range []struct {
		failOn [][2]string
		code   errs.Code
		count  int64
	}{
		{nil, "", 0},
		{[][2]string{{"executor", "plan-checker"}}, errs.PolicyFlips, 2},
		{[][2]string{{"executor", "*"}}, errs.PolicyFlips, 2},
		{[][2]string{{"*", "plan-checker"}}, errs.PolicyFlips, 2},
		{[][2]string{{"*", "*"}, {"*", "*"}}, errs.PolicyFlips, 2},
		{[][2]string{{"stuck", "executor"}, {"executor", "plan-checker"}}, errs.PolicyFlips, 2},
		{[][2]string{{"executor", "commit"}, {"askuser", "*"}, {"*", "undecided"}, {"*", "stuck"}}, "", 0},
		{[][2]string{{"executor", "executer"}}, errs.PolicyFlipUnknown, 0},
		{[][2]string{{"executer", "executor"}}, errs.PolicyFlipUnknown, 0},
		{[][2]string{{"", "executor"}}, errs.PolicyFlipUnknown, 0},
		{[][2]string{{"executor", ""}}, errs.PolicyFlipUnknown, 0},
		{[][2]string{{"undecided", "executor"}}, errs.PolicyFlipUnknown, 0},
		{[][2]string{{"executor", "executor"}}, errs.PolicyFlipUnknown, 0},
		// A typo in one change must not let another pass.
		{[][2]string{{"executor", "plan-checker"}, {"executer", "executor"}}, errs.PolicyFlipUnknown, 0},
	} {
		report, err := a.Policies().Replay(t.Context(), api.ReplayRequest{Policy: candidate, FailOn: c.failOn})
		if errs.CodeOf(err) != c.code {
			t.Errorf("%v: got %v, want %q", c.failOn, err, c.code)
			continue
		}
		if c.code == errs.PolicyFlipUnknown {
			continue
		}
		if report.Decisions != 4 || report.ChangedCount() != 2 {
			t.Errorf("%v: the report is %+v", c.failOn, report)
		}
		if f, ok := errors.AsType[*errs.Error](err); ok {
			flips, _ := f.Details["flips"].([]replay.Cell)
			if f.Details["count"] != c.count || !slices.Equal(flips, []replay.Cell{{From: "executor", To: "plan-checker", Count: 2}}) {
				t.Errorf("%v: the details are %v", c.failOn, f.Details)
			}
		}
	}
}

// TestReplayOfATamperedLedger checks that a replay ends at the first corrupt event.
func TestReplayOfATamperedLedger(t *testing.T) {
	whole := newRecord(t, "T")
	for name, spoil := range map[string]func(t *testing.T, a *archive, e ledger.Event){
		"changed": func(t *testing.T, a *archive, e ledger.Event) {
			a.edit(t, `UPDATE events SET body = replace(body, 'style', 'stile') WHERE seq = ?`, e.Seq)
		},
		"no JSON": func(t *testing.T, a *archive, e ledger.Event) {
			a.forge(t, e, func(string) string { return "passed" })
		},
		"no decision": func(t *testing.T, a *archive, e ledger.Event) {
			a.forge(t, e, func(string) string { return `{"by":"tess","event":{"round":1}}` })
		},
		"no input": func(t *testing.T, a *archive, e ledger.Event) {
			a.forge(t, e, func(body string) string { return strings.Replace(body, `"input":`, `"inputs":`, 1) })
		},
		"another task's": func(t *testing.T, a *archive, e ledger.Event) {
			a.forge(t, e, func(body string) string { return strings.Replace(body, `"task_id":"T"`, `"task_id":"U"`, 1) })
		},
		"of two minds": func(t *testing.T, a *archive, e ledger.Event) {
			a.forge(t, e, func(body string) string {
				return strings.Replace(body, `"next_action":"executor"`, `"next_action":"commit"`, 1)
			})
		},
		"no time": func(t *testing.T, a *archive, e ledger.Event) {
			a.edit(t, `UPDATE events SET at = '' WHERE seq = ?`, e.Seq)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := whole.copied(t)
			spoil(t, a, a.decided(t)[0].Event)
			_, err := a.Policies().Replay(t.Context(), api.ReplayRequest{Policy: policy(t, policies.Default)})
			f, ok := errors.AsType[*errs.Error](err)
			if !ok || f.Code != errs.LedgerTampered || f.Details["task"] != "T" {
				t.Errorf("got %v, want %s", err, errs.LedgerTampered)
			}
		})
	}
}

func TestReplayOfAFileThatIsNotALedger(t *testing.T) {
	a := newRecord(t, "T")
	text := filepath.Join(a.root, "text")
	if err := os.WriteFile(text, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(a.root, "torn.db")
	if err := os.WriteFile(torn, []byte("SQLite format 3\x00 and nothing more"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(a.root, "link")
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for path, code := range map[string]errs.Code{
		"nothing": errs.FileNotFound, ".": errs.FileUnreadable, "text": errs.LedgerExportInvalid, "torn.db": errs.LedgerCorrupt, "link": errs.PathEscapesProject,
	} {
		if _, err := a.Policies().Replay(t.Context(), api.ReplayRequest{Policy: policy(t, policies.Default), Ledger: path}); errs.CodeOf(err) != code {
			t.Errorf("%s: got %v, want %s", path, err, code)
		}
	}
}

// TestReplayOfATamperedExport checks that the error names the line.
func TestReplayOfATamperedExport(t *testing.T) {
	a := newRecord(t, "S", "T")
	var text bytes.Buffer
	a.export(t, &text)
	last := bytes.Count(text.Bytes(), []byte("\n"))
	spoiled := bytes.Replace(text.Bytes(), []byte(`"task_id":"T"`), []byte(`"task_id":"S"`), 1)
	if err := os.WriteFile(filepath.Join(a.root, "export"), spoiled, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := a.Policies().Replay(t.Context(), api.ReplayRequest{Policy: policy(t, policies.Default), Ledger: "export"})
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Code != errs.LedgerExportInvalid || f.Details["line"] != int64(last) {
		t.Errorf("got %v, want %s in line %d", err, errs.LedgerExportInvalid, last)
	}
}

// TestReplayNamesTheRules checks that a report names the rules of both policies, for every
// kind of ledger.
func TestReplayNamesTheRules(t *testing.T) {
	a := &archive{root: t.TempDir()}
	a.Engine = newEngine(t, a.root, noon)
	r := request(issues)
	r.MaxRounds = 1
	if d, err := a.Round(t.Context(), "T", r); err != nil || d.Reason != "max-rounds" {
		t.Fatalf("%s, %v", d.Reason, err)
	}
	var text bytes.Buffer
	a.export(t, &text)
	if err := os.WriteFile(filepath.Join(a.root, "export"), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sources := policy(t, policies.Default).Sources()
	sources[0].Text = strings.Replace(sources[0].Text, "input.round >= input.max_rounds", "input.round > input.max_rounds", 1)
	candidate, err := routing.Loader{}.FromSources(t.Context(), "later", sources)
	if err != nil {
		t.Fatal(err)
	}
	for from, c := range map[string]struct {
		engine *host.Engine
		ledger string
	}{
		"its own ledger":       {a.Engine, ""},
		"an export of it":      {a.Engine, "export"},
		"another's ledger":     {newEngine(t, t.TempDir(), noon), a.database()},
		"the ledger by a path": {newEngine(t, a.root, noon), a.database()},
	} {
		report, err := c.engine.Policies().Replay(t.Context(), api.ReplayRequest{Policy: candidate, Ledger: c.ledger})
		if err != nil || len(report.Changed) != 1 || len(report.Changed[0].Causes) != 1 {
			t.Errorf("%s: got %+v, %v", from, report, err)
			continue
		}
		cause := report.Changed[0].Causes[0]
		if cause.Kind != replay.CauseRules || cause.Was == nil || cause.Now == nil {
			t.Errorf("%s: got %+v", from, cause)
			continue
		}
		if !strings.Contains(cause.Was.Text, "max-rounds") || !strings.Contains(cause.Now.Text, "routed") {
			t.Errorf("%s: the rules are %q and %q", from, cause.Was.Text, cause.Now.Text)
		}
	}
}

// TestReplayReportsItsProgress checks that progress follows the order of the events.
func TestReplayReportsItsProgress(t *testing.T) {
	a := newArchive(t, 12)
	var reported []int64
	a.replayed(t, api.ReplayRequest{Policy: policy(t, policies.Default), Progress: func(done, total int64) {
		if total < done {
			t.Errorf("event %d of %d", done, total)
		}
		reported = append(reported, done)
	}})
	var want []int64
	for _, d := range a.decided(t) {
		want = append(want, d.Seq)
	}
	if !slices.Equal(reported, want) {
		t.Errorf("got %v, want %v", reported, want)
	}
}

// TestCancelledReplayEnds checks that a cancelled replay ends; TestMain finds goroutines
// that it leaves.
func TestCancelledReplayEnds(t *testing.T) {
	a := newArchive(t, 10)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	_, err := a.Policies().Replay(ctx, api.ReplayRequest{Policy: policy(t, policies.Default), Progress: func(int64, int64) { cancel(enough) }})
	if !errors.Is(err, context.Canceled) && !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

// TestReplayWithRounds checks that events recorded during a replay are skipped.
func TestReplayWithRounds(t *testing.T) {
	a := newRecord(t, "S", "T", "U")
	before := int64(len(a.decided(t)))
	report := a.replayed(t, api.ReplayRequest{Policy: policy(t, policies.Default), Progress: func(done, total int64) {
		if _, err := a.Round(t.Context(), fmt.Sprint("late-", done), request(clean)); err != nil {
			t.Fatal(err)
		}
	}})
	if report.Decisions != before {
		t.Errorf("%d decisions, want %d", report.Decisions, before)
	}
}
