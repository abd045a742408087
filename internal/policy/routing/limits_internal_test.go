package routing

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/builtins"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
)

// maxWork bounds the bytes that one call may allocate in total. No call holds as many at
// once.
const maxWork = 256 << 20

// Whatever its arguments, a built-in function fails, or returns a value within the limits
// using a bounded amount of memory.
func TestNoBuiltInTakesAllMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	made := make(map[int]hostile) // by size
	for _, b := range ast.Builtins {
		if disallowed(b) || !isLimited(b) || topdown.GetBuiltin(b.Name) == nil || b.Name == "internal.print" { // the compiler removes it
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			call := limited(b.Name)
			for _, args := range exhaustive.Sample(hostileArguments(b, made), 6) {
				if len(args) != b.Decl.Arity() {
					continue // print takes any number
				}
				bctx := topdown.BuiltinContext{Context: t.Context(), Cancel: topdown.NewCancel(), Cache: make(builtins.Cache)}
				before := allocated()
				total := 0
				err := call(bctx, args, func(result *ast.Term) error {
					total += size(result.Value, maxValueSize)
					return nil
				})
				work := allocated() - before
				if total > maxValueSize || work > maxWork {
					t.Errorf("%.300v: it makes a value of size %d and allocates %d MiB: %v", args, total, work>>20, err)
				}
			}
		})
	}
}

// OPA finds a function by the text of its reference, which for names that are keywords differs
// from the name.
func TestLimitedBuiltInsAreFound(t *testing.T) {
	for _, b := range ast.Builtins {
		if got := builtinOf(ast.MustParseRef(limitedPrefix + b.Name)); got != b {
			t.Errorf("%s is found as %v", b.Name, got)
		}
	}
}

// Integers above 64 bits are pointers to fmt, which %p and %w print.
func TestSprintfPrintsOnlyValues(t *testing.T) {
	call := limited(ast.Sprintf.Name)
	for format, refused := range map[string]bool{
		"%p": true, "%w": true, "a %d %#p": true, "%+-# 08.3p": true, "%*p": true, "%.[1]*[2]p": true, "%%%p": true, "%!%p": true,
		"%d": false, "100%% passed": false, "%d%%p": false, "%[2]dp": false, "%x %v %T": false, "p": false, "100%": false,
	} {
		args := []*ast.Term{ast.StringTerm(format), ast.ArrayTerm(ast.NumberTerm("99999999999999999999"), ast.IntNumberTerm(1))}
		bctx := topdown.BuiltinContext{Cache: make(builtins.Cache)}
		err := call(bctx, args, func(*ast.Term) error { return nil })
		if got := err != nil && strings.Contains(err.Error(), "sprintf: the verbs p and w"); got != refused {
			t.Errorf("%q: got %v, want it refused: %v", format, err, refused)
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// hostileArguments returns argument lists for b: each kind of large value in all
// positions at once, and in one position beside small values.
func hostileArguments(b *ast.Builtin, made map[int]hostile) [][]*ast.Term {
	params := b.Decl.FuncArgs().Args
	room := maxValueSize / textSize / max(1, len(params)) * 9 / 10
	values, ok := made[room]
	if !ok {
		values = newHostile(room)
		made[room] = values
	}
	var all [][]*ast.Term
	for i := range hostileKinds {
		together := make([]*ast.Term, len(params))
		for place, param := range params {
			together[place] = values.of(param, i)
			alone := make([]*ast.Term, len(params))
			for other, param := range params {
				alone[other] = smallValue(param)
			}
			alone[place] = values.of(param, i)
			all = append(all, alone)
		}
		all = append(all, together)
	}
	return all
}

const hostileKinds = 12

// hostile holds hostileKinds values of each type.
type hostile struct{ texts, numbers, others []*ast.Term }

func (h hostile) of(t types.Type, kind int) *ast.Term {
	switch t.(type) {
	case types.String:
		return h.texts[kind]
	case types.Number:
		return h.numbers[kind]
	default:
		return h.others[kind]
	}
}

func newHostile(room int) hostile {
	fill := func(s string) *ast.Term { return ast.StringTerm(strings.Repeat(s, room/len(s))) }
	texts := []*ast.Term{
		fill("a"), fill("%1000d"), fill("%[1]s"), fill("(a*)*"), fill("a{999}"), fill("[["), fill("$0"), fill("{a,b}"), fill("1."),
		ast.StringTerm("1e999999999"), ast.StringTerm("::/0"), ast.StringTerm(strings.Repeat(`{"a":`, room/6) + "1" + strings.Repeat("}", room/6)),
	}
	numbers := []ast.Number{"1e999999999", "-1e999999999", "1e9999", "1e-9999", ast.Number(strings.Repeat("9", maxDigits)), "9223372036854775807", "-1", "0", "16", "1e308", "1000000", "400000"}
	list, set, object, doubled := make([]*ast.Term, room), ast.NewSet(), ast.NewObject(), ast.ArrayTerm(ast.StringTerm("a"))
	for i := range list {
		list[i] = ast.IntNumberTerm(i)
		if i < room/10 {
			key := ast.StringTerm(fmt.Sprint("k", i))
			set.Add(key)
			object.Insert(key, ast.StringTerm("v"))
		}
	}
	for range 30 {
		doubled = ast.ArrayTerm(doubled, doubled)
	}
	words := set.Slice()
	values := []*ast.Term{
		ast.ArrayTerm(list...), ast.ArrayTerm(words...), ast.NewTerm(set), ast.SetTerm(ast.NewTerm(set), ast.SetTerm(words[0])), ast.NewTerm(object),
		doubled, ast.ArrayTerm(ast.NewTerm(object), ast.NewTerm(object)), ast.ArrayTerm(texts[0], texts[1]), ast.ArrayTerm(ast.NewTerm(numbers[4]), ast.NewTerm(numbers[2])),
		ast.ArrayTerm(ast.ArrayTerm(list...), ast.ArrayTerm(words...)), texts[11], ast.NewTerm(numbers[4]),
	}
	h := hostile{texts: texts, others: values}
	for _, n := range numbers {
		h.numbers = append(h.numbers, ast.NewTerm(n))
	}
	return h
}

func smallValue(t types.Type) *ast.Term {
	switch t.(type) {
	case types.String:
		return ast.StringTerm("a")
	case types.Number:
		return ast.IntNumberTerm(2)
	case *types.Object:
		return ast.ObjectTerm(ast.Item(ast.StringTerm("a"), ast.StringTerm("b")))
	default:
		return ast.ArrayTerm(ast.StringTerm("a"))
	}
}
