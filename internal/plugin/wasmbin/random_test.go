package wasmbin_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
)

// randomModule makes a valid module: a few functions of random instructions that
// call each other, directly and through a table, with blocks that take and give
// values. Its export run takes fuel, of which every loop and every call uses one unit, and traps
// when the fuel is used up.
func randomModule(seed uint64) []byte {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0)), functions: 6, heavy: seed%10 == 0}
	bodies := make([]string, g.functions)
	for i := range bodies {
		bodies[i] = g.function()
	}
	run := "\x20\x00\x24\x00\x20\x00\x10\x01" // run sets the fuel, and calls the first one
	indexes := make([]string, g.functions)
	for i := range indexes {
		indexes[i] = number(uint64(i + 1))
	}
	imports := section(2, vector(sized("wasi_snapshot_preview1")+sized("sched_yield")+"\x00\x01"))
	globals := section(6, vector("\x7f\x01\x41\x00\x0b", "\x7f\x01\x41\x07\x0b", "\x7e\x01\x42\x03\x0b"))
	exports := section(7, vector(sized("run")+"\x00"+number(uint64(g.functions+1)), sized("memory")+"\x02\x00",
		sized("a")+"\x03\x01", sized("b")+"\x03\x02", sized("first")+"\x00\x01"))
	elements := section(9, vector("\x00\x41\x00\x0b"+vector(indexes...), "\x04\x41\x06\x0b"+vector("\xd2\x02\x0b", "\xd0\x70\x0b"), "\x02\x00\x41\x00\x0b\x00"+vector(indexes[:2]...)))
	return wasm(section(1, vector("\x60\x00\x00", "\x60\x00\x01\x7f", "\x60\x01\x7f\x01\x7f", "\x60\x02\x7f\x7f\x02\x7f\x7f")), imports,
		functions(fmt.Sprint(strings.Repeat("\x02", g.functions), "\x02")), section(4, vector("\x70\x00\x08")), section(5, "\x01\x01\x01\x03"),
		globals, exports, elements, section(12, "\x02"), code(append(bodies, body("\x00", run))...),
		section(11, vector("\x00\x41\x08\x0b"+sized("active"), "\x01"+sized("passive"))))
}

type generator struct {
	r         *rand.Rand
	functions int
	depth     int
	size      int
	// heavy has functions pay on their way.
	heavy bool
	// labels are the open blocks, innermost last, by how many i32 a branch takes.
	labels []int
}

const burn = "\x23\x00\x45\x04\x40\x00\x0b\x23\x00\x41\x01\x6b\x24\x00"

func (g *generator) pick(all ...string) string { return all[g.r.IntN(len(all))] }

// function is i32 -> i32 with three locals of i32 beside its parameter.
func (g *generator) function() string {
	g.size, g.depth, g.labels = 120, 0, []int{1}
	locals := "\x02" + "\x03\x7f" + "\x00\x7e"
	filler := ""
	if g.r.IntN(4) == 0 {
		filler = strings.Repeat("\x01", 300) // so that it is metered, even if it calls nothing
	}
	return body(locals, burn+filler+g.statements()+g.value())
}

func (g *generator) statements() string {
	all := ""
	for range g.r.IntN(4) + 1 {
		all += g.statement()
	}
	return all
}

// value leaves one i32.
func (g *generator) value() string {
	g.size--
	if g.size < 0 || g.depth > 12 {
		return g.pick("\x41\x01", "\x20\x00", "\x23\x01")
	}
	g.depth++
	defer func() { g.depth-- }()
	local := number(uint64(g.r.IntN(4)))
	switch g.r.IntN(17) {
	case 0:
		return "\x41" + g.pick("\x00", "\x05", "\x7f", "\x80\x80\x04", "\xff\xff\xff\xff\x07", "\x81\x80\x80\x80\x00")
	case 1:
		return "\x20" + local
	case 2:
		return g.value() + "\x22" + local
	case 3:
		return "\x23" + g.pick("\x01", "\x81\x00")
	case 4:
		return g.value() + g.value() + g.pick("\x6a", "\x6b", "\x6c", "\x6d", "\x70", "\x71", "\x73", "\x74", "\x46", "\x48")
	case 5:
		return g.value() + "\x41\xff\x07\x71" + "\x28\x02" + g.pick("\x00", "\x10", "\x90\x80\x00")
	case 6:
		return g.value() + g.value() + g.value() + "\x1b"
	case 7:
		return g.value() + "\x10" + number(uint64(1+g.r.IntN(g.functions)))
	case 8:
		return g.value() + g.value() + "\x41\x07\x71" + "\x11\x02\x00"
	case 9:
		return "\x02\x7f" + g.within(1, func() string { return g.statements() + g.value() }) + "\x0b"
	case 10:
		return g.value() + "\x04\x7f" + g.within(1, g.value) + "\x05" + g.within(1, func() string { return g.statements() + g.value() }) + "\x0b"
	case 11:
		return g.value() + "\x03\x02" + g.within(1, func() string { return burn + "\x1a" + g.statements() + g.value() }) + "\x0b"
	case 12:
		return g.value() + g.value() + "\x02\x03" + g.within(2, func() string { return g.pick("\x6a"+"\x41\x02", "") }) + "\x0b" + "\x73"
	case 13:
		return "\x41" + g.pick("\x00", "\x01") + "\x40\x00"
	case 14:
		return "\x3f\x00"
	case 15:
		return g.pick("\x10\x00", "\x10\x80\x00")
	default:
		return g.value() + "\xac\x23\x02\x7c\xa7"
	}
}

// statement leaves nothing.
func (g *generator) statement() string {
	g.size--
	if g.size < 0 || g.depth > 12 {
		return "\x01"
	}
	g.depth++
	defer func() { g.depth-- }()
	local := number(uint64(g.r.IntN(4)))
	switch g.r.IntN(15) {
	case 0:
		return g.value() + "\x21" + local
	case 1:
		return g.value() + "\x24\x01"
	case 2:
		return g.value() + "\xac\x24\x02"
	case 3:
		return g.value() + "\x41\xff\x07\x71" + g.value() + "\x36\x02\x00"
	case 4:
		return "\x02\x40" + g.within(0, g.statements) + "\x0b"
	case 5:
		return "\x03\x40" + g.within(0, func() string { return burn + g.statements() + g.value() + "\x0d\x00" }) + "\x0b"
	case 6:
		return g.value() + "\x04\x40" + g.within(0, g.statements) + g.pick("", "\x05"+g.within(0, g.statements)) + "\x0b"
	case 7, 8:
		to := g.r.IntN(len(g.labels))
		values := strings.Repeat("\x41\x03", g.labels[len(g.labels)-1-to])
		drops := strings.Repeat("\x1a", g.labels[len(g.labels)-1-to])
		return values + g.value() + "\x0d" + number(uint64(to)) + drops
	case 9: // a branch, and dead code behind it
		to := g.r.IntN(len(g.labels))
		values := strings.Repeat("\x41\x04", g.labels[len(g.labels)-1-to])
		return "\x02\x40" + g.within(0, func() string {
			return g.pick("\x00", strings.Repeat("\x41\x04", g.labelled(to+1))+"\x0c"+number(uint64(to+1))) +
				g.pick("", "\x1a", "\x6a\x1a", "\x02\x40\x0b", "\x03\x40\x0b", "\x10\x01\x1a", "\x0d\x00", "\x45\x04\x40\x05\x0b")
		}) + "\x0b" + values + strings.Repeat("\x1a", len(values)/2)
	case 10:
		return "\x02\x40\x02\x40\x02\x40" + g.withinN(3, g.value) + "\x0e\x02\x00\x01\x02\x0b" + g.withinN(2, g.statements) + "\x0b" + g.withinN(1, g.statements) + "\x0b"
	case 11: // within the first page
		return g.value() + "\x41\xff\x07\x71" + g.value() + g.value() + "\x41\xff\x07\x71" + "\xfc\x0b\x00"
	case 12:
		return g.value() + "\x41\xff\x07\x71" + g.value() + "\x41\xff\x07\x71" + g.value() + "\x41\xff\x07\x71" + "\xfc\x0a\x00\x00"
	case 13:
		return g.pick("\x41\x00\x41\x00\x41\x03\xfc\x08\x01\x00", "\x41\x00\x41\x01\x41\x02\xfc\x0e\x00\x00", "\xfc\x09\x01", "\x41\x06\x41\x00\x41\x00\xfc\x0c\x01\x00", "\xfc\x0d\x02")
	default:
		if g.heavy && g.r.IntN(8) == 0 {
			return g.value() + "\x04\x40" + g.within(0, func() string { return "\x0c\x00" + strings.Repeat("\x41\x00\x10\x01\x1a", 4_200) }) + "\x0b"
		}
		return g.value() + "\x1a"
	}
}

// labelled is how many values a branch to a label takes, within one more block.
func (g *generator) labelled(to int) int { return g.labels[len(g.labels)-1-to] }

func (g *generator) within(values int, make func() string) string {
	g.labels = append(g.labels, values)
	defer func() { g.labels = g.labels[:len(g.labels)-1] }()
	return make()
}

func (g *generator) withinN(n int, make func() string) string {
	if n == 0 {
		return make()
	}
	return g.within(0, func() string { return g.withinN(n-1, make) })
}

// outcome is all that can be seen of a run.
func outcome(guest api.Module, fuel uint64) string {
	result, err := guest.ExportedFunction("run").Call(context.Background(), fuel)
	h := fnv.New64a()
	data, _ := guest.Memory().Read(0, guest.Memory().Size())
	_, _ = h.Write(data)
	trap := ""
	if err != nil {
		trap, _, _ = strings.Cut(err.Error(), "\n")
	}
	return fmt.Sprint(result, trap, len(data), h.Sum64(), guest.ExportedGlobal("a").Get(), guest.ExportedGlobal("b").Get())
}

// TestRandomModulesDoTheSame runs random modules in every way.
func TestRandomModulesDoTheSame(t *testing.T) {
	seeds := exhaustive.Count(uint64(60), 600)
	var hosts []*host
	for _, w := range ways() {
		hosts = append(hosts, newHost(t, w))
	}
	valid, returned := 0, 0
	for seed := range seeds {
		module := randomModule(seed)
		var want string
		for i, h := range hosts {
			guest, err := h.load(module)
			if err != nil {
				if i > 0 && want != "" {
					t.Fatalf("seed %d: %s: %v", seed, h.way, err)
				}
				t.Fatalf("seed %d: the module is invalid: %v", seed, err)
			}
			got := outcome(guest, 300)
			if i == 0 {
				want = got
				valid++
				if got[1] != ']' {
					returned++
				}
			}
			if got != want {
				t.Fatalf("seed %d: %s: %s, want %s", seed, h.way, got, want)
			}
			_ = guest.Close(t.Context())
		}
	}
	t.Logf("%d modules, of which %d return", valid, returned)
	if returned < valid/10 {
		t.Errorf("only %d of %d modules return", returned, valid)
	}
}
