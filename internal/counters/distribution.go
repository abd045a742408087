package counters

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Distribution is a measure of values: the number of values in each cell of a scale, and
// their sum.
type Distribution struct {
	// Measure has the labels of the distribution.
	Measure
	Scale Scale
}

func duration(name string, perSecond int64, labels ...Dimension) Distribution {
	return Distribution{Measure{name, labels}, Scale{PerUnit: perSecond}}
}

// Cells returns the measure of the values per cell. Its last label is the cell.
func (d Distribution) Cells() Measure {
	return Measure{d.Name + "_cells", append(slices.Clip(d.Labels), free("cell"))}
}

// Sum returns the measure of the sum of the values.
func (d Distribution) Sum() Measure { return Measure{d.Name + "_sum", d.Labels} }

// Observation is an observed value that is stored as the exemplar of its cell.
type Observation struct {
	// Value is in the unit of Scale.PerUnit.
	Value int64  `json:"value"`
	Task  string `json:"task"`
	Round int    `json:"round,omitzero"`
}

// Observe returns the changes that add a value under the given labels. A negative value
// counts as 0, since clocks can be set back.
func (d Distribution) Observe(o Observation, values ...string) []Change {
	o.Value = max(o.Value, 0)
	// The id of a task in a ledger that was tampered with need not be UTF-8.
	exemplar, err := json.Marshal(o, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(fmt.Sprintf("counters: failed to encode an observation: %v", err)) // Two numbers and a string can always be encoded.
	}
	return []Change{
		{Measure: d.Cells(), Values: append(slices.Clip(values), d.Scale.Cell(o.Value)), Add: 1, Exemplar: exemplar},
		{Measure: d.Sum(), Values: values, Add: o.Value},
	}
}
