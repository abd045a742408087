package routing

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/builtins"
)

// The limits on the values of a decision. Cancellation is checked only between calls of
// built-in functions, so one call must be too small to fill the memory.
const (
	// maxValueSize bounds the arguments of one call together, and its result: each
	// element counts 1, and each byte of text textSize.
	maxValueSize = 512 << 10
	// maxResultsSize bounds the results of all calls in one decision.
	maxResultsSize = 16 << 20
	// textSize is the size of a byte of text. Text operations take more time and memory
	// per byte than others per element.
	textSize = 8
	// maxDigits bounds the digits of a number written without an exponent.
	maxDigits = 10_000
)

// limitedPrefix marks the built-ins that are called through limited. With it, no part of a
// name is a keyword, which a reference would put in brackets.
const limitedPrefix = "limited.call_"

// builtinOf returns the built-in called in a compiled module, or nil.
func builtinOf(operator ast.Ref) *ast.Builtin {
	return ast.BuiltinMap[strings.TrimPrefix(operator.String(), limitedPrefix)]
}

// isLimited reports whether b is called through limited. Other built-ins compare values or
// return parts of one.
func isLimited(b *ast.Builtin) bool {
	switch b.Name {
	case ast.Equality.Name, ast.Assign.Name, ast.Equal.Name, ast.NotEqual.Name,
		ast.LessThan.Name, ast.LessThanEq.Name, ast.GreaterThan.Name, ast.GreaterThanEq.Name,
		ast.Member.Name, ast.MemberWithKey.Name, ast.WalkBuiltin.Name:
		return false
	default:
		return true
	}
}

// declareLimited adds the limited built-ins of list to it, with their prefixed names.
func declareLimited(list []*ast.Builtin) []*ast.Builtin {
	for _, b := range list {
		if isLimited(b) {
			list = append(list, &ast.Builtin{Name: limitedPrefix + b.Name, Decl: b.Decl})
		}
	}
	return list
}

// callLimited rewrites compiled modules to call the limited built-ins.
func callLimited(modules map[string]*ast.Module) {
	rename := func(t *ast.Term) {
		ref, ok := t.Value.(ast.Ref)
		if !ok {
			return
		}
		if b := ast.BuiltinMap[ref.String()]; b != nil && isLimited(b) {
			t.Value = ast.MustParseRef(limitedPrefix + b.Name)
		}
	}
	for _, mod := range modules {
		ast.WalkExprs(mod, func(expr *ast.Expr) bool {
			if expr.IsCall() {
				terms := expr.Terms.([]*ast.Term)
				terms[0] = ast.NewTerm(terms[0].Value)
				rename(terms[0])
			}
			for _, with := range expr.With {
				rename(with.Target)
				rename(with.Value)
			}
			return false
		})
	}
}

// limitedFunctions declares the limited built-ins that compiled modules call.
func limitedFunctions(compiler *ast.Compiler) []func(*rego.Rego) {
	var declarations []func(*rego.Rego)
	for _, b := range compiler.Capabilities().Builtins {
		name, ok := strings.CutPrefix(b.Name, limitedPrefix)
		if !ok {
			continue
		}
		call := limited(name)
		declarations = append(declarations, rego.FunctionDyn(
			&rego.Function{Name: b.Name, Decl: b.Decl},
			func(bctx rego.BuiltinContext, args []*ast.Term) (*ast.Term, error) {
				var result *ast.Term
				err := call(bctx, args, func(t *ast.Term) error {
					result = t
					return nil
				})
				return result, err
			}))
	}
	return declarations
}

// resultsSize is the key of the total size of results in the cache of a decision.
type resultsSize struct{}

// limited wraps a built-in with the limits. Its error is a built-in error for every
// caller.
func limited(name string) topdown.BuiltinFunc {
	call := topdown.GetBuiltin(name)
	arity := ast.BuiltinMap[name].Decl.Arity()
	return func(bctx topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) error {
		fail := func(problem string) error {
			return &topdown.Error{Code: topdown.BuiltinErr, Location: bctx.Location, Message: name + ": " + problem}
		}
		refuse := func(what, limit string) error { return fail(what + " more than " + limit) }
		args := operands[:arity] // the interpreter adds the variable for the result
		given := 0
		for _, arg := range args {
			given += size(arg.Value, maxValueSize-given)
		}
		switch {
		case given > maxValueSize:
			return refuse("its arguments have", sizeWords(maxValueSize))
		case estimate(name, args) > maxValueSize:
			return refuse("its result can have", sizeWords(maxValueSize))
		case name == ast.Sprintf.Name && printsMemory(args[0].Value):
			return fail("the verbs p and w are not allowed, because what they print of a number can change from one run to the next")
		}
		return call(bctx, operands, func(result *ast.Term) error {
			made := size(result.Value, maxValueSize)
			if made > maxValueSize {
				return refuse("its result has", sizeWords(maxValueSize))
			}
			before, _ := bctx.Cache.Get(resultsSize{})
			total, _ := before.(int)
			if total += made; total > maxResultsSize {
				return refuse("together, the results of all built-in functions have", sizeWords(maxResultsSize))
			}
			bctx.Cache.Put(resultsSize{}, total)
			return iter(result)
		})
	}
}

// sizeWords formats a limit for messages.
func sizeWords(limit int) string {
	return fmt.Sprintf("%d elements or %d KiB of text", limit, limit/textSize>>10)
}

// size returns the size of v, or a number above limit. A part that occurs several times in v
// counts each time.
func size(v ast.Value, limit int) int {
	n := 1
	add := func(t *ast.Term) bool {
		n += size(t.Value, limit-n)
		return n > limit
	}
	if n > limit {
		return n
	}
	switch v := v.(type) {
	case ast.String:
		n += len(v) * textSize
	case ast.Number:
		n += digits(v) * textSize
	case *ast.Array:
		v.Until(add)
	case ast.Set:
		v.Until(add)
	case ast.Object:
		v.Until(func(key, value *ast.Term) bool { return add(key) || add(value) })
	}
	return n
}

// estimate returns how large the result of a built-in can be in addition to its
// arguments, or 0 if it is at most a small multiple of them. It ignores an argument of
// the wrong type: the built-in rejects it.
func estimate(name string, args []*ast.Term) int {
	switch name {
	case "concat":
		separator, _ := args[0].Value.(ast.String)
		if parts, ok := args[1].Value.(interface{ Len() int }); ok {
			return len(separator) * parts.Len() * textSize
		}
	case "sprintf":
		format, _ := args[0].Value.(ast.String)
		return formatted(string(format), args[1].Value)
	case "numbers.range", "numbers.range_step":
		return rangeLength(args)
	}
	return 0
}

// digits returns the additional size of a number: its digits when written without an
// exponent, or too large. Arithmetic takes time quadratic in the digits.
func digits(n ast.Number) int {
	count := len(n)
	if i := strings.IndexAny(string(n), "eE"); i >= 0 {
		exponent, err := strconv.Atoi(string(n[i+1:]))
		if err != nil || exponent > maxDigits || exponent < -maxDigits {
			return maxValueSize
		}
		count += max(exponent, -exponent)
	}
	switch {
	case count <= 20: // included in the size of the element
		return 0
	case count > maxDigits:
		return maxValueSize
	}
	return count
}

// formatted is the estimate for sprintf: each verb can print any of the arguments, quoted
// and escaped, as wide as the format says, or as an argument says if the format has *.
func formatted(format string, args ast.Value) int {
	const escaped = len(`\U0010ffff`)
	list, _ := args.(*ast.Array)
	if list == nil {
		return 0
	}
	largest, width := 0, 0
	list.Foreach(func(t *ast.Term) {
		largest = max(largest, size(t.Value, maxValueSize))
		if n, ok := t.Value.(ast.Number); ok && strings.Contains(format, "*") {
			i, _ := n.Int()
			width = max(width, min(max(i, -i), maxValueSize))
		}
	})
	for number := range strings.FieldsFuncSeq(format, func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.Atoi(number)
		if err != nil {
			n = maxValueSize
		}
		width = max(width, min(n, maxValueSize))
	}
	return strings.Count(format, "%") * min(largest*escaped+2*width*textSize, maxValueSize+1)
}

// printsMemory reports whether a format has one of the verbs that print where and how a
// number is stored: OPA gives fmt a pointer for an integer above 64 bits.
func printsMemory(format ast.Value) bool {
	text, _ := format.(ast.String)
	rest := string(text)
	for {
		var found bool
		if _, rest, found = strings.Cut(rest, "%"); !found {
			return false
		}
		rest = strings.TrimLeft(rest, "+-# 0123456789.*[]")
		if strings.HasPrefix(rest, "p") || strings.HasPrefix(rest, "w") {
			return true
		}
		rest = strings.TrimPrefix(rest, "%")
	}
}

// rangeLength returns how many numbers a range has.
func rangeLength(args []*ast.Term) int {
	operands := make([]*big.Int, len(args))
	for i, arg := range args {
		n, err := builtins.BigIntOperand(arg.Value, i+1)
		if err != nil {
			return 0
		}
		operands[i] = n
	}
	n := new(big.Int).Sub(operands[1], operands[0])
	n.Abs(n)
	if len(operands) == 3 && operands[2].Sign() > 0 {
		n.Quo(n, operands[2])
	}
	if !n.IsInt64() || n.Int64() > maxValueSize {
		return maxValueSize + 1
	}
	return int(n.Int64()) + 1
}
