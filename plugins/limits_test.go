package plugins_test

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/plugins"
)

// The parts of a hand-made module.
func wasmNumber(n int) string  { return string(binary.AppendUvarint(nil, uint64(n))) }
func wasmName(s string) string { return wasmNumber(len(s)) + s }
func wasmSection(id byte, parts ...string) string {
	return string(id) + wasmName(strings.Join(parts, ""))
}

// wasmFunction is a function without local variables.
func wasmFunction(code string) string { return wasmName("\x00" + code + "\x0b") }

// abiTypes are the types of the ABI's functions, from 0: the marker, sy_alloc, sy_describe and
// sy_normalize.
const abiTypes = "\x60\x00\x00" + "\x60\x01\x7f\x01\x7f" + "\x60\x00\x01\x7e" + "\x60\x04\x7f\x7f\x7f\x7f\x01\x7e"

// describing is a module that describes itself with a text.
func describing(text string) []byte {
	const page, i64const, i32const = 16, "\x42", "\x41"
	// 16 << 32 | the length, as a signed LEB128.
	packed, at := uint64(page)<<32|uint64(len(text)), ""
	for ; packed >= 0x40; packed >>= 7 {
		at += string([]byte{byte(packed) | 0x80})
	}
	at += string([]byte{byte(packed)})
	return []byte("\x00asm\x01\x00\x00\x00" +
		wasmSection(1, "\x04", abiTypes) +
		wasmSection(3, "\x04\x00\x01\x02\x03") +
		wasmSection(5, "\x01\x00\x20") +
		wasmSection(7, "\x05", wasmName("memory"), "\x02\x00", wasmName("switchyard_abi_v1"), "\x00\x00",
			wasmName("sy_alloc"), "\x00\x01", wasmName("sy_describe"), "\x00\x02", wasmName("sy_normalize"), "\x00\x03") +
		wasmSection(10, "\x04", wasmFunction(""), wasmFunction(i32const+"\x00"), wasmFunction(i64const+at), wasmFunction("\x00")) +
		wasmSection(11, "\x01\x00", i32const+"\x10\x0b", wasmName(text)))
}

// exiting is a module that exits with a status, at most 63, when it is initialized. Its
// sy_describe would use a gigabyte of memory and never end.
func exiting(status byte) []byte {
	const (
		grow = "\x41\x80\x80\x01\x40\x00\x1a" // by 16,384 pages
		spin = "\x03\x40\x0c\x00\x0b"
	)
	return []byte("\x00asm\x01\x00\x00\x00" +
		wasmSection(1, "\x05", abiTypes, "\x60\x01\x7f\x00") +
		wasmSection(2, "\x01", wasmName("wasi_snapshot_preview1"), wasmName("proc_exit"), "\x00\x04") +
		wasmSection(3, "\x05\x00\x01\x02\x03\x00") +
		wasmSection(5, "\x01\x00\x01") +
		wasmSection(7, "\x06", wasmName("memory"), "\x02\x00", wasmName("switchyard_abi_v1"), "\x00\x01",
			wasmName("sy_alloc"), "\x00\x02", wasmName("sy_describe"), "\x00\x03", wasmName("sy_normalize"), "\x00\x04",
			wasmName("_initialize"), "\x00\x05") +
		wasmSection(10, "\x05", wasmFunction(""), wasmFunction("\x41\x00"), wasmFunction(grow+spin+"\x42\x00"), wasmFunction("\x00"),
			wasmFunction("\x41"+string(status)+"\x10\x00")))
}

// TestGuestsDoNotRunOnceTheyExited has a guest exit when it is initialized. wazero would let it
// run on, without the limit of its memory.
func TestGuestsDoNotRunOnceTheyExited(t *testing.T) {
	for _, interpret := range []bool{false, true} {
		r := newRuntime(t, plugins.Config{Limits: abi.Limits{Memory: 1 << 20}, Interpret: interpret})
		if _, err := r.Load(t.Context(), exiting(2)); errs.CodeOf(err) != errs.PluginTrap {
			t.Errorf("interpret %v, status 2: got %v, want %s", interpret, err, errs.PluginTrap)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := r.Load(t.Context(), exiting(0))
		runtime.ReadMemStats(&after)
		if errs.CodeOf(err) != errs.PluginTrap {
			t.Errorf("interpret %v: got %v, want %s", interpret, err, errs.PluginTrap)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 512<<20 {
			t.Errorf("interpret %v: the guest got %d bytes of memory", interpret, used)
		}
	}
}

func TestLoadRefusesADescription(t *testing.T) {
	r := newRuntime(t, plugins.Config{Limits: abi.Limits{Output: 1 << 20}})
	say := func(old, replacement string) string {
		return strings.Replace(`{"name":"liar","version":"1.0.0","critic":"liar","formats":["application/json"],"detect":["/liar"],"items":["/findings/*"]}`,
			old, replacement, 1)
	}
	for _, c := range []struct {
		name, text string
		problem    abi.Problem
	}{
		{"none", say("", ""), ""},
		{"no items", say(`["/findings/*"]`, `[]`), abi.WrongSchema},
		{"items left out", say(`,"items":["/findings/*"]`, ``), abi.WrongSchema},
		{"an item that is no pointer", say(`/findings/*`, `findings`), abi.WrongSchema},
		{"an escape that is none", say(`/findings/*`, `/find~2ings`), abi.WrongSchema},
		{"a thousand pointers", say(`"/findings/*"`, strings.Repeat(`"/a",`, 999)+`"/a"`), abi.WrongSchema},
		{"a pointer of a thousand steps", say(`/findings/*`, strings.Repeat("/*", 1000)), abi.WrongSchema},
		{"no formats", say(`["application/json"]`, `[]`), abi.WrongSchema},
		{"a picture for a report", say(`application/json`, `image/png`), abi.WrongSchema},
		{"no version", say(`1.0.0`, ``), abi.WrongSchema},
		{"a name with a path", say(`"name":"liar"`, `"name":"../liar"`), abi.WrongSchema},
		{"the name of detection", say(`"name":"liar"`, `"name":"auto"`), abi.ReservedName},
		{"the name of a built-in plugin", say(`"name":"liar"`, `"name":"sarif"`), abi.ReservedName},
		{"the audit's own name", say(`"critic":"liar"`, `"critic":"audit"`), abi.WrongSchema},
		{"a key twice", say(`"detect":["/liar"]`, `"detect":[],"detect":[]`), abi.InvalidJSON},
		{"an unknown key", say(`{`, `{"trusted":true,`), abi.WrongSchema},
		{"two values", say(``, `{}`), abi.InvalidJSON},
		{"no text", say(`liar`, "\xff"), abi.InvalidUTF8},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := r.Load(t.Context(), describing(c.text))
			if c.problem == "" && err != nil || c.problem != "" && !errors.Is(err, c.problem) {
				t.Errorf("got %v, want %q", err, c.problem)
			}
		})
	}
}

// TestCompileBombsAreOversized has a module of some kilobytes that would keep the
// compiler busy for a minute.
func TestCompileBombsAreOversized(t *testing.T) {
	const depth = 10_000
	loops := "\x00" + strings.Repeat("\x03\x40", depth) + strings.Repeat("\x0b", depth+1)
	size := string(binary.AppendUvarint(nil, uint64(len(loops))))
	code := "\x01" + size + loops
	module := "\x00asm\x01\x00\x00\x00" + "\x01\x04\x01\x60\x00\x00" + "\x03\x02\x01\x00" +
		"\x0a" + string(binary.AppendUvarint(nil, uint64(len(code)))) + code
	r := newRuntime(t, plugins.Config{})
	_, err := r.Load(t.Context(), []byte(module))
	if errs.CodeOf(err) != errs.PluginABI || !errors.Is(err, abi.Oversized) {
		t.Errorf("got %v, want %s", err, abi.Oversized)
	}
}

// TestHostileGuestsHaveTypedErrors has guests break limits other than the time limit.
func TestHostileGuestsHaveTypedErrors(t *testing.T) {
	for _, how := range []string{"compiled", "interpreted"} {
		r := newRuntime(t, plugins.Config{
			Limits: abi.Limits{Memory: 64 << 20, Time: time.Minute, Output: 1 << 20}, Interpret: how == "interpreted",
		})
		doc := jsonDocument(t, `{"findings":[]}`)
		for _, c := range []struct {
			guest, do string
			code      errs.Code
			problem   abi.Problem
		}{
			{"puppet", "recurse", errs.PluginTrap, ""},
			{"puppet", "trap", errs.PluginTrap, ""},
			{"puppet", "zero divisor", errs.PluginTrap, ""},
			{"puppet", "memory", errs.PluginMemory, ""},
			{"puppet", "huge answer", errs.PluginOutputTooLarge, ""},
			{"puppet", "vast", errs.PluginOutputTooLarge, ""},
			{"puppet", "outside", errs.PluginABI, abi.OutOfRange},
			{"puppet", "nothing", errs.PluginInvalidOutput, abi.InvalidJSON},
			{"storm", "exit", errs.PluginTrap, ""},
			{"exit-at-start", "", errs.PluginTrap, ""},
			{"alloc-null", "", errs.PluginABI, abi.NullPointer},
			{"alloc-outside", "", errs.PluginABI, abi.OutOfRange},
			{"alloc-twice", "", errs.PluginABI, abi.Overlap},
		} {
			t.Run(how+"/"+c.guest+" "+c.do, func(t *testing.T) {
				p, err := r.Load(t.Context(), hostile(t, c.guest))
				if err == nil {
					_, err = p.Normalize(t.Context(), doc, jsontext.Value(`{"do":"`+c.do+`"}`))
				}
				f, ok := errors.AsType[*errs.Error](err)
				if !ok || f.Code != c.code || c.problem != "" && !errors.Is(err, c.problem) {
					t.Fatalf("got %v, want %s %s", err, c.code, c.problem)
				}
				if c.do != "" && f.Details["plugin"] != c.guest+"@1.0.0" {
					t.Errorf("the error does not name the plugin: %v", f.Details)
				}
			})
		}
	}
}

// TestTrapsHaveWhatTheGuestSaid has a guest write to standard error before it stops, as the Go
// runtime does with the reason of a panic.
func TestTrapsHaveWhatTheGuestSaid(t *testing.T) {
	storm := load(t, newRuntime(t, plugins.Config{}), "storm")
	for config, says := range map[string]string{
		`{"do":"say"}`:                                    `the plugin stopped: wasm error: unreachable, after it wrote "{\"do\":\"say\"}{\"do\"`,
		"{\"do\":\"say\",\n\"x\":1}":                      `the plugin stopped: wasm error: unreachable, after it wrote "{\"do\":\"say\","`,
		"{\"do\":\"say \u202e\"}":                         `after it wrote "{\"do\":\"say \u202e\"}`,
		`{"do":"say ` + strings.Repeat("x", 1<<20) + `"}`: strings.Repeat("x", 100) + `…"`,
	} {
		_, err := storm.Normalize(t.Context(), jsonDocument(t, `{"findings":[]}`), jsontext.Value(config))
		if errs.CodeOf(err) != errs.PluginTrap || !strings.Contains(err.Error(), says) || len(err.Error()) > 1000 {
			t.Errorf("%.100s: got %.2000v", config, err)
		}
	}
}

// TestGuestsCannotAlterTheReport has a guest write all over its copy.
func TestGuestsCannotAlterTheReport(t *testing.T) {
	r := newRuntime(t, plugins.Config{})
	puppet := load(t, r, "puppet")
	const item = `{"severity":"fatal"}`
	doc := jsonDocument(t, `{"findings":[`+item+`]}`)
	result, err := puppet.Normalize(t.Context(), doc, jsontext.Value(`{"do":"scrawl","answer":{"critic":"puppet","findings":[`+
		`{"category":"style","severity":"nit","file":null,"line":null,"remediation":"r","ref":"/findings/0"}],"skipped":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if raw := string(result.Findings[0].Sources[0].Raw); raw != item {
		t.Errorf("raw is %s, want %s", raw, item)
	}
}

// TestChanceAndTimeAreAlwaysTheSame has a guest answer with its randomness and its clock.
func TestChanceAndTimeAreAlwaysTheSame(t *testing.T) {
	var first string
	for i := range 4 {
		r := newRuntime(t, plugins.Config{Interpret: i%2 == 1})
		reply, err := load(t, r, "storm").Ask(t.Context(), jsonDocument(t, `{"findings":[]}`), jsontext.Value(`{"do":"luck"}`))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = string(reply.Answer)
		}
		if got := string(reply.Answer); got != first || len(got) != 34 {
			t.Errorf("once %s, once %s", first, got)
		}
	}
}
