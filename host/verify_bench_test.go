package host_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// eventsVariable sets the number of events that BenchmarkVerify verifies.
const eventsVariable = "SWITCHYARD_VERIFY_EVENTS"

// BenchmarkVerify verifies a ledger without and with its decisions. In turn, it lets
// sqlite3 read all bodies, and hashes as many bytes in one goroutine. It reports the
// medians, and the ratios of the first two to the sum of the others.
func BenchmarkVerify(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // like the command
	events := 10_000
	if text := os.Getenv(eventsVariable); text != "" {
		var err error
		if events, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		b.Skip("no sqlite3 to compare with")
	}
	root := b.TempDir()
	recorded := newSoundLedger(b, root, events)
	e := newEngine(b, root, noon)
	var reads, verifies, decisions []time.Duration
	for b.Loop() {
		start := time.Now()
		out, err := exec.CommandContext(b.Context(), sqlite, filepath.Join(root, project.StateDir, "ledger.db"), "SELECT sum(length(body)) FROM events").Output()
		if err != nil {
			b.Fatal(err)
		}
		size, err := strconv.Atoi(strings.TrimSpace(string(out)))
		if err != nil {
			b.Fatal(err)
		}
		hash, block := sha256.New(), make([]byte, 4096)
		for range size / len(block) {
			hash.Write(block)
		}
		hash.Sum(nil)
		reads = append(reads, time.Since(start))

		start = time.Now()
		report, err := e.Verify(b.Context())
		if err != nil || !report.Sound() || report.Events != recorded {
			b.Fatal(report.Events, report.Problems, err)
		}
		verifies = append(verifies, time.Since(start))
		again, err := e.Policies().VerifyDecisions(b.Context(), nil)
		if err != nil || !again.Sound() {
			b.Fatal(again.Problems, err)
		}
		decisions = append(decisions, time.Since(start))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(reads).Seconds()*1000, "read-ms")
	b.ReportMetric(median(verifies).Seconds()*1000, "verify-ms")
	b.ReportMetric(median(decisions).Seconds()*1000, "decisions-ms")
	b.ReportMetric(median(verifies).Seconds()/median(reads).Seconds(), "verify/read")
	b.ReportMetric(median(decisions).Seconds()/median(reads).Seconds(), "decisions/read")
}

// template is a recorded task, of which newSoundLedger makes copies.
type template struct {
	id     string
	events []ledger.Event
	states []string // before each event
}

// newSoundLedger creates a ledger with a number of events: real tasks of one to three
// rounds, with attestations, and then copies of them under other names and at other times.
// All of it is sound. It returns the number of events.
func newSoundLedger(b testing.TB, root string, events int) int64 {
	b.Helper()
	templates := newTemplates(b, root)
	l, err := host.OpenLedger(b.Context(), filepath.Join(root, project.StateDir))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}()
	const side = 200 // tasks that are worked on at the same time
	at := noon().Add(24 * time.Hour)
	for copies := 0; ; copies += side {
		last, err := l.Last(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if last >= int64(events) {
			return last
		}
		times := make([][]string, side) // old and new, of each task
		for step := 0; ; step++ {
			at = at.Add(side * 20 * time.Second)
			var batches []ledger.Batch
			for i := range side {
				t := templates[i%len(templates)]
				if step >= len(t.events) {
					continue
				}
				e := t.events[step]
				id := fmt.Sprintf("T-%07d", 1000+copies+i)
				times[i] = append(times[i], e.At, at.UTC().Format(ledger.TimeFormat))
				swap := strings.NewReplacer(append([]string{t.id, id}, times[i]...)...)
				body := swap.Replace(string(e.Body))
				if step > 0 {
					body = strings.Replace(body, hexDigest(t.states[step]), hexDigest(swap.Replace(t.states[step])), 1)
				}
				batches = append(batches, ledger.Batch{Task: id, After: int64(step), Events: []ledger.NewEvent{{Kind: e.Kind, Body: []byte(body)}}})
			}
			if len(batches) == 0 {
				break
			}
			if _, err := l.AppendAll(b.Context(), at, batches...); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func hexDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// newTemplates records tasks.
func newTemplates(b testing.TB, root string) []template {
	b.Helper()
	now := noon()
	clock := func() time.Time { now = now.Add(time.Second); return now }
	e := newEngine(b, root, clock)
	names := []string{"style", "missing-test", "scope-creep", "information-missing", "weak-assertion", "todo-marker", "question-to-user"}
	random := rand.New(rand.NewPCG(1, 2))
	templates := make([]template, 40)
	for i := range templates {
		id := fmt.Sprintf("T-%07d", i)
		templates[i].id = id
		for r := range 3 {
			if _, err := e.Audit(b.Context(), id, api.AuditRequest{Agent: task.AgentCritic, Tools: []string{"Read", "knowledge-search"}}); err != nil {
				b.Fatal(err)
			}
			var findings []string
			for n := range (5 + random.IntN(3)) * (2 - r) / 2 {
				findings = append(findings, fmt.Sprintf(
					`{"category":%q,"severity":"risk","file":"src/%d.go","line":%d,"remediation":%q,"evidence":%q,"confidence":0.8}`,
					names[random.IntN(len(names)-r)], i, n+1, strings.Repeat("Say it in other words. ", 5), strings.Repeat("As it is, nobody can tell. ", 7)))
			}
			req := request(`{"critic":"critic","findings":[` + strings.Join(findings, ",") + `]}`)
			req.Verify.Claim = policies.Green
			d, err := e.Round(b.Context(), id, req)
			if err != nil {
				b.Fatal(err)
			}
			if !slices.Contains([]string{"executor", "researcher", "plan-checker"}, d.NextAction) {
				break
			}
		}
	}
	states := make(map[string][]string)
	l, err := ledger.Open(b.Context(), filepath.Join(root, project.StateDir), func(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
		states[e.Task] = append(states[e.Task], string(before.State))
		return record.Fold(before, e)
	})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	if report, err := l.Verify(b.Context()); err != nil || !report.Sound() {
		b.Fatal(report.Problems, err)
	}
	for i := range templates {
		t := &templates[i]
		t.states = states[t.id]
		for e, err := range l.Events(b.Context(), t.id, 1) {
			if err != nil {
				b.Fatal(err)
			}
			t.events = append(t.events, e)
		}
	}
	return templates
}
