package routing_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Policies that WebAssembly and the interpreter decide differently are rejected.
func TestWasmRefusesWhatItDecidesOtherwise(t *testing.T) {
	for condition, refused := range map[string]bool{
		`[d | some d, n in input.routes; n > 0][0] == "fixer"`:          true,
		`[x | some x in {1.5, 1, 2}] == [1, 1.5, 2]`:                    true,
		`[x | walk({"a": 1, "b": 2}, [x, _])] == [[], ["a"], ["b"]]`:    true,
		`{x | y := [d | input.routes[d]]; x := y[0]} == {"fixer"}`:      true,
		`every x in [1] { [d | input.routes[d]][0] == "fixer"; x > 0 }`: true,
		`[x | some x in numbers.range(1, 3)] == [1, 2, 3]`:              false,
		`xs := [3, 1]; [x | some x in xs] == xs`:                        false,
		`{"a": x | some x in [1]} == {"a": 1}`:                          false,
		`[d | some d in precedence; input.routes[d] > 0][0] == "fixer"`: false,
		`[d | some d in precedence; d in {"fixer"}] == ["fixer"]`:       false,
		`{d | some d, n in input.routes; n > 0} == {"fixer"}`:           false,
		`count({x | some x in {1.5, 1, 2}}) == 3`:                       false,
	} {
		if testing.Short() && !refused {
			continue // It would be compiled to WebAssembly, which is slow.
		}
		p := conditional(t, condition, "")
		_, err := routing.Loader{Engine: routing.EngineWasm}.FromSources(t.Context(), "p", p.Sources())
		if got := errs.CodeOf(err) == errs.PolicyInvalid; got != refused || err != nil && !got {
			t.Errorf("%s: refused is %v, want %v: %v", condition, got, refused, err)
		}
	}
}
