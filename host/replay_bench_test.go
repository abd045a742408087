package host_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// roundsVariable sets the number of rounds that BenchmarkReplay replays.
const roundsVariable = "SWITCHYARD_REPLAY_ROUNDS"

// BenchmarkReplay replays rounds of five findings, each about 400 bytes in its report,
// under a policy that routes one category elsewhere. It reports the rounds per second and
// the maximum memory in use.
func BenchmarkReplay(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // like the command
	rounds := 10_000
	if text := os.Getenv(roundsVariable); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	root := b.TempDir()
	size := newHistory(b, root, rounds)
	e := newEngine(b, root, noon)
	check := func(b *testing.B, decisions int64, err error) {
		b.Helper()
		if err != nil || decisions != int64(rounds) {
			b.Fatalf("%d decisions, %v", decisions, err)
		}
	}
	measure := func(name string, run func(b *testing.B, progress func(done, total int64))) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			runtime.GC()
			var peak uint64
			for b.Loop() {
				run(b, func(done, _ int64) {
					if done%int64(rounds/10+1) == 0 {
						var m runtime.MemStats
						runtime.ReadMemStats(&m)
						peak = max(peak, m.HeapInuse)
					}
				})
			}
			b.ReportMetric(float64(rounds)*float64(b.N)/b.Elapsed().Seconds(), "rounds/s")
			b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
		})
	}
	candidate := rerouted(b, "style", "researcher")
	measure("replay", func(b *testing.B, progress func(done, total int64)) {
		report, err := e.Policies().Replay(b.Context(), api.ReplayRequest{Policy: candidate, Progress: progress})
		check(b, report.Decisions, err)
		if report.ChangedCount() == 0 {
			b.Fatal("nothing flips")
		}
	})
	measure("verify", func(b *testing.B, progress func(done, total int64)) {
		report, err := e.Policies().VerifyDecisions(b.Context(), progress)
		check(b, report.Decisions, err)
		if !report.Sound() {
			b.Fatal(report.Problems)
		}
	})
}

// newHistory creates a ledger with a number of decided rounds, each the first of its task:
// real ones, then copies under other names with correct hashes. It returns the size of the
// records in bytes.
func newHistory(b *testing.B, root string, rounds int) (size int64) {
	b.Helper()
	e := newEngine(b, root, noon)
	names := []string{"style", "missing-test", "scope-creep", "information-missing", "weak-assertion", "todo-marker", "question-to-user"}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range min(rounds, 200) {
		var findings []string
		for n := range 5 {
			findings = append(findings, fmt.Sprintf(
				`{"category":%q,"severity":"risk","file":"src/%d.go","line":%d,"remediation":%q,"evidence":%q,"confidence":0.8}`,
				names[random.IntN(len(names))], i, n+1, strings.Repeat("Say it in other words. ", 5), strings.Repeat("As it is, nobody can tell. ", 7)))
		}
		r := request(`{"critic":"critic","findings":[` + strings.Join(findings, ",") + `]}`)
		r.Verify.Claim = []policies.Verify{policies.Green, policies.Absent}[random.IntN(2)]
		if _, err := e.Round(b.Context(), fmt.Sprintf("T-%07d", i), r); err != nil {
			b.Fatal(err)
		}
	}
	a := &archive{Engine: e, root: root}
	originals := a.decided(b)
	last := originals[len(originals)-1].Seq
	for _, d := range originals {
		size += int64(len(d.Body))
	}

	db, err := sql.Open("sqlite", filepath.Join(root, project.StateDir, "ledger.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for i := len(originals); i < rounds; i++ {
		if i%10_000 == 0 { // Else the write-ahead log of a million rounds is as large as the ledger.
			if err := tx.Commit(); err != nil {
				b.Fatal(err)
			}
			if tx, err = db.BeginTx(b.Context(), nil); err != nil {
				b.Fatal(err)
			}
		}
		d := originals[i%len(originals)]
		last++
		copied := ledger.Event{Seq: last, Task: fmt.Sprintf("T-%07d", i), N: 1, At: d.At, Kind: string(task.KindDecided), Prev: ledger.Genesis}
		copied.Body = []byte(strings.ReplaceAll(string(d.Body), d.Task, copied.Task))
		copied.Hash = copied.Sum()
		if _, err := tx.ExecContext(b.Context(), "INSERT INTO events (seq, task, n, at, kind, body, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			copied.Seq, copied.Task, copied.N, copied.At, copied.Kind, string(copied.Body), copied.Prev, copied.Hash); err != nil {
			b.Fatal(err)
		}
		size += int64(len(copied.Body))
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	return size
}
