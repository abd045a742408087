package routing

import (
	"math"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// abstractValue is what the analysis knows of the values that a term can have. The zero
// abstractValue is that of values without any number that could matter, as names and
// truth values are.
type abstractValue struct {
	// fields are the numeric fields of the input that the value may be, as they are.
	fields []string
	// numbers are those written in the policy that the value may be or hold.
	numbers []int
	// derived says that it may be a number that is in neither list.
	derived bool
	// input and routes say that it may be the whole input or its routes.
	input, routes bool
}

// routesField stands for the count of any destination.
const routesField = "routes"

// holdsInput says that the value may hold numbers of the input, as they are.
func (s abstractValue) holdsInput() bool { return len(s.fields) > 0 || s.input || s.routes }

// maxNumbers bounds the numbers that one value may be. More make more classes of
// inputs than anybody can try.
const maxNumbers = 100

// join is the shade of values of either.
func (s abstractValue) join(o abstractValue) abstractValue {
	joined := abstractValue{
		fields:  union(s.fields, o.fields),
		numbers: union(s.numbers, o.numbers),
		derived: s.derived || o.derived,
		input:   s.input || o.input,
		routes:  s.routes || o.routes,
	}
	if len(joined.numbers) > maxNumbers {
		joined.numbers, joined.derived = nil, true
	}
	return joined
}

// without is s after the input's own numbers in it were reported.
func (s abstractValue) without() abstractValue {
	return abstractValue{numbers: s.numbers, derived: s.derived || s.holdsInput()}
}

// union returns what is in a or b. It changes neither.
func union[T comparable](a, b []T) []T {
	for i, x := range b {
		if !slices.Contains(a, x) {
			return append(slices.Clip(a), slices.DeleteFunc(slices.Clone(b[i:]), func(x T) bool { return slices.Contains(a, x) })...)
		}
	}
	return a
}

// maxThreshold bounds the numbers that are followed. No count comes near it.
const maxThreshold = 1 << 30

// numberValue is the shade of a number in the source.
func numberValue(n ast.Number) abstractValue {
	if whole, ok := n.Int(); ok && -maxThreshold < whole && whole < maxThreshold {
		return abstractValue{numbers: []int{whole}}
	}
	f, ok := n.Float64()
	if !ok || math.Abs(f) >= maxThreshold {
		return abstractValue{derived: true}
	}
	return abstractValue{numbers: slices.Compact([]int{int(math.Floor(f)), int(math.Ceil(f))})}
}
