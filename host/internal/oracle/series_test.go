package oracle

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Limits of counting: an event adds at most maxAdd to a counter, a counter is at most
// maxSum, and a label value longer than maxValue counts as other.
const (
	maxAdd   = int64(1) << 50
	maxSum   = int64(1) << 53
	maxValue = 200
	other    = "other"
)

// sum is a counter under some labels.
type sum struct {
	metric string
	values []string
	n      int64
	// at is the time of the latest change.
	at string
}

// histogram is the observations under some labels.
type histogram struct {
	metric metric
	values []string
	count  int64
	sum    int64
	// buckets has for each border the number of values at most the border.
	buckets []int64
	// cells has the counts by cell number; zero is the count of zero values.
	cells map[int]int64
	zero  int64
}

func keyOf(name string, values []string) string { return fmt.Sprintf("%s %q", name, values) }

// add counts n under the values of a metric's labels.
func (r *Recount) add(name string, n int64, at string, values ...string) {
	if n == 0 {
		return
	}
	values = r.admitted(name, values)
	key := keyOf(name, values)
	s := r.sums[key]
	if s == nil {
		s = &sum{metric: name, values: values}
		r.sums[key] = s
	}
	s.n, s.at = limited(s.n, n), at
}

// limited returns a sum plus n, within the limits.
func limited(sum, n int64) int64 { return min(sum+min(n, maxAdd), maxSum) }

// observe counts a value under the values of a histogram's labels. Negative values count
// as 0, since clocks can be set back.
func (r *Recount) observe(name string, value int64, values ...string) {
	values = r.admitted(name, values)
	key := keyOf(name, values)
	m, h := r.metrics[name], r.histograms[key]
	if h == nil {
		h = &histogram{metric: m, values: values, buckets: make([]int64, len(m.borders)), cells: make(map[int]int64)}
		r.histograms[key] = h
	}
	value = max(value, 0)
	h.count++
	h.sum = limited(h.sum, value)
	for i, b := range m.borders {
		if b.holds(value, m.perUnit) {
			h.buckets[i]++
		}
	}
	if value == 0 {
		h.zero++
	} else {
		h.cells[cell(value, m.perUnit)]++
	}
}

// cell returns the number of the cell of value/perUnit, with eight cells per doubling: the
// smallest i for which it is at most 2^(i/8). Both sides are raised to the power of 8, so
// the comparison uses integers and is exact.
func cell(value, perUnit int64) int {
	above := new(big.Int).Exp(big.NewInt(value), big.NewInt(8), nil)
	below := new(big.Int).Exp(big.NewInt(perUnit), big.NewInt(8), nil)
	for i := above.BitLen() - below.BitLen() - 1; ; i++ {
		left, right := above, below
		if i >= 0 {
			right = new(big.Int).Lsh(below, uint(i))
		} else {
			left = new(big.Int).Lsh(above, uint(-i))
		}
		if left.Cmp(right) <= 0 {
			return i
		}
	}
}

// admitted returns label values as they are counted: in each dimension the first distinct
// values are kept, later ones become other. Hidden characters are escaped.
func (r *Recount) admitted(name string, values []string) []string {
	labels := r.metrics[name].labels
	if len(values) != len(labels) {
		panic(fmt.Sprintf("recount: %q are no labels of %s", values, name)) // A bug of this package.
	}
	counted := make([]string, len(values))
	for i, value := range values {
		counted[i] = textutil.Line(r.admit(labels[i], value))
	}
	return counted
}

func (r *Recount) admit(label, value string) string {
	name, most := dimension(label)
	if most == 0 {
		if len(value) > maxValue {
			return other
		}
		return value
	}
	known := r.known[name]
	if known == nil {
		known = make(map[string]bool)
		r.known[name] = known
	}
	switch {
	case known[value]:
		return value
	case len(value) <= maxValue && len(known) < most, name == "severity" && slices.Contains([]string{"fail", "risk", "nit"}, value):
		known[value] = true
		return value
	}
	r.lose(name, value)
	return other
}

// lose counts a value that became other, once per event.
func (r *Recount) lose(dimension, value string) {
	event := keyOf(dimension, []string{value})
	if r.lost[event] {
		return
	}
	r.lost[event] = true
	key := keyOf("label_overflow_total", []string{dimension})
	if r.sums[key] == nil {
		r.sums[key] = &sum{metric: "label_overflow_total", values: []string{dimension}}
	}
	r.sums[key].n++
}
