package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
)

// The largest log that code hosts accept, and the limits of a round with it.
const (
	largeResults = 25_000
	largeMemory  = 512 << 20 // bytes, resident
)

// largeLog returns a SARIF log with the text, the region and the fingerprint that
// linters write for each result.
func largeLog() string {
	var b bytes.Buffer
	b.WriteString(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"lint","rules":[{"id":"R0"},{"id":"R1"}]}},"results":[`)
	for i := range largeResults {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"ruleId":"R%d","ruleIndex":%[1]d,"level":"warning","message":{"text":"the variable v%[2]d is declared and never used; `+
			`remove it, or use it in the code below"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/server/handler%[3]d.go",`+
			`"uriBaseId":"%%SRCROOT%%"},"region":{"startLine":%[4]d,"startColumn":3,"endLine":%[4]d,"endColumn":40,"snippet":{"text":`+
			`"\tv%[2]d := compute(first, second, third, fourth) // the result is not looked at by anybody"}}}}],`+
			`"partialFingerprints":{"primaryLocationLineHash":"39fa2ee980eb94b0:%[2]d","contextHash":"2a0c1c9b1f6dbf9f%[2]d"}}`,
			i%2, i, i%100, i+1)
	}
	b.WriteString(`]}]}`)
	return b.String()
}

// TestLargeLog checks that the program routes the largest log that code hosts accept,
// within its memory limit.
func TestLargeLog(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: many cases, one after another")
	}
	p := newProgram(t)
	cmd := p.command(t.Context(), "route", "--report", p.write(t, "large.sarif", largeLog()))
	cmd.Env = append(cmd.Environ(), "GOGC=100") // The tests' own may let more garbage wait.
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	resetPeakMemory(t)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	var d struct {
		NextAction string `json:"next_action"`
		Routing    struct {
			FindingCount int `json:"finding_count"`
		} `json:"routing"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.NextAction != "executor" || d.Routing.FindingCount != largeResults {
		t.Errorf("got %+v, want %d findings for the executor", d, largeResults)
	}
	if testing.Short() {
		t.Log("memory is not measured in short mode, where the race detector takes several times as much")
	} else if peak, ok := peakMemory(cmd); ok && peak > largeMemory {
		t.Errorf("it took %d MiB of memory; the limit is %d", peak>>20, largeMemory>>20)
	}
}

// BenchmarkLargeLog runs the whole command on that log.
func BenchmarkLargeLog(b *testing.B) {
	p := newProgram(b)
	path := p.write(b, "large.sarif", largeLog())
	for b.Loop() {
		cmd := p.command(b.Context(), "route", "--report", path)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		if peak, ok := peakMemory(cmd); ok {
			b.ReportMetric(float64(peak>>20), "MiB")
		}
	}
}
