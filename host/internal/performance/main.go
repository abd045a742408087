// Command performance measures whole processes of a release build, compares them with
// programs that people would use instead, and writes the tables of docs/performance.md.
//
//	performance -page docs/performance.md -bin bin
//
// Programs that are compared run in turn, so that they share the load of the machine. All
// figures of time are medians.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
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

// options are the options of the command line.
type options struct {
	page, bin, testdata string
	turns               int
	rounds              []int
	only                string
}

func run(ctx context.Context, args []string) error {
	o := options{rounds: []int{1_000, 100_000, 1_000_000}}
	given := false
	flags := flag.NewFlagSet("performance", flag.ContinueOnError)
	flags.StringVar(&o.page, "page", "docs/performance.md", "write the tables into this `FILE`")
	flags.StringVar(&o.bin, "bin", "bin", "the `FOLDER` of the programs")
	flags.StringVar(&o.testdata, "testdata", "testdata", "the `FOLDER` of the reports")
	flags.IntVar(&o.turns, "turns", 40, "run what is compared `N` times")
	flags.StringVar(&o.only, "only", "", "write only the `TABLE`: start, rounds, findings, writers or parts")
	flags.Func("rounds", "measure a ledger of `N` rounds instead of 1,000, 100,000 and 1,000,000 (repeatable)", func(text string) error {
		if !given {
			o.rounds, given = nil, true
		}
		var n int
		_, err := fmt.Sscan(text, &n)
		o.rounds = append(o.rounds, n)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "performance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := newBench(dir, o)
	if err != nil {
		return err
	}
	tables := []struct {
		name string
		make func(context.Context, *bench) (string, error)
	}{{"start", start}, {"rounds", rounds}, {"findings", findings}, {"writers", writers}, {"parts", parts}}
	for _, t := range tables {
		if o.only != "" && o.only != t.name {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", t.name)
		text, err := t.make(ctx, b)
		if err == nil {
			err = replace(o.page, t.name, text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if o.only != "" {
		return nil
	}
	return replace(o.page, "machine", machine())
}

// replace replaces a table of the page, which is between two comments.
func replace(page, name, text string) error {
	whole, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, found := strings.Cut(string(whole), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table %s", filepath.Base(page), name)
	}
	return os.WriteFile(page, []byte(before+begin+text+end+after), 0o644)
}
