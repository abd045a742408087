package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// part is a figure of a benchmark of make bench.
type part struct {
	what string
	pkg  string // its folder
	// name is the benchmark's with its case, as Go prints it, and unit that of the figure.
	name, unit string
	benchtime  string
	env        string
	format     func(float64) string
}

func parts(ctx context.Context, b *bench) (string, error) {
	ms := func(v float64) string { return fmt.Sprintf("%.1f ms", v) }
	nanoseconds := func(v float64) string { return fmt.Sprintf("%.0f ns", v) }
	fromNano := func(v float64) string { return fmt.Sprintf("%.1f ms", v/1e6) }
	times := func(v float64) string { return fmt.Sprintf("%.1f times", v) }
	all := []part{
		{"a decision, from the table", "./internal/policy/table", "BenchmarkDecide/by=classes/rule=decision", "ns/op", "1s", "", nanoseconds},
		{"a decision, by the interpreter", "./internal/policy/table", "BenchmarkDecide/by=interpreter/rule=decision", "ns/op", "1s", "", nanoseconds},
		{"recorded rounds replayed by another policy, of 20,000, a second", "./host", "BenchmarkReplay/replay", "rounds/s", "1x", "SWITCHYARD_REPLAY_ROUNDS=20000", func(v float64) string { return number(int(v)) }},
		{"`ledger verify`, to sqlite3 reading and one processor hashing the same", "./host", "BenchmarkVerify", "verify/read", "3x", "SWITCHYARD_VERIFY_EVENTS=20000", times},
		{"`ledger verify --decisions`, to the same", "./host", "BenchmarkVerify", "decisions/read", "3x", "SWITCHYARD_VERIFY_EVENTS=20000", times},
		{"starting a process, unconfined", "./internal/sandbox", "BenchmarkStart/none", "ns/op", "300x", "", fromNano},
		{"starting a process at `files`", "./internal/sandbox", "BenchmarkStart/files", "ns/op", "300x", "", fromNano},
		{"starting a process at `files+ports`", "./internal/sandbox", "BenchmarkStart/files+ports", "ns/op", "300x", "", fromNano},
		{"starting a process at `files+network`", "./internal/sandbox", "BenchmarkStart/files+network", "ns/op", "300x", "", fromNano},
	}
	for _, s := range []struct{ what, name string }{
		{"no git, one file, unconfined", "plain-1"},
		{"no git, one file, `files`", "plain-1-files"},
		{"no git, one file, `files+network`", "plain-1-network"},
		{"git, one file, unconfined", "git-1"},
		{"git, one file, `files+network`", "git-1-network"},
		{"git, 10,000 files, unconfined", "git-10000"},
		{"git, 10,000 files, `files+network`", "git-10000-network"},
		{"git, 10,000 files, `files+ports`, the tree is known", "git-10000-known-ports"},
		{"git, 10,000 files, `files+network`, the tree is known", "git-10000-known-network"},
	} {
		all = append(all, part{"a spawn beyond its program: " + s.what, "./spawner", "BenchmarkOverhead/" + s.name, "overhead-ms", "40x", "", ms})
	}
	rows := [][]string{{"part", "figure"}}
	seen := make(map[string][]byte)
	for _, p := range all {
		bench, _, _ := strings.Cut(p.name, "/")
		key := p.pkg + bench + p.env
		if seen[key] == nil {
			fmt.Fprintln(os.Stderr, "  ", p.pkg, bench)
			cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+bench+"$", "-benchtime", p.benchtime, "-timeout", "60m", p.pkg)
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
		rows = append(rows, []string{p.what, p.format(value)})
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
