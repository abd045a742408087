package routing

import (
	"math"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// abstractValue describes the values that a term can have. The zero value describes
// values without relevant numbers, such as names and booleans.
type abstractValue struct {
	// fields are the numeric input fields that the value may equal.
	fields []string
	// numbers are the constants of the policy that the value may equal or contain.
	numbers []int
	// derived reports whether the value may be a number that is in neither list.
	derived bool
	// input and routes report whether the value may be the whole input or its routes.
	input, routes bool
}

// routesField stands for the count of any destination.
const routesField = "routes"

// holdsInput reports whether the value may contain unchanged numbers of the input.
func (s abstractValue) holdsInput() bool { return len(s.fields) > 0 || s.input || s.routes }

// maxNumbers bounds the constants of one value. More would make too many input classes to
// try.
const maxNumbers = 100

// join returns the abstract value that covers both s and o.
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

// without returns s after its input numbers have been reported.
func (s abstractValue) without() abstractValue {
	return abstractValue{numbers: s.numbers, derived: s.derived || s.holdsInput()}
}

// union returns the elements of a or b. It modifies neither.
func union[T comparable](a, b []T) []T {
	for i, x := range b {
		if !slices.Contains(a, x) {
			return append(slices.Clip(a), slices.DeleteFunc(slices.Clone(b[i:]), func(x T) bool { return slices.Contains(a, x) })...)
		}
	}
	return a
}

// maxThreshold bounds the tracked constants. No count comes near it.
const maxThreshold = 1 << 30

// numberValue returns the abstract value of a number in the source.
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
