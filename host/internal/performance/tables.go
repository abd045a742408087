package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/policies"
)

// table formats rows of cells as Markdown. The first row is the header, and all columns but
// the first are numbers.
func table(rows [][]string) string {
	var text strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&text, "|---|%s\n", strings.Repeat("--:|", len(row)-1))
		}
	}
	return text.String()
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }

func mebibytes(kib int64) string { return fmt.Sprintf("%.1f MiB", float64(kib)/1024) }

// start compares whole short processes.
func (b bench) start(ctx context.Context) (string, error) {
	dir, err := b.project("start")
	if err != nil {
		return "", err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return "", err
	}
	report := filepath.Join(b.reports, "twenty.json")
	policy, input, lines := filepath.Join(dir, "routing.rego"), filepath.Join(dir, "input.json"), filepath.Join(dir, "findings.rdjsonl")
	if err := b.write(ctx, dir, report, policy, input, lines); err != nil {
		return "", err
	}
	repository, err := b.reviewedRepository(ctx) // Also for reviewdog.
	if err != nil {
		return "", err
	}
	const query = "data.switchyard.routing.decision"
	programs := []program{
		{name: "an empty Go program", path: filepath.Join(b.bin, "empty")},
		b.switchyard("`switchyard version`", dir, "version"),
		b.switchyard("`switchyard route`, 20 findings", dir, "route", "--report", report),
		b.switchyard("`switchyard round`, 20 findings, recorded", dir, "round", "TASK-%d", "--report", report),
		b.switchyard("`switchyard gate --commit HEAD`", repository, "gate", "--commit", "HEAD"),
		{name: "`node -e 0`", path: node, args: []string{"-e", "0"}},
		{name: "`opa eval`, the policy alone", path: filepath.Join(b.bin, "opa"), args: []string{"eval", "--data", policy, "--input", input, query}},
		{name: "`conftest test`, the policy alone", path: filepath.Join(b.bin, "conftest"), args: []string{"test", "--policy", policy, "--all-namespaces", input}},
		{name: "`reviewdog`, the same 20 findings", dir: repository, path: filepath.Join(b.bin, "reviewdog"), input: lines,
			args: []string{"-f=rdjsonl", "-reporter=local", "-filter-mode=nofilter", "-diff=true"}},
	}
	all, err := b.inTurn(ctx, turns, programs...)
	if err != nil {
		return "", err
	}
	rows := [][]string{{"process", "time", "to an empty program", "to `version`", "to `node -e 0`"}}
	for i, f := range all {
		rows = append(rows, []string{programs[i].name, milliseconds(f.median()), ratio(f.median(), all[0].median()), ratio(f.median(), all[1].median()),
			ratio(f.median(), all[5].median())})
	}
	text := table(rows)
	syncs, err := b.syncs(ctx, dir, report)
	if err != nil {
		return "", err
	}
	demo, err := b.inTurn(ctx, 3, b.switchyard("demo", dir, "demo"))
	if err != nil {
		return "", err
	}
	binary, err := os.Stat(filepath.Join(b.bin, "switchyard"))
	if err != nil {
		return "", err
	}
	return text + fmt.Sprintf("\nThe quartiles of an empty Go program are %.2f apart, those of `round` %.2f. %s `switchyard demo` takes %.1f s. The program has %s.\n",
		all[0].spread(), all[3].spread(), syncs, demo[0].median().Seconds(), mebibytes(binary.Size()/1024)), nil
}

// reviewedRepository makes a repository with an approved review of HEAD.
func (b bench) reviewedRepository(ctx context.Context) (string, error) {
	dir, err := b.project("repository")
	if err != nil {
		return "", err
	}
	const config = `{reports: [{run: "echo '{\"critic\": \"critic\", \"findings\": []}'", plugin: np-critic}]}`
	if err := os.WriteFile(filepath.Join(dir, "switchyard.yaml"), []byte(config), 0o600); err != nil {
		return "", err
	}
	commit := []string{"git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "text"}
	for _, argv := range [][]string{
		{"git", "init", "-q"}, {"git", "add", "switchyard.yaml"}, commit,
		{"sh", "-c", "echo text >file && git add file"}, {filepath.Join(b.bin, "switchyard"), "round", "T"}, commit,
	} {
		if err := runIn(ctx, dir, argv...); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// write writes the input of the other programs: the policy, its input for a report, and the
// findings.
func (b bench) write(ctx context.Context, dir, report, policy, input, lines string) error {
	source, err := fs.ReadFile(policies.Files(), "routing/"+strings.TrimPrefix(policies.Default, "routing@")+"/routing.rego")
	if err != nil {
		return err
	}
	if err := os.WriteFile(policy, source, 0o600); err != nil {
		return err
	}
	for path, args := range map[string][]string{
		lines: {"route", "--report", report, "--format", "rdjsonl"},
		input: {"round", "INPUT", "--report", report, "--output", "json"},
	} {
		cmd := exec.CommandContext(ctx, filepath.Join(b.bin, "switchyard"), args...)
		cmd.Dir = dir
		text, err := cmd.Output()
		if err == nil && path == input {
			var decided struct {
				Input json.RawMessage `json:"input"`
			}
			err = json.Unmarshal(text, &decided)
			text = decided.Input
		}
		if err == nil && len(text) == 0 {
			err = fmt.Errorf("switchyard %s gave nothing", args[0])
		}
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// syncs counts the syncs of a recorded round on an existing ledger.
func (b bench) syncs(ctx context.Context, dir, report string) (string, error) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		return "Its syncs were not counted, since strace is not installed.", nil
	}
	log := filepath.Join(b.dir, "syncs")
	if err := runIn(ctx, dir, strace, "-f", "-o", log, "-e", "trace=fsync,fdatasync", filepath.Join(b.bin, "switchyard"), "round", "SYNCS", "--report", report); err != nil {
		return "", err
	}
	text, err := os.ReadFile(log)
	return fmt.Sprintf("A recorded round makes %d `fsync` and `fdatasync` calls.", strings.Count(string(text), "sync(")), err
}

// findings measures reports of many findings.
func (b bench) findings(ctx context.Context) (string, error) {
	dir, err := b.project("findings")
	if err != nil {
		return "", err
	}
	rows := [][]string{{"findings in a report", "size", "`route`", "memory", "`round`", "memory"}}
	for _, n := range []int{10, 1_000, 25_000, 250_000} {
		path := filepath.Join(dir, fmt.Sprintf("%d.json", n))
		size, err := writeReport(path, n)
		if err != nil {
			return "", err
		}
		row := []string{number(n), mebibytes(size / 1024)}
		all, err := b.inTurn(ctx, turns/4, b.switchyard("route", dir, "route", "--report", path),
			b.switchyard("round", dir, "round", fmt.Sprintf("T%d-%%d", n), "--report", path))
		if err != nil && strings.HasPrefix(codeOf(err), "plugin-") {
			rows = append(rows, append(row, "refused: `"+codeOf(err)+"`", "", "", ""))
			continue
		} else if err != nil {
			return "", err
		}
		for _, f := range all {
			row = append(row, milliseconds(f.median()), mebibytes(f.memory))
		}
		rows = append(rows, row)
	}
	return table(rows), nil
}

// writeReport writes a report of n findings, and returns its size in bytes.
func writeReport(path string, n int) (int64, error) {
	findings := make([]map[string]any, n)
	for i := range findings {
		findings[i] = map[string]any{
			"category": "todo-marker", "severity": "risk", "file": fmt.Sprintf("src/%d.go", i%997), "line": i + 1, "remediation": fmt.Sprintf("Handle case %d here.", i),
		}
	}
	text, err := json.Marshal(map[string]any{"critic": "critic", "findings": findings})
	if err != nil {
		return 0, err
	}
	return int64(len(text)), os.WriteFile(path, text, 0o600)
}

// writers measures processes that record rounds in one project concurrently.
func (b bench) writers(ctx context.Context) (string, error) {
	const each = 64
	report := filepath.Join(b.reports, "twenty.json")
	rows := [][]string{{"processes at once", "rounds", "rounds a second"}}
	for _, n := range []int{1, 8, 64} {
		dir, err := b.project(fmt.Sprintf("writers-%d", n))
		if err != nil {
			return "", err
		}
		if _, _, err := b.once(ctx, b.switchyard("round", dir, "round", "FIRST", "--report", report), 0); err != nil {
			return "", err
		}
		began := time.Now()
		var group sync.WaitGroup
		failures := make([]error, n)
		for w := range n {
			group.Go(func() {
				for i := 0; i < each/n && failures[w] == nil; i++ {
					failures[w] = runIn(ctx, dir, filepath.Join(b.bin, "switchyard"), "round", fmt.Sprintf("T-%d-%d", w, i), "--report", report)
				}
			})
		}
		group.Wait()
		took := time.Since(began)
		if err := cmp.Or(failures...); err != nil {
			return "", err
		}
		rows = append(rows, []string{number(n), number(each), fmt.Sprintf("%.0f", each/took.Seconds())})
	}
	return table(rows), nil
}

// number formats a number with commas.
func number(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// codeOf returns the code in the error of a command, or "".
func codeOf(err error) string {
	_, rest, _ := strings.Cut(err.Error(), " [")
	code, _, _ := strings.Cut(rest, "]")
	return code
}
