package ledger_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/host/ledger"
)

// grow makes a closed ledger with one task of so many events of 1 KiB, at a
// price that allows for many: it copies the first and mends nothing, since no
// benchmark verifies.
func grow(b *testing.B, events int) string {
	b.Helper()
	dir := state(b)
	l := open(b, dir)
	if _, err := l.Append(b.Context(), "t", 0, clock(0), "note", fmt.Appendf(nil, `"%01024d"`, 0)); err != nil {
		b.Fatal(err)
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	edit(b, dir,
		fmt.Sprintf(`WITH RECURSIVE i(v) AS (SELECT 2 UNION ALL SELECT v + 1 FROM i WHERE v < %d)
			INSERT INTO events SELECT v, task, v, at, kind, body, prev, hash FROM i, events WHERE seq = 1`, events),
		fmt.Sprintf(`UPDATE tasks SET n = %d`, events))
	return dir
}

// BenchmarkCreate is the first command of a project.
func BenchmarkCreate(b *testing.B) {
	root, i := b.TempDir(), 0
	for b.Loop() {
		i++
		l, err := ledger.Open(b.Context(), filepath.Join(root, fmt.Sprint(i)), digest)
		if err != nil {
			b.Fatal(err)
		}
		add(b, l, "t", 0)
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenAppendClose is every later command: look, record, end.
func BenchmarkOpenAppendClose(b *testing.B) {
	dir := grow(b, 10)
	n := int64(10)
	for b.Loop() {
		l, err := ledger.Open(b.Context(), dir, digest)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Head(b.Context(), "t"); err != nil {
			b.Fatal(err)
		}
		add(b, l, "t", n)
		n++
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenHeadClose is a command that only looks.
func BenchmarkOpenHeadClose(b *testing.B) {
	dir := grow(b, 10)
	for b.Loop() {
		l, err := ledger.Open(b.Context(), dir, digest)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.Head(b.Context(), "t"); err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend is one more event in an open ledger.
func BenchmarkAppend(b *testing.B) {
	l := open(b, state(b))
	n := int64(0)
	for b.Loop() {
		add(b, l, "t", n)
		n++
	}
}

// BenchmarkHead shows that history is free.
func BenchmarkHead(b *testing.B) {
	for _, events := range []int{10, 1_000, 100_000} {
		b.Run(fmt.Sprint(events), func(b *testing.B) {
			l := open(b, grow(b, events))
			for b.Loop() {
				if head, err := l.Head(b.Context(), "t"); err != nil || head.N != int64(events) {
					b.Fatal(head.N, err)
				}
			}
		})
	}
}

// BenchmarkVerify is per ledger of 10,000 events.
func BenchmarkVerify(b *testing.B) {
	l := open(b, state(b))
	for i := range int64(10_000) {
		add(b, l, fmt.Sprint("t", i%100), i/100)
	}
	for b.Loop() {
		wantSound(b, l)
	}
}
