package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkScrape measures a scrape, stats and a round in a project of a thousand rounds
// and in one of a million, in turn, as whole processes, and the program's version command.
// In the larger project a scrape, stats and a round may take at most 1.5 times as long, a
// scrape less than 50 ms, and stats at most 3 times as long as version.
func BenchmarkScrape(b *testing.B) {
	sizes := []int{1_000, 1_000_000}
	var projects []released
	for _, rounds := range sizes {
		r := newReleased(b)
		r.past(b, rounds)
		projects = append(projects, r)
	}
	commands := []string{"print", "stats", "round"}
	took := make(map[string][][]time.Duration)
	for _, name := range commands {
		took[name] = make([][]time.Duration, len(sizes))
	}
	var versions []time.Duration
	twenty := reportPath(b, "twenty.json")
	for i := 0; b.Loop(); i++ {
		for at, r := range projects {
			took["print"][at] = append(took["print"][at], r.timed(b, "metrics", "print"))
			took["stats"][at] = append(took["stats"][at], r.timed(b, "stats"))
			took["round"][at] = append(took["round"][at], r.timed(b, "round", fmt.Sprint("NEXT-", i), "--report", twenty))
			versions = append(versions, r.timed(b, "version"))
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, name := range commands {
		for at, rounds := range sizes {
			b.ReportMetric(ms(median(took[name][at])), fmt.Sprintf("%s-ms@%d", name, rounds))
		}
		b.ReportMetric(ms(median(took[name][1]))/ms(median(took[name][0])), name+"-ratio")
	}
	b.ReportMetric(ms(median(took["stats"][1]))/ms(median(versions)), "stats/version")
}

// past gives the project rounds of some tasks, and then as many more events, with the
// data that grows with them: tasks, one in a hundred of them stuck, and days. Their
// chains are not valid; nothing here reads them.
func (r released) past(b *testing.B, rounds int) {
	b.Helper()
	for i := range 10 {
		r.timed(b, "round", fmt.Sprint("T-", i), "--report", reportPath(b, "twenty.json"))
	}
	db, err := sql.Open("sqlite", filepath.Join(r.project, ".switchyard", "ledger.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	numbers := fmt.Sprintf("WITH RECURSIVE i(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM i WHERE v < %d) ", rounds)
	for _, statement := range []string{
		`INSERT INTO events (task, n, at, kind, body, prev, hash) SELECT 'O' || (v / 3), v % 3 + 1, at, kind, substr(body, 1, 200), prev, hash
		 FROM i, (SELECT * FROM events WHERE task = 'T-0' LIMIT 1)`,
		`INSERT INTO tasks SELECT 'O' || (v / 3), 3, head, state FROM i, (SELECT * FROM tasks WHERE task = 'T-0') WHERE v % 3 = 0`,
		`INSERT INTO tallies SELECT 'standing', json_array('stuck', at, 'O' || v, 'max-rounds'), 1, seq, at, NULL
		 FROM i, (SELECT * FROM events WHERE task = 'T-0' LIMIT 1) WHERE v % 300 = 0`,
		`INSERT INTO tallies SELECT 'daily_rounds', json_array(date('2023-01-01', '+' || (v / 1000) || ' days'), 'commit'), 1, seq, at, NULL
		 FROM i, (SELECT * FROM events WHERE task = 'T-0' LIMIT 1) WHERE v % 1000 = 0`,
	} {
		if _, err := db.ExecContext(b.Context(), numbers+statement); err != nil {
			b.Fatal(err)
		}
	}
}
