// Package counters is the vocabulary of what the ledger counts while it records: the
// measures, the labels they are counted under, and the cells of distributions.
//
// The engine says what each event adds (Change), the ledger keeps the sums in the
// event's own transaction and can compute them again from the events (ADR-0018), and
// metrics and statistics read them. All numbers are whole: sums of whole numbers do
// not depend on their order, so that a sum is either right or wrong.
package counters

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Other is the label value that stands for all beyond a dimension's cap.
const Other = "other"

// Limits of what can be counted.
const (
	// MaxAdd is the most that one change adds or takes away, and MaxSum the most
	// that a sum comes to: the largest whole number up to which a float64 holds
	// each. What is more counts as that much.
	MaxAdd = int64(1) << 50
	MaxSum = int64(1) << 53
	// MaxValue is the longest label value, in bytes. A longer one counts as Other,
	// and so does one that is not UTF-8.
	MaxValue = 200
)

// Measure is one thing that is counted.
type Measure struct {
	// Name is what the ledger keeps it under: [a-z][a-z0-9_]{0,63}. It is never
	// used again for anything else.
	Name string
	// Labels are the dimensions of its labels, in the order of Change.Values.
	Labels []Dimension
}

// Dimension is what a label tells apart.
type Dimension struct {
	// Name is the label's: [a-z][a-z0-9_]*. Measures that share a name share its
	// values, and so its cap.
	Name string
	// Cap is how many different values the ledger keeps apart: those that it met
	// first. All others count as Other; one that reads so itself is a value like all.
	// 0 means that there is no cap, because Switchyard chooses the values itself.
	Cap int
}

// Change is what one event adds to one sum.
type Change struct {
	Measure Measure
	// Values are the labels' values, one a dimension.
	Values []string
	// Add may be negative where something stops being the case. A sum of 0 is not
	// kept: nobody can tell it from one that never was.
	Add int64
	// Exemplar is a small JSON value that is kept beside the sum until the next change,
	// nil for none. It has at most MaxExemplar bytes.
	Exemplar jsontext.Value
}

// MaxExemplar is the longest note of a Change, in bytes.
const MaxExemplar = 512
