package plugintest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// mutation is a change of a single value of a report.
type mutation struct {
	name string
	// change returns the new value, or removed{}. It does not modify the old one.
	change func(value any) any
	few    bool // The new value is large, so few places suffice.
}

// removed in the place of a value removes it. In the place of the report it is an empty object.
type removed struct{}

func mutations() []mutation {
	replace := func(name string, value any, few bool) mutation {
		return mutation{name + " for a value", func(any) any { return value }, few}
	}
	return []mutation{
		replace("null", nil, false),
		replace("true", true, false),
		replace("0", 0, false),
		replace("a negative number", -1, false),
		replace("a fraction", jsontext.Value("1.5"), false),
		replace("an exponent", jsontext.Value("1e0"), false),
		replace("a number beyond 64 bits", jsontext.Value("123456789012345678901234567890"), false),
		replace("a number beyond every float", jsontext.Value("1e999"), false),
		replace("an empty text", "", false),
		replace("control characters", "\x00\x1f\u007f\u2028\u202e\ufffd", false),
		replace("a long text", strings.Repeat("long ", 200_000), true),
		replace("an empty list", []any{}, false),
		replace("a list of nulls", []any{nil, nil}, false),
		replace("an empty object", map[string]any{}, false),
		replace("a deep list", jsontext.Value(strings.Repeat("[", 90)+`"deep"`+strings.Repeat("]", 90)), true),
		replace("a list of 50,000", slices.Repeat([]any{1}, 50_000), true),
		{"with a member too many", addMember, false},
		{"with a member too few", func(any) any { return removed{} }, false},
	}
}

func addMember(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	object = maps.Clone(object)
	object["an unknown member"] = map[string]any{"with": []any{"a", "value"}}
	return object
}

// mutate tries a mutation of a report at single places, which are spread over it.
func (k *kit) mutate(s seed, m mutation) error {
	var tree any
	if err := json.Unmarshal(s.doc.Bytes(), &tree); err != nil {
		return err
	}
	n := maxPlaces
	if m.few {
		n = 3
	}
	for _, place := range pickVaried(places(tree, nil), n) {
		if k.ctx.Err() != nil {
			return nil
		}
		text, err := json.Marshal(set(tree, place, m.change), json.Deterministic(true))
		if err != nil {
			return err
		}
		if _, err := k.try(text, s.config); err != nil {
			return fmt.Errorf("at /%s: %w", strings.Join(place, "/"), err)
		}
	}
	return nil
}

// places lists the paths of all values in a tree, including its root, in a fixed order.
func places(tree any, way []string) [][]string {
	all := [][]string{slices.Clone(way)}
	switch v := tree.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, places(v[name], append(way, name))...)
		}
	case []any:
		for i := range v {
			all = append(all, places(v[i], append(way, strconv.Itoa(i)))...)
		}
	}
	return all
}

// pickVaried picks n places, first one of each shape, so that many similar items do not hide
// rare members. A shape is a path without array indexes.
func pickVaried(all [][]string, n int) [][]string {
	var first, rest [][]string
	seen := make(map[string]bool)
	for _, place := range all {
		steps := slices.Clone(place)
		for i, step := range steps {
			if _, err := strconv.Atoi(step); err == nil {
				steps[i] = "*"
			}
		}
		shape := strings.Join(steps, "/")
		if seen[shape] {
			rest = append(rest, place)
		} else {
			first = append(first, place)
		}
		seen[shape] = true
	}
	if len(first) >= n {
		return spread(first, n)
	}
	return append(first, spread(rest, n-len(first))...)
}

// set returns a copy of a tree with the value at a place changed or removed.
func set(tree any, place []string, change func(any) any) any {
	if len(place) == 0 {
		return change(tree)
	}
	switch v := tree.(type) {
	case map[string]any:
		v = maps.Clone(v)
		v[place[0]] = set(v[place[0]], place[1:], change)
		if v[place[0]] == (removed{}) {
			delete(v, place[0])
		}
		return v
	case []any:
		v = slices.Clone(v)
		if i, err := strconv.Atoi(place[0]); err == nil && i < len(v) {
			v[i] = set(v[i], place[1:], change)
			if v[i] == (removed{}) {
				v = slices.Delete(v, i, i+1)
			}
		}
		return v
	}
	return tree
}

// configurations runs the plugin with unknown settings.
func (k *kit) configurations(s seed) error {
	for _, text := range []string{
		`{"no-such-setting":1}`, `{"categories":null}`, `{"categories":[]}`, `{"categories":{"default":1}}`,
		`{"categories":{"rules":{"x":{}}}}`, `{"":""}`, `{"a":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`,
		`{"long":"` + strings.Repeat("x", 1<<20) + `"}`,
	} {
		if _, err := k.try(s.doc.Bytes(), jsontext.Value(text)); err != nil {
			return fmt.Errorf("%.40s: %w", text, err)
		}
	}
	return nil
}
