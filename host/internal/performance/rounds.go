package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// rounds measures commands on ledgers of different sizes.
func (b bench) rounds(ctx context.Context) (string, error) {
	report := filepath.Join(b.dir, "five.json")
	if _, err := writeReport(report, 5); err != nil {
		return "", err
	}
	columns := []struct {
		name  string
		turns int
		args  []string
	}{
		{"`round`", turns / 2, []string{"round", "NEW-%d", "--report", report}},
		{"`status TASK`", turns / 2, []string{"status", "T-0"}},
		{"`stats`", turns / 2, []string{"stats"}},
		{"`metrics print`", turns / 2, []string{"metrics", "print"}},
		{"`policy replay`", 1, []string{"policy", "replay", "--policy", "routing@1.2.0"}},
		{"`ledger verify`", 1, []string{"ledger", "verify"}},
		{"`ledger verify --decisions`", 1, []string{"ledger", "verify", "--decisions"}},
	}
	rows := [][]string{{"rounds in the ledger", "size", "bytes a round"}}
	for _, c := range columns {
		rows[0] = append(rows[0], c.name)
	}
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		dir, err := b.project(fmt.Sprintf("rounds-%d", n))
		if err != nil {
			return "", err
		}
		if err := b.grow(ctx, dir, report, n); err != nil {
			return "", err
		}
		if err := forgetMemory(); err != nil {
			return "", err
		}
		info, err := os.Stat(filepath.Join(dir, project.StateDir, "ledger.db"))
		if err != nil {
			return "", err
		}
		row := []string{number(n), mebibytes(info.Size() / 1024), number(int(info.Size()) / n)}
		for _, c := range columns {
			fmt.Fprintln(os.Stderr, "  ", number(n), c.name)
			p := b.switchyard(c.name, dir, c.args...)
			all, err := b.inTurn(ctx, c.turns, p)
			if err != nil {
				return "", err
			}
			row = append(row, fmt.Sprintf("%s, %s", short(all[0].median()), mebibytes(all[0].memory)))
		}
		rows = append(rows, row)
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	return table(rows), nil
}

// short formats a time in milliseconds or seconds.
func short(d time.Duration) string {
	if d < time.Second {
		return milliseconds(d)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// grow makes a ledger of n rounds, each the first of its task. The first one is a real
// round, and the others are copies of its event for other tasks.
func (b bench) grow(ctx context.Context, dir, report string, n int) error {
	const first = "T-0"
	if _, _, err := b.once(ctx, b.switchyard("round", dir, "round", first, "--report", report), 0); err != nil {
		return err
	}
	l, err := ledger.Open(ctx, filepath.Join(dir, project.StateDir), record.Fold)
	if err != nil {
		return err
	}
	defer l.Close()
	head, err := l.Head(ctx, first)
	if err != nil {
		return err
	}
	decided, err := l.Event(ctx, first, head.N)
	if err != nil {
		return err
	}
	// The digest of the state before is that of the first task.
	var body map[string]json.RawMessage
	if err := json.Unmarshal(decided.Body, &body); err != nil {
		return err
	}
	delete(body, "before")
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	const batch = 1000
	for from := 1; from < n; from += batch {
		var batches []ledger.Batch
		for i := from; i < min(from+batch, n); i++ {
			task := fmt.Sprintf("T-%d", i)
			batches = append(batches, ledger.Batch{Task: task, Events: []ledger.NewEvent{
				{Kind: decided.Kind, Body: []byte(strings.ReplaceAll(string(text), `"`+first+`"`, `"`+task+`"`))},
			}})
		}
		if _, err := l.AppendAll(ctx, time.Now(), batches...); err != nil {
			return err
		}
	}
	return l.Close()
}
