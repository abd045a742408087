package plugins

import (
	"encoding/binary"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// The limits of a module's shape. wazero sets memory aside for what a module
// declares before any of it runs, and its compiler's time and memory grow with
// functions and their locals, so a module of a few hundred bytes could take all
// of either. A guest of the Go toolchain has some 6,000 functions.
const (
	maxFunctions     = 100_000
	maxLocals        = 10_000
	maxTableElements = 1 << 20
)

// The sections of a module that are looked into (WebAssembly core, 5.5.2).
const (
	sectionFunction = 3
	sectionTable    = 4
	sectionCode     = 10
)

// checkShape refuses a module that declares more than the limits, before wazero
// sees it. What it cannot read it leaves to wazero to refuse.
func checkShape(wasm []byte) error {
	for r := (reader{data: wasm[8:]}); len(r.data) > 0; {
		id := r.byte()
		body := reader{data: r.take(r.u32())}
		var err error
		switch id {
		case sectionFunction:
			err = atMost(body.u32(), maxFunctions, "functions")
		case sectionTable:
			err = checkTables(&body)
		case sectionCode:
			err = checkLocals(&body)
		}
		if err != nil || r.bad {
			return err
		}
	}
	return nil
}

func checkTables(r *reader) error {
	total := uint64(0)
	for n := r.u32(); n > 0 && !r.bad; n-- {
		r.byte() // the type of its elements
		bounded := r.byte()&1 == 1
		total += uint64(r.u32())
		if bounded {
			r.u32()
		}
		if err := atMost(total, maxTableElements, "table elements"); err != nil {
			return err
		}
	}
	return nil
}

func checkLocals(r *reader) error {
	for n := r.u32(); n > 0 && !r.bad; n-- {
		body := reader{data: r.take(r.u32())}
		total := uint64(0)
		for groups := body.u32(); groups > 0 && !body.bad; groups-- {
			total += uint64(body.u32())
			body.byte() // their type
			if err := atMost(total, maxLocals, "local variables in a function"); err != nil {
				return err
			}
		}
	}
	return nil
}

func atMost[N uint32 | uint64](n N, limit N, what string) error {
	if n <= limit {
		return nil
	}
	return fault.New(CodeABI, "the plugin declares %d %s; the limit is %d", n, what, limit).With("limit", limit)
}

// reader reads the binary format; after its end it reads zeros and is bad.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	n, size := binary.Uvarint(r.data)
	if size <= 0 || n > 1<<32-1 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[size:]
	return uint32(n)
}

func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)) {
		r.bad, r.data = true, nil
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}
