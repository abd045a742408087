package wasmbin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// costlyModule is a module of a few kilobytes that would keep the compiler busy for
// minutes, or take all memory: n of something, in one function or more.
type costlyModule struct {
	name string
	n    int
	make func(n int) []byte
}

func costlyModules() []costlyModule {
	const get, drop, brIf = "\x20\x00", "\x1a", "\x0d\x00\x0b" // and the end of the block
	times := strings.Repeat
	each := func(n int, instructions string) string { // $ stands for the number of a local variable
		var all strings.Builder
		for i := range n {
			all.WriteString(strings.ReplaceAll(instructions, "$", number(uint64(i))))
		}
		return all.String()
	}
	// many is so many functions with so many local variables.
	many := func(n, locals int, instructions string) []byte {
		bodies := make([]string, n)
		one := body(vector(number(uint64(locals))+"\x7f"), instructions)
		for i := range bodies {
			bodies[i] = one
		}
		return wasm(types, functions(times("\x00", n)), section(4, vector("\x70\x00\x01")), memory, code(bodies...))
	}
	values := func(n int) string { return number(uint64(n)) + times("\x7f", n) }
	mutable := func(n int) string { return section(6, number(uint64(n))+times("\x7f\x01\x41\x00\x0b", n)) }
	return []costlyModule{
		{"nested loops", 10_000, func(n int) []byte { return many(1, 1, times("\x03\x40", n)+times(get+brIf, n)) }},
		{"nested ifs", 10_000, func(n int) []byte { return many(1, 1, times(get+"\x04\x40", n)+times("\x0b", n)) }},
		{"nested blocks", 20_000, func(n int) []byte { return many(1, 1, times("\x02\x40", n)+times(get+brIf, n)) }},
		{"loops and locals", 1_000, func(n int) []byte {
			return many(1, n, each(n, "\x41\x00\x21$")+times("\x03\x40", n)+each(n, "\x20$\x41\x01\x6a\x21$")+times("\x41\x00"+brIf, n))
		}},
		{"ifs and locals", 6_000, func(n int) []byte {
			return many(1, n, each(n, "\x20$\x04\x40\x41\x05\x21$\x0b")+each(n, "\x20$\x1a"))
		}},
		{"branches of a table", 400_000, func(n int) []byte {
			return many(1, 1, "\x02\x40"+get+"\x0e"+number(uint64(n))+times("\x00", n+1)+"\x0b")
		}},
		{"addresses and blocks", 10_000, func(n int) []byte {
			return many(1, 1, times(get+"\x28\x02\x00\x22\x00\x28\x02\x00\x1a", n)+times("\x02\x40"+get+brIf, n))
		}},
		{"stores", 1_000_000, func(n int) []byte { return many(1, 1, times("\x41\x00\x41\x00\x36\x02\x00", n)) }},
		{"fills", 10_000, func(n int) []byte { return many(1, 1, times("\x41\x00\x41\x00\x41\x00\xfc\x0b\x00", n)) }},
		{"calls", 1_000_000, func(n int) []byte { return many(1, 1, times("\x10\x00", n)) }},
		{"indirect calls", 200_000, func(n int) []byte { return many(1, 1, times("\x41\x00\x11\x00\x00", n)) }},
		{"results", 5_000, func(n int) []byte {
			return wasm(section(1, vector("\x60\x00\x00", "\x60\x00"+values(1_000))), functions("\x00\x01"),
				code(body("\x00", times("\x10\x01"+times(drop, 1_000), n)), body("\x00", times("\x41\x00", 1_000))))
		}},
		{"loops that take values", 3_000, func(n int) []byte {
			return wasm(section(1, vector("\x60\x00\x00", "\x60"+values(500)+values(500))), functions("\x00"),
				code(body("\x00", times("\x41\x00", 500)+times("\x03\x01\x0b", n)+times(drop, 500))))
		}},
		{"dead blocks that take values", 100_000, func(n int) []byte {
			return wasm(section(1, vector("\x60\x00\x00", "\x60"+values(500)+"\x00")), functions("\x00"), code(body("\x00", "\x00"+times("\x02\x01\x0b", n))))
		}},
		{"calls and globals", 3_000, func(n int) []byte {
			return wasm(types, functions("\x00"), mutable(n), code(body("\x00", times("\x10\x00", n))))
		}},
		{"functions and globals", 99_999, func(n int) []byte {
			return wasm(types, functions(times("\x00", n)), mutable(9_999), section(10, number(uint64(n))+times(body("\x00", ""), n)))
		}},
		{"functions and locals", 20_000, func(n int) []byte { return many(n, 9_999, "") }},
		{"functions with loops", 5_000, func(n int) []byte { return many(n, 1, times("\x03\x40\x0b", 500)) }},
		{"functions with stores", 2_000, func(n int) []byte { return many(n, 1, times("\x41\x00\x41\x00\x36\x02\x00", 1_000)) }},
		{"functions with loops and locals", 200, func(n int) []byte {
			return many(n, 200, times("\x03\x40", 200)+each(200, "\x20$\x41\x01\x6a\x21$")+times("\x41\x00"+brIf, 200))
		}},
	}
}

func TestCompileBombs(t *testing.T) {
	for _, b := range costlyModules() {
		module := b.make(b.n)
		if _, err := wasmbin.Meter(module); err == nil || !strings.Contains(err.Error(), "takes too long to compile") {
			t.Errorf("%s, %d bytes: got %v", b.name, len(module), err)
		}
	}
}

// BenchmarkHeaviest compiles the largest module of each kind that the meter accepts. Run one in a
// separate process to measure its memory. The weights of the compile cost follow from these
// figures.
func BenchmarkHeaviest(b *testing.B) {
	for _, hostile := range costlyModules() {
		b.Run(hostile.name, func(b *testing.B) {
			least, most := 0, hostile.n
			for most-least > 1+hostile.n/100 {
				if n := (least + most) / 2; accepted(hostile.make(n)) {
					least = n
				} else {
					most = n
				}
			}
			module := hostile.make(least)
			h := newHost(b, way{metered: true})
			b.ReportMetric(float64(len(module)), "B")
			for b.Loop() {
				compiled, err := h.compile(module)
				if err != nil {
					b.Fatal(fmt.Errorf("%d of it: %w", least, err))
				}
				_ = compiled.Close(b.Context())
			}
		})
	}
}

func accepted(module []byte) bool {
	_, err := wasmbin.Meter(module)
	return err == nil
}
