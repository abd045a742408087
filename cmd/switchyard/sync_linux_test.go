package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// TestSyncs counts how often recorded rounds wait for the disk: twice, but once in about 16
// rounds, which write the ledger's log into its database, four times.
func TestSyncs(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	p := newProgram(t)
	report, err := filepath.Abs("../../testdata/reports/twenty.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := p.run(t.Context(), "round", "FIRST", "--report", report); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	longer := 0
	for i := range 20 {
		cmd := p.command(t.Context(), "round", fmt.Sprint("T", i), "--report", report)
		stdout, stderr := create(t, outputOf(p, "stdout")), create(t, outputOf(p, "stderr"))
		var syncs []writeCall
		status, err := traceWrites(traced{
			path: cmd.Path, args: cmd.Args, env: cmd.Environ(), dir: p.dir, stdout: stdout, stderr: stderr,
		}, func(c writeCall) bool {
			if c.call == "fsync" || c.call == "fdatasync" {
				syncs = append(syncs, c)
			}
			return false
		})
		if errors.Is(err, errNotTraceable) {
			t.Skipf("skipped: %v", err)
		}
		if err := errors.Join(err, stdout.Close(), stderr.Close()); err != nil || status.ExitStatus() != 0 {
			t.Fatalf("round %d: %v, status %d", i, err, status.ExitStatus())
		}
		switch {
		case len(syncs) == 0:
			t.Errorf("round %d is not synced", i)
		case len(syncs) > 4:
			t.Errorf("round %d syncs %d times: %v", i, len(syncs), syncs)
		case len(syncs) > 2:
			longer++
		}
	}
	if longer != 1 {
		t.Errorf("%d of 20 rounds sync more than twice", longer)
	}
}
