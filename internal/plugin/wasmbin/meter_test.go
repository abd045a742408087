package wasmbin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

func TestLimits(t *testing.T) {
	const funcref, i32 = "\x70", "\x7f"
	one := types + functions("\x00")
	table := func(limits ...string) []byte { return wasm(section(4, vector(limits...))) }
	locals := func(groups ...string) []byte { return wasm(one, code(body(vector(groups...), ""))) }
	for name, c := range map[string]struct {
		module []byte
		says   string // "" where it is accepted
	}{
		"nothing":               {wasm(), ""},
		"a few functions":       {wasm(types, functions("\x00\x00"), code(body("\x00", ""), body("\x00", ""))), ""},
		"a million functions":   {wasm(types, section(3, number(1_000_000))), "1000000 functions"},
		"a million types":       {wasm(section(1, number(1_000_000))), "1000000 types"},
		"a million imports":     {wasm(section(2, number(1_000_000))), "1000000 imports"},
		"four billion globals":  {wasm(section(6, number(1<<32-1))), "4294967295 globals"},
		"a million exports":     {wasm(section(7, number(1_000_000))), "1000000 exports"},
		"a million elements":    {wasm(section(9, number(1_000_000))), "1000000 element segments"},
		"a million data":        {wasm(section(11, number(1_000_000))), "1000000 data segments"},
		"a table":               {table(funcref + "\x00" + number(10)), ""},
		"a table with a limit":  {table(funcref + "\x01" + number(10) + number(1<<31)), ""},
		"a huge table":          {table(funcref + "\x00" + number(60_000_000)), "60000000 table elements"},
		"tables that add up":    {table(funcref+"\x01"+number(600_000)+number(600_000), funcref+"\x00"+number(600_000)), "1200000 table elements"},
		"some locals":           {locals(number(100) + i32), ""},
		"four billion locals":   {locals(number(1<<32-1) + i32), "4294967295 local variables"},
		"locals in many groups": {locals(number(9_000)+i32, number(1_001)+i32), "10001 local variables"},
		"locals that overflow":  {locals(number(1<<32-1)+i32, number(1<<32-1)+i32, number(2)+i32), "8589934592 local variables"},
		"2,000 parameters":      {wasm(section(1, vector("\x60"+number(2000)+strings.Repeat(i32, 2000)+"\x00"))), "2000 parameters and results"},
	} {
		_, err := wasmbin.Meter(c.module)
		e, _ := errors.AsType[*wasmbin.Error](err)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says != "" && (e == nil || e.Limit == 0 || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: got %v, want a limit that says %q", name, err, c.says)
		}
	}
}

// TestRefuses has modules that are invalid, and would be valid in the copy, or
// that wazero reads otherwise than the standard has it.
func TestRefuses(t *testing.T) {
	const loop = "\x03\x40\x0c\x00\x0b"
	max := number(1<<32 - 1)
	one := types + functions("\x00")
	nop := code(body("\x00", ""))
	run := func(locals, instructions string) []byte { return wasm(one, memory, code(body(locals, instructions))) }
	for name, module := range map[string][]byte{
		"another header":                       []byte("\x00as"),
		"sections in another order":            wasm(memory, types),
		"a section twice":                      wasm(types, types),
		"a section of tags":                    wasm(types, section(13, "\x00")),
		"a custom section without a name":      wasm("\x00\x01\x05"),
		"a custom section of bad text":         wasm(section(0, sized("\xff"))),
		"a section cut short":                  wasm("\x01\x20\x01"),
		"more in a section than there is":      wasm(section(3, "\x00\x00")),
		"fewer bodies than functions":          wasm(one, code()),
		"no type of the type":                  wasm(section(1, vector("\x5e\x00\x00"))),
		"a type beyond all":                    wasm(types, functions("\x03"), nop),
		"an import of a type beyond all":       wasm(types, section(2, vector(sized("a")+sized("b")+"\x00\x03"))),
		"an import of shared memory":           wasm(section(2, vector(sized("a")+sized("b")+"\x02\x03\x01\x01"))),
		"a table with an initializer":          wasm(types, section(4, vector("\x40\x00\x70\x00\x01\xd0\x70\x0b"))),
		"an export beyond all":                 wasm(one, export("x", 1), nop),
		"the last export of all":               wasm(one, section(7, vector(sized("x")+"\x00"+max)), nop),
		"an export of the count":               wasm(one, section(7, vector(sized("x")+"\x03\x00")), nop),
		"a start function beyond all":          wasm(one, section(8, max), nop),
		"an element beyond all":                wasm(one, section(4, vector("\x70\x00\x01")), section(9, vector("\x00\x41\x00\x0b"+vector(max))), nop),
		"elements of another kind":             wasm(one, section(4, vector("\x70\x00\x01")), section(9, vector("\x01\x63"+vector("\x00"))), nop),
		"elements that are passive":            wasm(one, section(4, vector("\x70\x00\x01")), section(9, vector("\x01\x00"+vector("\x00"))), nop),
		"elements that are declarative":        wasm(one, section(9, vector("\x03\x00"+vector("\x00"))), nop),
		"a place that is nothing":              wasm(memory, section(11, vector("\x00\x0b\x00"))),
		"a place that is two":                  wasm(memory, section(11, vector("\x00\x41\x00\x41\x00\x0b\x00"))),
		"a global that is the count's":         wasm(section(6, vector("\x7f\x00\x23\x01\x0b"))),
		"a place for data that is the count's": wasm(memory, section(11, vector("\x00\x23\x00\x0b\x00"))),
		"the count read":                       run("\x00", "\x23\x00\x1a"),
		"the count written":                    run("\x00", "\x41\x00\x24\x00"),
		"a local beyond all":                   run("\x00", "\x20\x00\x1a"),
		"a call beyond all":                    run("\x00", "\x10\x01"),
		"the last call of all":                 run("\x00", "\x10"+max),
		"a block of tick's type":               run("\x00", "\x02\x03\x41\x00\x0b\x1a"),
		"an indirect call of tick's type":      run("\x00", "\x41\x00\x11\x03\x00\x1a"),
		"a branch beyond all":                  run("\x00", "\x0c\x01"),
		"an else of nothing":                   wasm(one, code(sized("\x00\x0b\x05"))),
		"a loop behind a padded v128.const":    run("\x00", "\x02\x40\x0c\x00\xfd\x8c\x00"+"\x0b"+loop+"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"),
		"a padded memory.fill":                 run("\x00", "\x41\x00\x41\x00\x41\x00\xfc\x8b\x00\x00"),
		"a longer type of a local":             run("\x01\x01\x63\x70", ""),
		"a longer type of a block":             run("\x00", "\x02\x63\x70\xd0\x70\x0b\x1a"),
		"a longer type of a null":              run("\x00", "\xd0\xf0\x7f\x1a"),
		"a longer type of a select":            run("\x00", "\x41\x00\x41\x00\x41\x00\x1c\x01\x63\x70\x1a"),
		"another memory":                       run("\x00", "\x3f\x01\x1a"),
		"a tail call":                          run("\x00", "\x12\x00"),
		"an exception":                         run("\x00", "\x08\x00"),
		"a thread":                             run("\x00", "\xfe\x03\x00"),
		"a number of six bytes":                run("\x00", "\x41\x80\x80\x80\x80\x80\x00\x1a"),
		"no end":                               wasm(one, code(sized("\x00\x01"))),
		"something behind the end":             run("\x00", "\x0b\x0b"),
	} {
		_, err := wasmbin.Meter(module)
		if e, ok := errors.AsType[*wasmbin.Error](err); !ok || e.Limit != 0 {
			t.Errorf("%s: got %v, want malformed", name, err)
		}
	}
}

var errTime = errors.New("out of time")

// TestTicks has functions that do much between two looks at the clock, if anything
// can.
func TestTicks(t *testing.T) {
	times := strings.Repeat
	leaf := times("\x10\x00", 1000) // a thousand calls
	over := "\x02\x40" + times("\x10\x00", 2900) + "\x0c\x00" + times("\x10\x00", 2000) + "\x0b"
	branch := "\x41\x00\x04\x40" + times("\x10\x00", 1500) + "\x05"
	random := "\x41\x00\x41\x00\x10\x00\x1a"
	for _, c := range []struct {
		name     string
		imports  string
		run      string
		least    int // ticks
		indirect bool
	}{
		{"a long way", "", times(leaf, 100), 5, false},
		{"jumps over payments", "", times(over, 50), 8, false},
		{"the other ways of ifs", "", times(branch+times("\x10\x00", 3000), 40) + times("\x0b", 40), 7, false},
		{"a function of the host", "random_get", times(random, 100), 100, false},
		{"a function of the host in a table", "random_get", times("\x41\x00\x41\x00\x41\x00\x11\x01\x00\x1a", 100), 100, true},
		{"growing memory", "", times("\x41\x00\x40\x00\x1a", 100), 100, false},
		{"filling memory", "", times("\x41\x00\x41\x00\x41\x80\x80\xc0\x00\xfc\x0b\x00", 128), 7, false}, // 1 MiB
		{"copying a table", "", times("\x41\x00\x41\x00\x41\x01\xfc\x0e\x00\x00", 100), 100, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			twoInts := "\x60\x02\x7f\x7f\x01\x7f"
			sections := section(1, vector("\x60\x00\x00", twoInts))
			first := byte(1) // the function that runs
			if c.imports != "" {
				sections += section(2, vector(sized("wasi_snapshot_preview1")+sized(c.imports)+"\x00\x01"))
				sections += functions("\x00")
			} else {
				sections += functions("\x00\x00")
			}
			if c.indirect {
				sections += section(4, vector("\x70\x00\x01"))
			}
			sections += section(5, "\x01\x00\x10") + export("run", first)
			if c.indirect {
				sections += section(9, vector("\x00\x41\x00\x0b"+vector("\x00")))
			}
			if c.imports != "" {
				sections += code(body("\x00", c.run))
			} else {
				sections += code(body("\x00", ""), body("\x00", c.run))
			}
			for _, interpret := range []bool{false, true} {
				h := newHost(t, way{metered: true, interpret: interpret, quantum: wasmbin.Quantum})
				guest, err := h.load(wasm(sections))
				if err != nil {
					t.Fatal(err)
				}
				h.ticks = 0
				if _, err := guest.ExportedFunction("run").Call(context.Background()); err != nil {
					t.Fatal(err)
				}
				if h.ticks < c.least {
					t.Errorf("%d ticks, want %d", h.ticks, c.least)
				}
				h.fail = errTime
				if _, err := guest.ExportedFunction("run").Call(context.Background()); !errors.Is(err, errTime) {
					t.Errorf("got %v, want %v", err, errTime)
				}
			}
		})
	}
}

func hostiles(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "plugins", "testdata", "hostile", "*.wasm"))
	if err != nil || len(files) == 0 {
		t.Fatal("no hostile guests", err)
	}
	all := make(map[string][]byte)
	for _, file := range files {
		if all[strings.TrimSuffix(filepath.Base(file), ".wasm")], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func FuzzMeter(f *testing.F) {
	for _, module := range hostiles(f) {
		f.Add(module)
	}
	f.Add(randomModule(1))
	plain, metered := newHost(f, way{interpret: true}), newHost(f, way{metered: true, interpret: true})
	f.Fuzz(func(t *testing.T, module []byte) {
		if len(module) > 64<<10 {
			return
		}
		copied, err := wasmbin.Meter(module)
		if err != nil {
			if _, ok := errors.AsType[*wasmbin.Error](err); !ok {
				t.Fatal(err)
			}
			return // Nothing that wazero would run remains.
		}
		first, errPlain := plain.CompileModule(t.Context(), module)
		second, errMetered := metered.CompileModule(t.Context(), copied)
		if errPlain != nil && strings.HasPrefix(errPlain.Error(), "section custom") {
			return // The standard has it that what custom sections hold is no reason to refuse a module.
		}
		if (errPlain == nil) != (errMetered == nil) {
			t.Fatalf("the module: %v; its copy: %v", errPlain, errMetered)
		}
		if errPlain == nil {
			metered.fail = errTime // Whatever it starts with ends soon.
			if guest, err := metered.instantiate(second); err == nil {
				_ = guest.Close(t.Context())
			}
			_ = first.Close(t.Context())
			_ = second.Close(t.Context())
		}
	})
}
