package main

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// released is the release build of the program: its start-up time counts here. The
// benchmark is skipped unless make build was run.
type released struct {
	binary  string
	project string // directory in which it runs
}

func newReleased(b *testing.B) released {
	b.Helper()
	binary, err := filepath.Abs("../../bin/switchyard")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(binary); err != nil {
		b.Skip("no binary to measure; run make build first")
	}
	r := released{binary: binary, project: b.TempDir()}
	if err := os.WriteFile(filepath.Join(r.project, "switchyard.yaml"), nil, 0o644); err != nil {
		b.Fatal(err)
	}
	return r
}

// timed runs the program in its project and returns the time.
func (r released) timed(b *testing.B, args ...string) time.Duration {
	b.Helper()
	return r.other(b, r.binary, args...)
}

// other runs another program there. Its output goes to a file, as a script's would.
func (r released) other(b *testing.B, name string, args ...string) time.Duration {
	b.Helper()
	out, err := os.Create(filepath.Join(r.project, "out"))
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.project, out, out
	start := time.Now()
	err = cmd.Run()
	took := time.Since(start)
	if err != nil {
		text, _ := os.ReadFile(out.Name())
		b.Fatalf("%s %v: %v\n%.2000s", name, args, err, text)
	}
	return took
}

// reportPath returns the path of a report that the tests share.
func reportPath(b *testing.B, name string) string {
	b.Helper()
	path, err := filepath.Abs(filepath.Join("../../testdata/reports", name))
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkColdProcess times whole processes in turn, so that they share the load of
// the machine: a recorded round with 20 findings, the program's version command, and an
// empty Node.js program. It reports medians and the two ratios that the round should
// keep: at most 1.8 and at most 0.2.
func BenchmarkColdProcess(b *testing.B) {
	r, twenty := newReleased(b), reportPath(b, "twenty.json")
	node, err := exec.LookPath("node")
	if err != nil {
		b.Log("no node to compare with")
	}
	r.timed(b, "round", "WARM-UP", "--report", twenty) // fills the code cache, creates the ledger

	var rounds, versions, nodes []time.Duration
	for i := 0; b.Loop(); i++ {
		rounds = append(rounds, r.timed(b, "round", fmt.Sprintf("TASK-%d", i), "--report", twenty))
		versions = append(versions, r.timed(b, "version"))
		if node != "" {
			nodes = append(nodes, r.other(b, node, "-e", "0"))
		}
	}
	round, version := median(rounds), median(versions)
	b.ReportMetric(0, "ns/op") // The time of three processes together means nothing.
	b.ReportMetric(ms(round), "round-ms")
	b.ReportMetric(ms(version), "version-ms")
	b.ReportMetric(ms(round)/ms(version), "round/version")
	if node != "" {
		b.ReportMetric(ms(median(nodes)), "node-ms")
		b.ReportMetric(ms(round)/ms(median(nodes)), "round/node")
	}
}

// BenchmarkStatus lists 10,000 tasks of all statuses, as a whole process. The promise
// is 100 ms, as text and as JSON.
func BenchmarkStatus(b *testing.B) {
	const tasks = 10_000
	r := newReleased(b)
	r.mix(b, tasks)
	var texts, lists []time.Duration
	for b.Loop() {
		texts = append(texts, r.timed(b, "status"))
		lists = append(lists, r.timed(b, "status", "--output", "json"))
	}
	var shown struct {
		Tasks []struct {
			Status string `json:"status"`
		} `json:"tasks"`
	}
	text, err := os.ReadFile(filepath.Join(r.project, "out"))
	if err == nil {
		err = json.Unmarshal(text, &shown)
	}
	if err != nil {
		b.Fatal(err)
	}
	counts := make(map[string]int)
	for _, t := range shown.Tasks {
		counts[t.Status]++
	}
	if counts["open"] != 2*tasks/5 || counts["waiting"] != tasks/5 || counts["stuck"] != tasks/5 || counts["committed"] != tasks/5 {
		b.Fatalf("it lists %v", counts)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(median(texts)), "text-ms")
	b.ReportMetric(ms(median(lists)), "json-ms")
}

// mix creates tasks: five by real commands, and copies of these. The states of the
// copies are valid, which is all that the list reads; their chains are not.
func (r released) mix(b *testing.B, tasks int) {
	b.Helper()
	twenty, clean := reportPath(b, "twenty.json"), filepath.Join(r.project, "clean.json")
	question := filepath.Join(r.project, "question.json")
	for path, text := range map[string]string{
		clean:    `{"critic":"critic","findings":[]}`,
		question: `{"critic":"critic","findings":[{"category":"question-to-user","remediation":"Ask it","question_to_user":{"question":"May the old export go?","choices":["at once","in a year"],"default":"in a year"}}]}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for _, command := range [][]string{
		{"round", "open-", "--report", twenty},
		{"round", "stamped-", "--report", twenty},
		{"audit", "stamped-", "--agent", "np-build-fixer", "--tool-use-log", `[{"name":"knowledge-search"}]`},
		{"audit", "stamped-", "--agent", "np-critic", "--tool-use-log", `[]`},
		{"round", "waiting-", "--report", question},
		{"round", "stuck-", "--max-rounds", "1", "--report", twenty},
		{"round", "done-", "--report", twenty},
		{"round", "done-", "--verify", "green", "--report", clean},
	} {
		r.timed(b, command...)
	}
	db, err := sql.Open("sqlite", filepath.Join(r.project, ".switchyard", "ledger.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	numbers := fmt.Sprintf("WITH RECURSIVE i(v) AS (SELECT 2 UNION ALL SELECT v + 1 FROM i WHERE v < %d) ", tasks/5)
	for _, statement := range []string{
		`INSERT INTO events (task, n, at, kind, body, prev, hash) SELECT task || v, n, at, kind, body, prev, hash FROM i, events`,
		`INSERT INTO entries SELECT task || v, key, value FROM i, entries`,
		`INSERT INTO tasks SELECT task || v, n, head, replace(state, '"task_id":"' || task || '"', '"task_id":"' || task || v || '"') FROM i, tasks`,
	} {
		if _, err := db.ExecContext(b.Context(), numbers+statement); err != nil {
			b.Fatal(err)
		}
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
