package counters

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
)

// Distribution is a measure of values: how many there were in each cell of a scale,
// and their sum.
type Distribution struct {
	// Measure has the labels that the distribution is told apart by.
	Measure
	Scale Scale
}

func duration(name string, perSecond int64, labels ...Dimension) Distribution {
	return Distribution{Measure{name, labels}, Scale{PerUnit: perSecond}}
}

// Cells counts the values of each cell: the label after the others is Scale.Cell.
func (d Distribution) Cells() Measure {
	return Measure{d.Name + "_cells", append(slices.Clip(d.Labels), free("cell"))}
}

// Sum adds the values up.
func (d Distribution) Sum() Measure { return Measure{d.Name + "_sum", d.Labels} }

// Observation is a value that a distribution keeps as an example of its cell.
type Observation struct {
	// Value is as it was observed.
	Value int64  `json:"value"`
	Task  string `json:"task"`
	Round int    `json:"round,omitzero"`
}

// Observe adds a value, under the given labels. What is below 0 counts as 0: clocks
// are set back.
func (d Distribution) Observe(s Observation, values ...string) []Change {
	s.Value = max(s.Value, 0)
	note, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("tally: a sample that cannot be JSON: %v", err)) // Two numbers and a text are.
	}
	return []Change{
		{Measure: d.Cells(), Values: append(slices.Clip(values), d.Scale.Cell(s.Value)), Add: 1, Exemplar: note},
		{Measure: d.Sum(), Values: values, Add: s.Value},
	}
}
