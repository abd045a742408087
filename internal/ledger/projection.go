package ledger

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/compactjson"
	"github.com/switchyard-dev/switchyard/internal/counters"
)

// Fold applies an event to the projection of the task's earlier events.
//
// A fold must be pure: Verify folds every task again and compares bytes. It may run
// several times for one AppendAll. It must not modify or keep its arguments, and not use
// its result later. An error refuses the event; AppendAll returns it unchanged.
//
// The database may have been tampered with: a fold returns an error if it finds data that
// it never wrote.
type Fold func(before *View, e Event) (Projection, error)

// View is the projection of a task's events so far.
type View struct {
	// State is the task's state, nil if the task does not exist yet.
	State jsontext.Value
	load  func(keys []string) (map[string]jsontext.Value, error)
	err   error // the first error of load, which a fold cannot ignore
}

// Entry returns the entry of a key, or nil. An error ends the AppendAll or Verify, even if
// the fold ignores it.
func (v *View) Entry(key string) (jsontext.Value, error) {
	found, err := v.Entries([]string{key})
	return found[key], err
}

// Entries returns the entries of several keys at once, in a map that the caller owns.
// Errors are as for Entry.
func (v *View) Entries(keys []string) (map[string]jsontext.Value, error) {
	found, err := v.load(keys)
	if v.err == nil {
		v.err = err
	}
	return found, err
}

// Projection is the result of folding an event.
type Projection struct {
	// State is the task's state, of at most MaxBody bytes. It should be small, because
	// every query of the task's status reads it.
	State []byte
	// Entries are the changed entries, at most MaxEntries, each key once. Data that grows
	// with a task's history belongs here.
	Entries []Entry
	// Changes are added to the ledger's counters in their order, at most MaxChanges. The
	// ledger does not check the rules of Measure, Dimension and Change.Values.
	Changes []counters.Change
	// Parsed is set if the fold has parsed the whole body and it is JSON without duplicate
	// names. Verify parses other bodies itself.
	Parsed bool
}

// Entry is one keyed value beside a task's state.
type Entry struct {
	// Key has 1 to 200 bytes of A-Z, a-z, 0-9, '.', '/', '_', ':' and '-'.
	// Entries are ordered by the bytes of their keys.
	Key string `json:"key"`
	// Value is JSON without duplicate names, of at most MaxValue bytes. In a
	// Projection, nil removes the entry.
	Value jsontext.Value `json:"value"`
}

// The limits of a Projection's entries.
const (
	// MaxEntries is the maximum number of entries that one event changes.
	MaxEntries = 200_000
	// MaxValue is the longest value of an entry, in bytes.
	MaxValue = 64 << 10
	maxKey   = 200
)

// project runs fold, sorts the entries of its projection by key, and checks it.
func project(fold Fold, before *View, e Event) (Projection, error) {
	p, err := fold(before, e)
	if before.err != nil {
		return Projection{}, before.err
	}
	if err != nil {
		return Projection{}, foldError{err}
	}
	if len(p.State) > MaxBody {
		return Projection{}, invalid("the fold's state has %d bytes, more than %d", len(p.State), MaxBody)
	}
	if !compactjson.Valid(p.State) {
		return Projection{}, invalid("the fold's state is not JSON")
	}
	if err := checkEntries(p.Entries); err != nil {
		return Projection{}, err
	}
	return p, checkChanges(p.Changes)
}

// checkEntries sorts a fold's entries and checks the rules of Entry.
func checkEntries(entries []Entry) error {
	if len(entries) > MaxEntries {
		return invalid("the fold changes %d entries, more than %d", len(entries), MaxEntries)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	for i, entry := range entries {
		switch {
		case !isKey(entry.Key):
			return invalid("%.300q is not a key of an entry", entry.Key)
		case i > 0 && entry.Key == entries[i-1].Key:
			return invalid("the fold changes the entry %q twice", entry.Key)
		case len(entry.Value) > MaxValue:
			return invalid("the entry %q has %d bytes, more than %d", entry.Key, len(entry.Value), MaxValue)
		case entry.Value != nil && !compactjson.Valid(entry.Value):
			return invalid("the entry %q is not JSON", entry.Key)
		}
	}
	return nil
}

// memState is a task's projection in memory. Its zero value is a task without events.
type memState struct {
	state   jsontext.Value
	entries map[string]jsontext.Value
}

func (m *memState) view() *View {
	return &View{State: m.state, load: func(keys []string) (map[string]jsontext.Value, error) {
		found := make(map[string]jsontext.Value, len(keys))
		for _, key := range keys {
			if value := m.entries[key]; value != nil {
				found[key] = value
			}
		}
		return found, nil
	}}
}

// apply adds the projection of another event.
func (m *memState) apply(next Projection) {
	m.state = next.State
	if m.entries == nil {
		m.entries = make(map[string]jsontext.Value)
	}
	for _, entry := range next.Entries {
		if entry.Value == nil {
			delete(m.entries, entry.Key)
		} else {
			m.entries[entry.Key] = entry.Value
		}
	}
}

// MaxChanges is the maximum number of changes of counters by one event. It is more than
// MaxEntries, because everything with an entry, such as a finding, is counted too.
const MaxChanges = 250_000

// checkChanges makes the exemplars of a fold's changes canonical and checks their sizes.
func checkChanges(changes []counters.Change) error {
	if len(changes) > MaxChanges {
		return invalid("the fold changes %d sums, more than %d", len(changes), MaxChanges)
	}
	for i := range changes {
		c := &changes[i]
		if c.Exemplar == nil {
			continue
		}
		if len(c.Exemplar) > counters.MaxExemplar {
			return invalid("an exemplar of the measure %s has %d bytes, more than %d",
				c.Measure.Name, len(c.Exemplar), counters.MaxExemplar)
		}
		if err := canonicalize(&c.Exemplar); err != nil {
			return invalid("an exemplar of the measure %s is not JSON: %w", c.Measure.Name, err)
		}
	}
	return nil
}

// canonicalize brings JSON into the stored form: one line, with canonical strings.
func canonicalize(value *jsontext.Value) error {
	return value.Format(jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false),
		jsontext.PreserveRawStrings(false))
}
