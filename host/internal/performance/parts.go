package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// part is a figure of a benchmark of make bench.
type part struct {
	what string
	pkg  string // its directory
	// name is the benchmark's with its case, as Go prints it, and unit that of the figure.
	name, unit string
	benchtime  string
	env        string
	format     func(float64) string
	wished     string // the target
}

// allParts lists the figures that have a target, and figures to compare them with.
func allParts(bin string) []part {
	ms := func(v float64) string { return fmt.Sprintf("%.1f ms", v) }
	fromNano := func(v float64) string { return fmt.Sprintf("%.1f ms", v/1e6) }
	nanoseconds := func(v float64) string { return fmt.Sprintf("%.0f ns", v) }
	times := func(v float64) string { return fmt.Sprintf("%.2f times", v) }
	rate := func(what string) func(float64) string {
		return func(v float64) string { return number(int(v)) + " " + what }
	}
	const replay, verify = "SWITCHYARD_REPLAY_ROUNDS=20000", "SWITCHYARD_VERIFY_EVENTS=20000"
	temporal := "SWITCHYARD_TEMPORAL=" + filepath.Join(bin, "temporal")
	// Ext4 creates files slowly for minutes after many were deleted, as those of the tables
	// before. So benchmarks whose time is that of creating files use a file system in memory.
	const inMemory = "TMPDIR=/dev/shm"
	all := []part{
		{"the fleet on two processors, with its server", "./fleet/internal/worker", "BenchmarkFleet", "rounds/s", "1x", temporal, rate("rounds a second"), "40 rounds a second"},
		{"the same, to activities that do nothing", "./fleet/internal/worker", "BenchmarkFleet", "ratio", "1x", temporal, times, "0.6 times"},
		{"starting a process, unconfined", "./internal/sandbox", "BenchmarkStart/none", "ns/op", "300x", "", fromNano, ""},
		{"starting a process at `files`", "./internal/sandbox", "BenchmarkStart/files", "ns/op", "300x", "", fromNano, "3 ms more"},
		{"starting a process at `files+ports`", "./internal/sandbox", "BenchmarkStart/files+ports", "ns/op", "300x", "", fromNano, ""},
		{"starting a process at `files+network`", "./internal/sandbox", "BenchmarkStart/files+network", "ns/op", "300x", "", fromNano, "15 ms more"},
	}
	for _, s := range []struct{ what, name, wished string }{
		{"no git, one file, unconfined", "plain-1", "5 ms"},
		{"no git, one file, `files`", "plain-1-files", ""},
		{"no git, one file, `files+network`", "plain-1-network", ""},
		{"git, one file, unconfined", "git-1", "8 ms"},
		{"git, one file, `files+network`", "git-1-network", ""},
		{"git, 10,000 files, unconfined", "git-10000", "25 ms"},
		{"git, 10,000 files, `files+network`", "git-10000-network", ""},
		{"git, 10,000 files, `files+ports`, the tree is known", "git-10000-known-ports", "6 ms"},
		{"git, 10,000 files, `files+network`, the tree is known", "git-10000-known-network", ""},
	} {
		all = append(all, part{"a spawn beyond its program, in memory: " + s.what, "./spawner", "BenchmarkOverhead/" + s.name, "overhead-ms", "40x", inMemory, ms, s.wished})
	}
	return append(all, []part{
		{"100,000 findings merged, for each", "./internal/finding", "BenchmarkMerge/100000", "ns/finding", "3x", "", nanoseconds, ""},
		{"a decision, from the table", "./internal/policy/table", "BenchmarkDecide/by=classes/rule=decision", "ns/op", "1s", "", nanoseconds, "1,000 ns"},
		{"a decision, by the interpreter", "./internal/policy/table", "BenchmarkDecide/by=interpreter/rule=decision", "ns/op", "1s", "", nanoseconds, ""},
		{"all released policies checked", "./internal/policy/check", "BenchmarkVerify", "ns/op", "3x", "", fromNano, "1,500 ms"},
		{"findings of 500 lines compared with a change of 5,000", "./internal/linediff", "BenchmarkChanges", "ns/op", "20x", "", fromNano, "20 ms"},
		{"recorded rounds replayed by another policy, of 20,000", "./host", "BenchmarkReplay/replay", "rounds/s", "1x", replay, rate("a second"), "66,700 a second"},
		{"`ledger verify`, to sqlite3 reading and one processor hashing the same", "./host", "BenchmarkVerify", "verify/read", "3x", verify, times, "1.5 times"},
		{"`ledger verify --decisions`, to the same", "./host", "BenchmarkVerify", "decisions/read", "3x", verify, times, "3 times"},
		{"`run --jobs 8`: eight tasks, to `--jobs 1`", "./host", "BenchmarkRunTasks/jobs=8", "times-jobs=1", "2x", "", times, "6 times"},
		{"`hook stop` at 10,000 files, without a task", "./cmd/switchyard", "BenchmarkStopHook", "none-ms", "10x", "", ms, "100 ms"},
		{"`hook stop` at 10,000 files, nothing to fix", "./cmd/switchyard", "BenchmarkStopHook", "allow-ms", "10x", "", ms, "100 ms"},
		{"the proxy, through and back", "./internal/egress", "BenchmarkTunnel", "MB/s", "500x", "", rate("MB/s"), "200 MB/s"},
		{"the proxy with 100 connections", "./internal/egress", "BenchmarkHundredConnections", "MiB", "1x", "", rate("MiB"), "40 MiB"},
		{"`run`: a round at 10,000 files in memory, without its agents", "./host", "BenchmarkRun", "host-ms/round", "1x", inMemory, ms, "150 ms"},
		{"the same, after the first round of the task and without the commit", "./host", "BenchmarkRun", "later-ms/round", "1x", inMemory, ms, ""},
	}...)
}

func (b bench) parts(ctx context.Context) (string, error) {
	rows := [][]string{{"part", "figure", "goal"}}
	seen := make(map[string][]byte)
	for _, p := range allParts(b.bin) {
		bench, _, _ := strings.Cut(p.name, "/")
		key := p.pkg + bench + p.env
		if seen[key] == nil {
			fmt.Fprintln(os.Stderr, "  ", p.pkg, bench)
			cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+bench+"$", "-benchtime", p.benchtime, "-timeout", "60m", ".")
			cmd.Dir = p.pkg
			if p.env != "" {
				cmd.Env = append(os.Environ(), p.env)
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				return "", fmt.Errorf("%s: %w: %.1000s", bench, err, out)
			}
			seen[key] = out
		}
		value, ok := figure(seen[key], p.name, p.unit)
		if !ok {
			return "", fmt.Errorf("%s has no %s: %.1000s", p.name, p.unit, seen[key])
		}
		rows = append(rows, []string{p.what, p.format(value), p.wished})
	}
	return table(rows), nil
}

// figure finds a figure in the output of go test.
func figure(out []byte, name, unit string) (value float64, ok bool) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 4 {
			continue
		}
		printed := words[0]
		if i := strings.LastIndexByte(printed, '-'); i > 0 { // the number of processors
			printed = printed[:i]
		}
		if printed != name {
			continue
		}
		for i := 2; i+1 < len(words); i += 2 {
			if words[i+1] == unit {
				_, err := fmt.Sscan(words[i], &value)
				return value, err == nil
			}
		}
	}
	return 0, false
}
