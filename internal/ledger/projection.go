package ledger

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// Fold applies one event to what the task's earlier events have made of it.
//
// A fold is pure: the same view and event always give the same bytes, because
// Verify folds every task again and compares. It may read both arguments but
// neither modify nor keep them, and may run more than once for one Append. What
// it returns is the ledger's. An error refuses the event: nothing is recorded,
// and Append returns that error unchanged.
//
// The view of an Append is what the database holds, which somebody may have
// changed: a fold that finds there what it never wrote returns an error.
type Fold func(before View, e Event) (Projection, error)

// View is what a task's events have made of it so far.
type View interface {
	// State returns the task's state, nil where the task does not exist yet.
	State() jsontext.Value
	// Entry returns the entry of that key, by one look-up, and nil where there
	// is none. An error means that the ledger could not be read; it ends the
	// Append or Verify, whatever the fold makes of it.
	Entry(key string) (jsontext.Value, error)
	// Entries returns those that exist among the given keys, which costs less than
	// asking for one after the other. The map is the caller's. An error means what
	// it does for Entry.
	Entries(keys []string) (map[string]jsontext.Value, error)
}

// Projection is what an event makes of a task.
type Projection struct {
	// State is the new state, of at most MaxBody bytes: small, since it is read
	// whenever somebody asks where the task stands. It may be the old one.
	State []byte
	// Entries are those that change, at most MaxEntries, in any order, with
	// each key once. What grows with a task's history belongs here.
	Entries []Entry
	// Changes are what the event adds to the ledger's sums, at most MaxChanges, in the
	// order in which they count. Measures of one name have the same dimensions, and
	// dimensions of one name the same cap, in all events.
	Changes []counters.Change
}

// Entry is one keyed value beside a task's state.
type Entry struct {
	// Key has 1 to 200 bytes of A-Z, a-z, 0-9, '.', '/', '_', ':' and '-'.
	// Entries are ordered by the bytes of their keys.
	Key string `json:"key"`
	// Value is JSON without duplicate names, of at most MaxValue bytes. Where
	// it is nil, a Projection removes the entry.
	Value jsontext.Value `json:"value"`
}

// Limits of a Projection's entries.
const (
	// MaxEntries is how many entries one event may change.
	MaxEntries = 200_000
	// MaxValue is the longest value of an entry, in bytes.
	MaxValue = 64 << 10
	maxKey   = 200
)

// project runs fold and returns its projection with its entries in the order of
// their keys, or the error of a view that failed, a refusal, or ledger-invalid.
func project(fold Fold, before View, e Event) (Projection, error) {
	view := &errTrackingView{View: before}
	p, err := fold(view, e)
	if view.err != nil {
		return Projection{}, view.err
	}
	if err != nil {
		return Projection{}, foldError{err}
	}
	if len(p.State) > MaxBody {
		return Projection{}, invalid("the fold's state has %d bytes, more than %d", len(p.State), MaxBody)
	}
	if !jsontext.Value(p.State).IsValid() {
		return Projection{}, invalid("the fold's state is not JSON")
	}
	if p.Entries, err = checkEntries(p.Entries); err != nil {
		return Projection{}, err
	}
	if p.Changes, err = checkCounts(p.Changes); err != nil {
		return Projection{}, err
	}
	return p, nil
}

// checkEntries returns a sorted copy of a fold's entries, unless one is against the
// rules.
func checkEntries(entries []Entry) ([]Entry, error) {
	if len(entries) > MaxEntries {
		return nil, invalid("the fold changes %d entries, more than %d", len(entries), MaxEntries)
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	for i, entry := range entries {
		switch {
		case !isKey(entry.Key):
			return nil, invalid("%.300q is not a key of an entry", entry.Key)
		case i > 0 && entry.Key == entries[i-1].Key:
			return nil, invalid("the fold changes the entry %q twice", entry.Key)
		case len(entry.Value) > MaxValue:
			return nil, invalid("the entry %q has %d bytes, more than %d", entry.Key, len(entry.Value), MaxValue)
		case entry.Value != nil && !entry.Value.IsValid():
			return nil, invalid("the entry %q is not JSON", entry.Key)
		}
	}
	return entries, nil
}

// isKey reports whether s has the form of an Entry's key.
func isKey(s string) bool {
	return isWord(s, maxKey, func(c byte, _ bool) bool {
		return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("./_:-", c) >= 0
	})
}

// errTrackingView remembers that a view failed, so that a fold cannot go on as if there
// were no entry.
type errTrackingView struct {
	View
	err error
}

func (w *errTrackingView) Entry(key string) (jsontext.Value, error) {
	value, err := w.View.Entry(key)
	w.see(err)
	return value, err
}

func (w *errTrackingView) Entries(keys []string) (map[string]jsontext.Value, error) {
	found, err := w.View.Entries(keys)
	w.see(err)
	return found, err
}

func (w *errTrackingView) see(err error) {
	if w.err == nil {
		w.err = err
	}
}

// memState is a task's projection in memory. The zero value is that of a task
// without events.
type memState struct {
	state   jsontext.Value
	entries map[string]jsontext.Value
}

func (p *memState) State() jsontext.Value { return p.state }

func (p *memState) Entry(key string) (jsontext.Value, error) { return p.entries[key], nil }

func (p *memState) Entries(keys []string) (map[string]jsontext.Value, error) {
	found := make(map[string]jsontext.Value, len(keys))
	for _, key := range keys {
		if value := p.entries[key]; value != nil {
			found[key] = value
		}
	}
	return found, nil
}

// apply makes p what the projection of one more event makes of it.
func (p *memState) apply(next Projection) {
	p.state = next.State
	if p.entries == nil && len(next.Entries) > 0 {
		p.entries = make(map[string]jsontext.Value)
	}
	for _, entry := range next.Entries {
		if entry.Value == nil {
			delete(p.entries, entry.Key)
		} else {
			p.entries[entry.Key] = entry.Value
		}
	}
}
