// Package counters defines the counters of the ledger: measures, their labels, and the
// cells of distributions.
//
// The engine computes the changes of each event (Change). The ledger stores the sums in
// the event's own transaction and can recompute them from the events (ADR-0018). Metrics
// and statistics read them. All numbers are integers, so sums do not depend on the order
// of the events.
package counters

import "github.com/go-json-experiment/json/jsontext"

// Other is the label value for all values beyond a dimension's cap.
const Other = "other"

// The limits of counters.
const (
	// MaxAdd limits a change, and MaxSum a sum: float64 represents all integers up to
	// MaxSum. Larger numbers are clamped.
	MaxAdd = int64(1) << 50
	MaxSum = int64(1) << 53
	// MaxValue is the maximum length of a label value, in bytes. A longer value, or one that
	// is not UTF-8, counts as Other.
	MaxValue = 200
)

// Measure is a counter with labels.
type Measure struct {
	// Name is the name in the ledger: [a-z][a-z0-9_]{0,63}. It is never reused.
	Name string
	// Labels are the dimensions, in the order of Change.Values.
	Labels []Dimension
}

// Dimension is a label of a measure.
type Dimension struct {
	// Name is [a-z][a-z0-9_]*. Dimensions with the same name share their values and their
	// cap.
	Name string
	// Cap is the number of values that the ledger counts separately. Further values count as
	// Other. 0 means no cap, for values that Switchyard itself defines.
	Cap int
	// Known are values that are counted separately even beyond the cap.
	Known []string
}

// Change is a change of a sum by an event.
type Change struct {
	Measure Measure
	// Values are the label values, one per dimension.
	Values []string
	// Add may be negative if something ends. A sum of 0 is not stored.
	Add int64
	// Exemplar is a JSON value of at most MaxExemplar bytes that is stored with the sum
	// until the next change, or nil.
	Exemplar jsontext.Value
}

// MaxExemplar limits the exemplar of a Change, in bytes.
const MaxExemplar = 512
