package host_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// scaleTurns is how often each command is measured on each ledger. A turn takes two
// rounds, and a task has at most 100.
const scaleTurns = 25

// BenchmarkScale shows that a command's cost grows at most logarithmically with its task's
// history and the number of other tasks. Commands are measured on all ledgers in turns, so
// that other load on the machine affects all alike. It logs the medians in milliseconds,
// and the ratio of the largest ledgers to the smallest.
func BenchmarkScale(b *testing.B) {
	commands := scaleCommands()
	for b.Loop() {
		grounds := []*ground{
			newGround(b, 10, 0), newGround(b, 1_000, 0), newGround(b, 100_000, 0), newGround(b, 10, 1_000), newGround(b, 10, 10_000),
		}
		for range scaleTurns {
			for _, command := range commands {
				for _, g := range grounds {
					g.measure(b, command)
				}
			}
		}
		b.Logf("\n%s", scaleTable(commands, grounds))
	}
	b.ReportMetric(0, "ns/op") // The total is meaningless.
}

// scaleTable formats the medians of the commands.
func scaleTable(commands []scaleCommand, grounds []*ground) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, value func(command string) string) {
		fmt.Fprintf(table, "%s\t", name)
		for _, c := range commands {
			fmt.Fprintf(table, "%s\t", value(c.name))
		}
		fmt.Fprintln(table)
	}
	ratio := func(above, below *ground) func(string) string {
		return func(c string) string {
			return fmt.Sprintf("x%.2f", float64(median(above.took[c]))/float64(median(below.took[c])))
		}
	}
	row("events, other tasks", func(c string) string { return c })
	for _, g := range grounds {
		row(fmt.Sprintf("%d, %d", g.events, g.others), func(c string) string {
			return fmt.Sprintf("%.2f", float64(median(g.took[c]).Microseconds())/1000)
		})
	}
	row("100,000 to 10 events", ratio(grounds[2], grounds[0]))
	row("10,000 to 0 tasks", ratio(grounds[4], grounds[0]))
	_ = table.Flush() // A strings.Builder never fails.
	return text.String()
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

// scaleCommand is a command that BenchmarkScale measures on task T.
type scaleCommand struct {
	name string
	// prepare does the work that is not measured.
	prepare func(b *testing.B, g *ground) (run func() error)
}

// scaleCommands are the commands in the order of a turn: a decision uses up the
// attestation, a stopped task is resumed, a question is answered. Explain 1 explains the
// round before the history; a wait is one poll.
func scaleCommands() []scaleCommand {
	return []scaleCommand{
		{"audit", func(b *testing.B, g *ground) func() error {
			req := api.AuditRequest{Agent: task.AgentCritic, Run: fmt.Sprint(g.turn), Tools: []string{"Read", "knowledge-search"}}
			return func() error { _, err := g.engine.Audit(b.Context(), "T", req); return err }
		}},
		{"round", func(b *testing.B, g *ground) func() error {
			req := request(g.mixture())
			return func() error { _, err := g.engine.Round(b.Context(), "T", req); return err }
		}},
		{"status", func(b *testing.B, g *ground) func() error {
			return func() error { _, err := g.engine.Task(b.Context(), "T"); return err }
		}},
		{"explain", func(b *testing.B, g *ground) func() error {
			return func() error { _, err := g.engine.Explain(b.Context(), "T", 0); return err }
		}},
		{"explain 1", func(b *testing.B, g *ground) func() error {
			return func() error { _, err := g.engine.Explain(b.Context(), "T", 1); return err }
		}},
		{"wait", func(b *testing.B, g *ground) func() error {
			return func() error { return g.engine.Wait(b.Context(), "T", 0) }
		}},
		{"stop", func(b *testing.B, g *ground) func() error {
			return func() error { _, err := g.engine.Stop(b.Context(), "T", api.StopRequest{Reason: "bench"}); return err }
		}},
		{"resume", func(b *testing.B, g *ground) func() error {
			req := host.ResumeRequest{Mode: task.MoreRounds, Rounds: 1, Reason: "bench"}
			return func() error { _, err := g.engine.Resume(b.Context(), "T", req); return err }
		}},
		{"answer", func(b *testing.B, g *ground) func() error {
			if _, err := g.engine.Round(b.Context(), "T", request(`{"critic":"critic","findings":[{"category":"question-to-user"}]}`)); err != nil {
				b.Fatal(err)
			}
			return func() error { _, err := g.engine.Answer(b.Context(), "T", host.AnswerRequest{Text: "yes"}); return err }
		}},
	}
}

// ground is a project with task T, with a number of events, and a number of other tasks.
type ground struct {
	root           string
	events, others int
	engine         *host.Engine
	turn           int                        // number of measurements
	took           map[string][]time.Duration // by command
}

func (g *ground) measure(b *testing.B, command scaleCommand) {
	b.Helper()
	g.turn++
	run := command.prepare(b, g)
	start := time.Now()
	err := run()
	g.took[command.name] = append(g.took[command.name], time.Since(start))
	if err != nil {
		b.Fatalf("%s, %d events, %d other tasks: %v", command.name, g.events, g.others, err)
	}
}

// newGround creates a project by real rounds, then prolongs it: round 1 has one decision,
// and all others are in round 2, each with one finding of the previous decision and two
// new ones.
func newGround(b testing.TB, events, others int) *ground {
	b.Helper()
	root := b.TempDir()
	// A policy that lets a task stay in its round permanently.
	if err := os.WriteFile(filepath.Join(root, project.ConfigFile), []byte("policy: routing@1.1.0\nmax_rounds: 40\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	g := &ground{root: root, events: events, others: others, engine: newEngine(b, root, noon), took: make(map[string][]time.Duration)}
	for _, report := range []string{issues, planReport(0, 1, 2)} {
		if _, err := g.engine.Round(b.Context(), "T", request(report)); err != nil {
			b.Fatal(err)
		}
	}
	state := filepath.Join(root, project.StateDir)
	multiply(b, state, others)
	prolong(b, state, events)
	return g
}

// planReport returns a report whose findings keep the task in its round.
func planReport(numbers ...int) string {
	items := make([]string, len(numbers))
	for i, n := range numbers {
		items[i] = fmt.Sprintf(`{"category":"infrastructure-mismatch","severity":"fail","file":%q,"line":1,"remediation":"Plan for it"}`, fileOf(n))
	}
	return `{"critic":"critic","findings":[` + strings.Join(items, ",") + `]}`
}

// fileOf returns the file of a finding of planReport. All have the same length.
func fileOf(n int) string { return fmt.Sprintf("src/%012d.go", n) }

func fingerprintOf(n int) string {
	file, line := fileOf(n), 1
	return finding.Fingerprint("infrastructure-mismatch", &file, &line, "Plan for it")
}

// mixture returns a report of twenty findings: ten spread over the task's history and ten
// new ones.
func (g *ground) mixture() string {
	var numbers []int
	for i := range 10 {
		numbers = append(numbers, i*2*g.events/10, 1_000_000_000+10*g.turn+i)
	}
	return planReport(numbers...)
}

// prolong appends variants of task T's latest decision up to a number of events.
func prolong(b testing.TB, state string, events int) {
	b.Helper()
	l, err := host.OpenLedger(b.Context(), state)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}()
	head, err := l.Head(b.Context(), "T")
	if err != nil {
		b.Fatal(err)
	}
	newest, err := l.Event(b.Context(), "T", head.N)
	if err != nil {
		b.Fatal(err)
	}
	// The variants are decided on different states.
	newest.Body = regexp.MustCompile(`"before":"[^"]*",`).ReplaceAll(newest.Body, nil)
	const batch = 1000
	var drafts []ledger.NewEvent
	for n := int(head.N) + 1; n <= events; n++ {
		var swap []string
		for i := range 3 {
			now := 2*(n-int(head.N)) + i
			swap = append(swap, fileOf(i), fileOf(now), fingerprintOf(i), fingerprintOf(now))
		}
		body := strings.NewReplacer(swap...).Replace(string(newest.Body))
		drafts = append(drafts, ledger.NewEvent{Kind: newest.Kind, Body: []byte(body)})
		if len(drafts) == batch || n == events {
			if _, err := l.AppendAll(b.Context(), noon(), ledger.Batch{Task: "T", After: int64(n - len(drafts)), Events: drafts}); err != nil {
				b.Fatal(err)
			}
			drafts = drafts[:0]
		}
	}
}

// multiply adds copies of task T as other tasks. Their chains are not sound; the benchmark
// does not verify them.
func multiply(b testing.TB, state string, others int) {
	b.Helper()
	db, err := sql.Open("sqlite", filepath.Join(state, "ledger.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	numbers := fmt.Sprintf("WITH RECURSIVE i(v) AS (SELECT 1 WHERE %d > 0 UNION ALL SELECT v + 1 FROM i WHERE v < %[1]d) ", others)
	for _, statement := range []string{
		`INSERT INTO tasks SELECT 'O' || v, n, head, replace(state, '"task_id":"T"', '"task_id":"O' || v || '"') FROM i, tasks WHERE task = 'T'`,
		`INSERT INTO entries SELECT 'O' || v, key, value FROM i, entries WHERE task = 'T'`,
		`INSERT INTO events (task, n, at, kind, body, prev, hash) SELECT 'O' || v, n, at, kind, body, prev, hash FROM i, events WHERE task = 'T'`,
	} {
		if _, err := db.ExecContext(b.Context(), numbers+statement); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMark measures stopping a task and writing its section of STATE.md, beside those
// of other tasks.
func BenchmarkMark(b *testing.B) {
	var blocks strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&blocks, "<!-- switchyard:stuck O-%04d -->\n**O-%04[1]d is stuck** in round 3 (max-rounds).\n\n- fail style src/a.go:1: Say it\n<!-- /switchyard:stuck O-%04[1]d -->\n", i)
	}
	for _, c := range []struct{ name, text string }{{"empty", ""}, {"1000blocks", blocks.String()}} {
		b.Run(c.name, func(b *testing.B) {
			root := b.TempDir()
			e := newEngine(b, root, noon)
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				err := os.MkdirAll(filepath.Join(root, project.StateDir), 0o700)
				if err := errors.Join(err, os.WriteFile(filepath.Join(root, project.StateMDFile), []byte(c.text), 0o600)); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := e.Stop(b.Context(), fmt.Sprint("T-", i), api.StopRequest{Reason: "bench"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
