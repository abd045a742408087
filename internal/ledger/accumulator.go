package ledger

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// accumulator adds up the changes of events, which may come in any order. A capped
// dimension counts the values of the first events separately. rows decides at the end
// which values these are, because a walk from task to task does not know it earlier.
type accumulator struct {
	sums        map[string]*sum        // by measure and labels
	labelValues map[string]*labelValue // values of capped dimensions, by the labels of LabelMeasure
	text        []byte                 // buffer for keys
}

func newAccumulator() *accumulator {
	return &accumulator{sums: make(map[string]*sum), labelValues: make(map[string]*labelValue)}
}

// sum adds up the changes of one measure with the same values.
type sum struct {
	measure string
	labels  []counters.Dimension
	values  []string
	// up and down add up the positive and the negative changes, each at most
	// counters.MaxSum; see exact.
	up, down int64
	newest   place
	exemplar jsontext.Value // of the newest change
}

// place is the position of a change: its event and its index in the event.
type place struct {
	seq   int64
	index int
	at    string
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.seq, q.seq), cmp.Compare(p.index, q.index))
}

// labelValue is a value of a capped dimension, with the number of events that counted it
// and the places of its first and last change.
type labelValue struct {
	dimension   counters.Dimension
	value       string
	times       int64
	counted     int64 // the Seq of the last of these events
	first, last place
}

func (c *accumulator) add(e *Event, changes []counters.Change) {
	lost := make(map[[2]string]bool) // by dimension and value
	for i, change := range changes {
		at := place{e.Seq, i, e.At}
		values := change.Values
		for j, d := range change.Measure.Labels {
			if isStored(values[j]) {
				if d.Cap > 0 {
					c.countLabel(d, values[j], at)
				}
				continue
			}
			if gone := [2]string{d.Name, values[j]}; d.Cap > 0 && !lost[gone] {
				lost[gone] = true
				c.addOverflow(d.Name, 1, at)
			}
			values = other(values, j)
		}
		amount := min(max(change.Add, -counters.MaxAdd), counters.MaxAdd)
		c.sum(change.Measure, values).change(max(amount, 0), max(-amount, 0), at, change.Exemplar)
	}
}

// merge adds the counts of another accumulator, which counted other events.
func (c *accumulator) merge(other *accumulator) {
	for key, s := range other.sums {
		if own := c.sums[key]; own != nil {
			own.change(s.up, s.down, s.newest, s.exemplar)
		} else {
			c.sums[key] = s
		}
	}
	for labels, v := range other.labelValues {
		own := c.labelValues[labels]
		if own == nil {
			c.labelValues[labels] = v
			continue
		}
		own.times += v.times
		own.extend(v.first, v.last)
	}
}

// extend makes the places of v include the given ones.
func (v *labelValue) extend(first, last place) {
	if first.compare(v.first) < 0 {
		v.first = first
	}
	if last.compare(v.last) > 0 {
		v.last = last
	}
}

// isStored reports whether value can be stored as a label.
func isStored(value string) bool { return len(value) <= counters.MaxValue && utf8.ValidString(value) }

// other returns values with counters.Other at i.
func other(values []string, i int) []string {
	values = slices.Clone(values)
	values[i] = counters.Other
	return values
}

// countLabel records a change with a value of a capped dimension.
func (c *accumulator) countLabel(dimension counters.Dimension, value string, at place) {
	c.text = appendLabels(c.text[:0], []string{dimension.Name, value})
	v := c.labelValues[string(c.text)]
	if v == nil {
		v = &labelValue{dimension: dimension, value: value, first: at, last: at}
		c.labelValues[string(c.text)] = v
	}
	if v.counted != at.seq {
		v.times, v.counted = v.times+1, at.seq
	}
	v.extend(at, at)
}

// addOverflow counts lost values of a dimension: each once per event, however many changes
// the event has under it.
func (c *accumulator) addOverflow(dimension string, times int64, last place) {
	c.sum(counters.Measure{Name: OverflowMeasure}, []string{dimension}).change(times, 0, last, nil)
}

// sum returns the sum of a measure with values that can be stored.
func (c *accumulator) sum(m counters.Measure, values []string) *sum {
	c.text = appendLabels(append(c.text[:0], m.Name...), values)
	s := c.sums[string(c.text)]
	if s == nil {
		s = &sum{measure: m.Name, labels: m.Labels, values: values}
		c.sums[string(c.text)] = s
	}
	return s
}

// change adds a change, or another sum.
func (s *sum) change(up, down int64, at place, note jsontext.Value) {
	s.up = min(s.up+up, counters.MaxSum)
	s.down = min(s.down+down, counters.MaxSum)
	if at.compare(s.newest) >= 0 {
		s.newest, s.exemplar = at, note
	}
}

// exact reports whether the order of the changes makes no difference: the sum never
// reached its limit, or all changes have one sign.
func (s *sum) exact() bool {
	return s.up < counters.MaxSum && s.down < counters.MaxSum || s.up == 0 || s.down == 0
}

// row is a row of the table tallies, or a change of it.
type row struct {
	measure, labels string
	sum             int64
	exact           bool // see sum.exact
	newest          place
	exemplar        jsontext.Value
}

// rows returns the changes of the stored counters, in their order. known has the stored
// labels of LabelMeasure, and admitted the number of stored values of each dimension.
func (c *accumulator) rows(known map[string]bool, admitted map[string]int) []row {
	var rows []row
	stored := make(map[string]bool)
	maps.Copy(stored, known)
	taken := make(map[string]int) // the values of each dimension
	maps.Copy(taken, admitted)
	var fresh []string
	for labels := range c.labelValues {
		if !stored[labels] {
			fresh = append(fresh, labels)
		}
	}
	slices.SortFunc(fresh, func(a, b string) int {
		return cmp.Or(c.labelValues[a].first.compare(c.labelValues[b].first), cmp.Compare(a, b))
	})
	lost := false
	for _, labels := range fresh {
		m := c.labelValues[labels]
		if taken[m.dimension.Name] < m.dimension.Cap || slices.Contains(m.dimension.Known, m.value) {
			taken[m.dimension.Name]++
			stored[labels] = true
			rows = append(rows, row{LabelMeasure, labels, 1, true, m.first, nil})
			continue
		}
		c.addOverflow(m.dimension.Name, m.times, m.last)
		lost = true
	}
	if lost {
		c.foldOverflow(stored)
	}
	for key, s := range c.sums {
		rows = append(rows, row{s.measure, key[len(s.measure):], s.up - s.down, s.exact(), s.newest, s.exemplar})
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.measure, b.measure), cmp.Compare(a.labels, b.labels))
	})
	return rows
}

// foldOverflow moves the sums of values beyond the caps to counters.Other.
func (c *accumulator) foldOverflow(stored map[string]bool) {
	for key, s := range maps.Clone(c.sums) {
		values := s.values
		for i, d := range s.labels {
			if d.Cap == 0 {
				continue
			}
			c.text = appendLabels(c.text[:0], []string{d.Name, values[i]})
			if !stored[string(c.text)] {
				values = other(values, i)
			}
		}
		if slices.Equal(values, s.values) {
			continue
		}
		delete(c.sums, key)
		c.sum(counters.Measure{Name: s.measure, Labels: s.labels}, values).change(s.up, s.down, s.newest, s.exemplar)
	}
}
