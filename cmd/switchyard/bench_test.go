package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkColdProcess times whole processes in turn, so that they share
// whatever else the machine is doing: a recorded round with 20 findings, the
// same command's version, and an empty Node.js program. It reports medians and
// the two ratios that design section 9 promises: at most 3 and at most 0.25.
func BenchmarkColdProcess(b *testing.B) {
	binary, err := filepath.Abs("../../bin/switchyard")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(binary); err != nil {
		b.Skip("no binary to measure; run make build first")
	}
	report, err := filepath.Abs("../../testdata/reports/twenty.json")
	if err != nil {
		b.Fatal(err)
	}
	project := b.TempDir()
	if err := os.WriteFile(filepath.Join(project, "switchyard.yaml"), nil, 0o644); err != nil {
		b.Fatal(err)
	}
	timed := func(name string, args ...string) time.Duration {
		cmd := exec.Command(name, args...)
		cmd.Dir = project
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return time.Since(start)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		b.Log("no node to compare with")
	}
	timed(binary, "round", "WARM-UP", "--report", report) // fills the code cache, creates the ledger

	var rounds, versions, nodes []time.Duration
	for i := 0; b.Loop(); i++ {
		rounds = append(rounds, timed(binary, "round", fmt.Sprintf("TASK-%d", i), "--report", report))
		versions = append(versions, timed(binary, "version"))
		if node != "" {
			nodes = append(nodes, timed(node, "-e", "0"))
		}
	}
	round, version := median(rounds), median(versions)
	b.ReportMetric(0, "ns/op") // Three processes to an iteration mean nothing together.
	b.ReportMetric(ms(round), "round-ms")
	b.ReportMetric(ms(version), "version-ms")
	b.ReportMetric(ms(round)/ms(version), "round/version")
	if node != "" {
		b.ReportMetric(ms(median(nodes)), "node-ms")
		b.ReportMetric(ms(round)/ms(median(nodes)), "round/node")
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
