package plugins

import (
	"encoding/binary"
	"testing"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// section is one section of a module: its id, its size, its content.
func section(id byte, numbers ...uint64) []byte {
	var body []byte
	for _, n := range numbers {
		body = binary.AppendUvarint(body, n)
	}
	return append([]byte{id, byte(len(body))}, body...)
}

func TestCheckShape(t *testing.T) {
	const funcref, i32 = 0x70, 0x7f
	for name, c := range map[string]struct {
		section []byte
		want    fault.Code
	}{
		"no sections":                {nil, ""},
		"a few functions":            {section(sectionFunction, 2, 0, 0), ""},
		"a million functions":        {section(sectionFunction, 1_000_000), CodeABI},
		"a table":                    {section(sectionTable, 1, funcref, 0, 10), ""},
		"a table with a maximum":     {section(sectionTable, 1, funcref, 1, 10, 1<<31), ""},
		"a huge table":               {section(sectionTable, 1, funcref, 0, 60_000_000), CodeABI},
		"tables that add up":         {section(sectionTable, 2, funcref, 1, 600_000, 600_000, funcref, 0, 600_000), CodeABI},
		"some locals":                {section(sectionCode, 1, 5, 1, 100, i32, 0x0b), ""},
		"four billion locals":        {section(sectionCode, 1, 8, 1, 1<<32-1, i32, 0x0b), CodeABI},
		"locals in many groups":      {section(sectionCode, 1, 10, 3, 9_000, i32, 9_000, i32, 1, i32, 0x0b), CodeABI},
		"cut short, for wazero":      {section(sectionCode, 1, 100, 1), ""},
		"too long a number, as well": {[]byte{sectionTable, 11, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, ""},
		"size beyond the end":        {[]byte{sectionCode, 120, 1}, ""},
	} {
		wasm := append([]byte("\x00asm\x01\x00\x00\x00"), c.section...)
		if got := fault.CodeOf(checkShape(wasm)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func FuzzCheckShape(f *testing.F) {
	f.Add(section(sectionTable, 1, 0x70, 0, 10))
	f.Add(section(sectionCode, 1, 5, 1, 100, 0x7f, 0x0b))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := checkShape(append([]byte("\x00asm\x01\x00\x00\x00"), data...))
		if err != nil && fault.CodeOf(err) != CodeABI {
			t.Fatal(err)
		}
	})
}
