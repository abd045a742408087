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

// replacement is a value that replaces another one.
type replacement struct {
	name  string
	value any
	few   bool // It is large, so few places suffice.
}

func replacements() []replacement {
	return []replacement{
		{"null", nil, false},
		{"true", true, false},
		{"0", 0, false},
		{"a negative number", -1, false},
		{"a fraction", jsontext.Value("1.5"), false},
		{"an exponent", jsontext.Value("1e0"), false},
		{"a number beyond 64 bits", jsontext.Value("123456789012345678901234567890"), false},
		{"a number beyond every float", jsontext.Value("1e999"), false},
		{"an empty text", "", false},
		{"control characters", "\x00\x1f\u007f\u2028\u202e\ufffd", false},
		{"a long text", strings.Repeat("long ", 200_000), true},
		{"an empty list", []any{}, false},
		{"a list of nulls", []any{nil, nil}, false},
		{"an empty object", map[string]any{}, false},
		{"a deep list", jsontext.Value(strings.Repeat("[", 90) + `"deep"` + strings.Repeat("]", 90)), true},
		{"a list of 50,000", slices.Repeat([]any{1}, 50_000), true},
	}
}

// replaceValues replaces single values of a report.
func (k *kit) replaceValues(s seed, r replacement) error {
	n := maxPlaces
	if r.few {
		n = 3
	}
	return k.tryMutations(s, n, func(tree any, place []string) any { return set(tree, place, func(any) any { return r.value }) })
}

func (k *kit) addMember(s seed) error {
	return k.tryMutations(s, maxPlaces, func(tree any, place []string) any {
		return set(tree, place, func(v any) any {
			object, ok := v.(map[string]any)
			if !ok {
				return v
			}
			object = maps.Clone(object)
			object["an unknown member"] = map[string]any{"with": []any{"a", "value"}}
			return object
		})
	})
}

func (k *kit) removeMember(s seed) error {
	return k.tryMutations(s, maxPlaces, func(tree any, place []string) any {
		if len(place) == 0 {
			return tree
		}
		last := place[len(place)-1]
		return set(tree, place[:len(place)-1], func(v any) any {
			switch v := v.(type) {
			case map[string]any:
				v = maps.Clone(v)
				delete(v, last)
				return v
			case []any:
				i, _ := strconv.Atoi(last)
				return slices.Delete(slices.Clone(v), i, i+1)
			}
			return v
		})
	})
}

// tryMutations tries n mutations of a report, at places spread over it.
func (k *kit) tryMutations(s seed, n int, mutate func(tree any, place []string) any) error {
	var tree any
	if err := json.Unmarshal(s.doc.Bytes(), &tree); err != nil {
		return err
	}
	for _, place := range pickVaried(places(tree, nil), n) {
		if k.ctx.Err() != nil {
			return nil
		}
		text, err := json.Marshal(mutate(tree, place), json.Deterministic(true))
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

// set returns a copy of a tree with the value at a place changed.
func set(tree any, place []string, change func(any) any) any {
	if len(place) == 0 {
		return change(tree)
	}
	switch v := tree.(type) {
	case map[string]any:
		v = maps.Clone(v)
		v[place[0]] = set(v[place[0]], place[1:], change)
		return v
	case []any:
		v = slices.Clone(v)
		if i, err := strconv.Atoi(place[0]); err == nil && i < len(v) {
			v[i] = set(v[i], place[1:], change)
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
