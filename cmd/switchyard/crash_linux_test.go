package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
)

// killPoint is the moment before the nth call of its kind. The order of threads varies,
// so two runs have the same points, but not necessarily in the same order.
type killPoint struct {
	call writeCall
	nth  int
}

func (k killPoint) String() string { return fmt.Sprintf("killed before %s, time %d", k.call, k.nth) }

// sampledPoints is the default number of points at which a command is killed.
const sampledPoints = 3

// disturbances returns the ways to disturb a command.
func disturbances() map[string]func(*crashSite, *testing.T) {
	return map[string]func(*crashSite, *testing.T){
		"killed at random moments": (*crashSite).killAtRandomMoments,
		"killed at every write":    (*crashSite).killAtEveryWrite,
		"full disk":                (*crashSite).fillDisk,
		"file size limit":          (*crashSite).limitFileSize,
		"read-only directory":      (*crashSite).denyWriting,
	}
}

// killAtEveryWrite kills the command before each call that writes, flushes, creates,
// links, renames or removes something, one after another.
func (s *crashSite) killAtEveryWrite(t *testing.T) {
	points := s.some(s.points(t))
	reached := 0
	for _, point := range points {
		if s.killAt(t, point) {
			reached++
		} else {
			t.Errorf("the command was never %s", point)
		}
	}
	if exhaustive.Enabled() && s.between && !s.sawBetween {
		t.Error("the command was never killed between its events")
	}
	t.Logf("killed at %d of %d points", reached, len(points))
}

// maxResumed is about the number of points that are tried for a command that runs
// agents: each needs a whole round to resume.
const maxResumed = 100

// some returns the points to try: for a command with very many, a different sample in
// each run.
func (s *crashSite) some(points []killPoint) []killPoint {
	stride := 1 + len(points)/maxResumed
	if !exhaustive.Enabled() || !s.resumes || stride == 1 {
		return exhaustive.Sample(points, sampledPoints)
	}
	var chosen []killPoint
	for i := rand.IntN(stride); i < len(points); i += stride {
		chosen = append(chosen, points[i])
	}
	return chosen
}

// points lists the kill points of the undisturbed command.
func (s *crashSite) points(t *testing.T) []killPoint {
	t.Helper()
	var points []killPoint
	if s.trace(t, s.fresh(t), func(p killPoint) bool {
		points = append(points, p)
		return false
	}) {
		t.Fatal("nobody killed it")
	}
	if len(points) == 0 || points[len(points)-1].call.file != "stdout" {
		t.Fatalf("the command does not end by printing its result: %v", points)
	}
	return points
}

// killAt kills the command at a point and checks the state that it leaves. It reports
// whether the command reached the point.
func (s *crashSite) killAt(t *testing.T, point killPoint) bool {
	t.Helper()
	const attempts = 3 // The calls of a thread may depend on the order of threads.
	for range attempts {
		p := s.fresh(t)
		killed := s.trace(t, p, func(p killPoint) bool { return p == point })
		stdout, err := os.ReadFile(outputOf(p, "stdout"))
		if err != nil {
			t.Fatal(err)
		}
		s.judge(t, p, point.String(), isWhole(stdout))
		if killed {
			return true
		}
	}
	return false
}

// trace runs the command in p, kills it if stop returns true, and reports whether it
// did.
func (s *crashSite) trace(t *testing.T, p *program, stop func(killPoint) bool) bool {
	t.Helper()
	cmd := p.command(t.Context(), strings.Fields(s.command)...)
	stdout, stderr := create(t, outputOf(p, "stdout")), create(t, outputOf(p, "stderr"))
	defer stdout.Close()
	defer stderr.Close()
	count := make(map[writeCall]int)
	status, err := traceWrites(traced{
		path: cmd.Path, args: cmd.Args, env: cmd.Environ(), dir: p.dir, stdout: stdout, stderr: stderr,
	}, func(c writeCall) bool {
		count[c]++
		return stop(killPoint{c, count[c]})
	})
	if errors.Is(err, errNotTraceable) {
		t.Skipf("skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if complaint, err := os.ReadFile(stderr.Name()); err != nil || s.complains(complaint) {
		t.Fatalf("the command complains: %v %s", err, complaint)
	}
	if !status.Signaled() && status.ExitStatus() != 0 {
		t.Fatalf("the command ends with %d", status.ExitStatus())
	}
	return status.Signaled()
}

// outputOf returns the path of the file for a traced command's stream, next to the
// project.
func outputOf(p *program, stream string) string { return p.dir + "." + stream }

func create(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestTraceWrites checks the tracer against the known calls of the ledger's creation,
// and that a call at which it kills the process does not happen.
func TestTraceWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: only TestDisturbedCommands needs the tracer")
	}
	t.Parallel()
	s := newCrashSite(t, crashes()[0])
	points := s.points(t)
	state := []killPoint{
		{writeCall{"mkdirat", ".switchyard"}, 1},
		{writeCall{"openat", ".switchyard/ledger.db.new-#"}, 1},
		{writeCall{"pwrite64", ".switchyard/ledger.db.new-#"}, 1},
		{writeCall{"fsync", ".switchyard/ledger.db.new-#"}, 1},
		{writeCall{"linkat", ".switchyard/ledger.db"}, 1},
		{writeCall{"fsync", ".switchyard"}, 1},
		{writeCall{"unlinkat", ".switchyard/ledger.db.new-#"}, 1},
		{writeCall{"write", "stdout"}, 1},
	}
	next := 0
	for _, point := range points {
		if next < len(state) && point == state[next] {
			next++
		}
	}
	if next < len(state) {
		t.Fatalf("%v is not among %v, after the ones before it", state[next], points)
	}
	for i, point := range state[:2] {
		p := s.fresh(t)
		if !s.trace(t, p, func(k killPoint) bool { return k == point }) {
			t.Fatalf("the command was not %s", point)
		}
		_, err := os.Stat(filepath.Dir(ledgerOf(p)))
		if exists := err == nil; exists != (i > 0) {
			t.Errorf("%s, the state directory exists: %v", point, exists)
		}
	}
}
