package host_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/hosttest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
)

// TestEveryPreviousFindingIsAnsweredFor lets critics report and state random things. A
// decision has each finding of the previous review once, with the status that follows from
// the report; contradictions are not decided on.
func TestEveryPreviousFindingIsAnsweredFor(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(19, 2))
	e := newEngine(t, t.TempDir(), time.Now)
	type problem struct{ category, file, words string }
	fingerprint := func(p problem) string { return finding.Fingerprint(p.category, &p.file, nil, p.words) }
	var pool []problem
	for i := range 8 {
		pool = append(pool, problem{[]string{"style", "dead-code"}[i&1], []string{"a.go", "b.go"}[i>>1&1], []string{"r", "s"}[i>>2]})
	}
	statuses := []finding.PreviousStatus{finding.Open, finding.Fixed, finding.Withdrawn, finding.Induced}
	seen := make(map[finding.PreviousStatus]int)
	refused := 0
	for task := range 30 {
		var before []finding.Finding
		for range 4 {
			var reported []problem
			var findings, previous []string
			for _, p := range pool {
				if random.IntN(4) == 0 {
					reported = append(reported, p)
					findings = append(findings, fmt.Sprintf(`{"category":%q,"file":%q,"remediation":%q}`, p.category, p.file, p.words))
				}
			}
			stated := make(map[string]finding.PreviousStatus)
			impossible := false
			for _, p := range pool {
				if random.IntN(4) != 0 {
					continue
				}
				id, status := fingerprint(p), statuses[random.IntN(4)]
				again := slices.Contains(reported, p)
				if again && random.IntN(4) != 0 {
					status = finding.Open
				}
				known := slices.ContainsFunc(before, func(f finding.Finding) bool { return f.Fingerprint == id })
				if !known && random.IntN(8) != 0 {
					continue
				}
				alike := slices.ContainsFunc(reported, func(q problem) bool { return q.category == p.category && q.file == p.file })
				impossible = impossible || !known || again && status != finding.Open || status == finding.Open && !alike ||
					status == finding.Induced && len(reported) == 0
				stated[id] = status
				previous = append(previous, fmt.Sprintf(`{"id":%q,"status":%q}`, id, status))
			}
			report := fmt.Sprintf(`{"critic":"critic","findings":[%s],"previous":[%s]}`, strings.Join(findings, ","), strings.Join(previous, ","))
			req := hosttest.Request(report)
			req.MaxRounds = 100
			d, err := e.Round(t.Context(), fmt.Sprintf("T-%d", task), req)
			if impossible {
				if refused++; errs.CodeOf(err) != errs.ReportPreviousInvalid {
					t.Fatalf("%s after %v: it leads to %q, %v", report, before, d.NextAction, err)
				}
				continue
			}
			if err != nil || len(d.Previous) != len(before) {
				t.Fatalf("%s: %d of %d findings are answered for, %v", report, len(d.Previous), len(before), err)
			}
			for i, f := range before {
				want := stated[f.Fingerprint]
				switch {
				case slices.ContainsFunc(reported, func(p problem) bool { return fingerprint(p) == f.Fingerprint }):
					want = finding.Open
				case want == "":
					want = finding.Unverified
				}
				if got := d.Previous[i]; got.Fingerprint != f.Fingerprint || got.Category != f.Category || got.Status != want {
					t.Fatalf("%s: %s is %+v, want %s", report, f.Fingerprint, got, want)
				}
				seen[want]++
			}
			if before = d.Findings; d.NextAction != "executor" {
				break
			}
		}
	}
	if refused == 0 || len(seen) != len(statuses)+1 {
		t.Errorf("%d reports were refused, and the statuses were %v", refused, seen)
	}
}

// TestFindingsThatShareAFingerprint lets a critic report findings that only a | distinguishes.
// The ids of findings are unique, so neither is decided on, nor lost.
func TestFindingsThatShareAFingerprint(t *testing.T) {
	t.Parallel()
	e := newEngine(t, t.TempDir(), time.Now)
	req := hosttest.Request(`{"critic":"critic","findings":[
		{"category":"style","file":"a.go|7","line":null,"remediation":"x"},
		{"category":"style","file":"a.go","line":7,"remediation":"|x"}]}`)
	_, err := e.Round(t.Context(), "T", req)
	if errs.CodeOf(err) != errs.ReportAmbiguous || !strings.Contains(err.Error(), "category style in a.go|7 and of category style in a.go") {
		t.Fatal(err)
	}
	if d, err := e.Round(t.Context(), "T", hosttest.Request(`{"critic":"critic","findings":[]}`)); err != nil || d.Round != 1 {
		t.Errorf("the next report decides round %d, %v", d.Round, err)
	}
}
