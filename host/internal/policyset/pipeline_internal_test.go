package policyset

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// numbered yields events with the numbers from 1 to n, every tenth as large as a batch, and
// then err unless it is nil.
func numbered(n int64, err error) iter.Seq2[ledger.Event, error] {
	return func(yield func(ledger.Event, error) bool) {
		for seq := int64(1); seq <= n; seq++ {
			e := ledger.Event{Seq: seq, Body: []byte("{}")}
			if seq%10 == 0 {
				e.Body = make([]byte, batchBytes)
			}
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(ledger.Event{}, err)
		}
	}
}

func TestInOrder(t *testing.T) {
	unreadable, refused, full := errors.New("unreadable"), errors.New("refused"), errors.New("full")
	for name, c := range map[string]struct {
		events                 int64
		source                 error
		refusedAt, fullAt, max int64
		want                   error
	}{
		"none":                        {},
		"all":                         {events: 1000, max: 1000},
		"a source that ends early":    {events: 777, source: unreadable, max: 777, want: unreadable},
		"a source without events":     {source: unreadable, want: unreadable},
		"work that fails":             {events: 1000, source: unreadable, refusedAt: 500, max: 499, want: refused},
		"a caller that fails":         {events: 1000, refusedAt: 500, fullAt: 300, max: 300, want: full},
		"a caller that fails at once": {events: 1000, fullAt: 1, max: 1, want: full},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int64
			err := inOrder(t.Context(), numbered(c.events, c.source), func(e ledger.Event) (int64, error) {
				if e.Seq == c.refusedAt {
					return 0, refused
				}
				return e.Seq, nil
			}, func(seq int64) error {
				got = append(got, seq)
				if seq == c.fullAt {
					return full
				}
				return nil
			})
			var want []int64
			for seq := int64(1); seq <= c.max; seq++ {
				want = append(want, seq)
			}
			if !errors.Is(err, c.want) || !slices.Equal(got, want) {
				t.Errorf("%d results, the last %v: %v", len(got), got[max(len(got)-1, 0):], err)
			}
		})
	}
}

func TestInOrderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	err := inOrder(ctx, numbered(1<<40, nil), func(e ledger.Event) (int64, error) { return e.Seq, nil }, func(seq int64) error {
		if seq == 300 {
			cancel(stop)
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
