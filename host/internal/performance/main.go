// Command performance measures whole processes of a release build, compares them with
// programs that people would use instead, and writes the tables of docs/performance.md, or only
// those that its arguments name. It runs at the top of the repository:
//
//	performance [start] [rounds] [findings] [writers] [parts] [machine]
//
// Programs that are compared run in turn, so that they share the load of the machine. All
// figures of time are medians.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "performance:", err)
		os.Exit(1)
	}
}

// run measures the wanted tables, or all.
func run(ctx context.Context, wanted []string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "performance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := bench{dir: dir, bin: filepath.Join(root, "bin"), reports: filepath.Join(root, "testdata", "reports")}
	for _, t := range []struct {
		name string
		make func(context.Context) (string, error)
	}{{"start", b.start}, {"rounds", b.rounds}, {"findings", b.findings}, {"writers", b.writers}, {"parts", b.parts}, {"machine", machine}} {
		if len(wanted) > 0 && !slices.Contains(wanted, t.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", t.name)
		text, err := t.make(ctx)
		if err == nil {
			err = replace(t.name, text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// page has the tables.
const page = "docs/performance.md"

// replace replaces a table of the page, which is between two comments.
func replace(name, text string) error {
	whole, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, found := strings.Cut(string(whole), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table %s", page, name)
	}
	return os.WriteFile(page, []byte(before+begin+text+end+after), 0o644)
}
