package fuel

import (
	"fmt"
	"math"
)

// effort estimates what compiling a function takes. wazero's compiler is quick
// with what toolchains make, but its time and memory grow with the square of a
// function's blocks, and with the products of other things that a module of a
// few kilobytes can have thousands of. The unit is about 25 ns; the weights were
// measured with modules that have much of one thing (ADR-0010).
type effort struct {
	linear uint64 // what grows with one thing alone, and the products known so far
	blocks uint64
	loops  uint64
	calls  uint64

	// known is how many addresses the compiler knows to lie within memory: it
	// carries them from block to block, along every way that leads there.
	known uint64
}

const (
	// maxEffort is about two seconds and 1 GiB for one function, and maxEfforts
	// some ten seconds for a module. A guest of 6 MB made by the Go toolchain
	// needs 7% of the one and 36% of the other.
	maxEffort  = 80_000_000
	maxEfforts = 600_000_000

	effortInstruction = 10
	effortTarget      = 40  // of a br_table
	effortChecked     = 350 // an instruction that can trap
	effortCall        = 100
	effortIndirect    = 600 // more than that, for an indirect one
	effortValue       = 20  // that goes into a block, a call, or out of one
	effortKnown       = 10  // an address that a block gets to know
	effortLocal       = 10
	effortBlockLocal  = 20  // a local in a block
	effortLoopLocal   = 500 // a local in a loop
	effortCallGlobal  = 16  // a global that a call may change
	effortType        = 30  // a value of a type
	// A br_table's targets count as a block each four.
	targetsPerBlock = 4
	// Blocks that the compiler makes of one instruction, the meter's code included.
	blocksOfIf, blocksOfLoop, blocksOfBulk = 2, 4, 4
)

// nowhere is what the compiler knows where no way leads: anything.
const nowhere = math.MaxUint64

func (e *effort) values(n uint64) { e.linear += n * effortValue }

// block begins some blocks that know what is known here.
func (e *effort) block(n uint64) {
	e.blocks += n
	if e.known != nowhere {
		e.linear += e.known * effortKnown
	}
}

// checked is an instruction that can trap; address says that it is one that uses
// memory.
func (e *effort) checked(address bool) {
	e.linear += effortChecked
	if address && e.known != nowhere {
		e.known++
	}
}

// total is the effort for the whole function.
func (e *effort) total(instructions int, locals, globals uint64) uint64 {
	return e.linear + uint64(instructions)*effortInstruction + locals*effortLocal + e.calls*effortCall + globals +
		e.blocks*e.blocks/3 + e.blocks*locals*effortBlockLocal + e.loops*locals*effortLoopLocal +
		(e.calls+e.loops)*globals*effortCallGlobal
}

// spend adds what a function takes to what the module does.
func (m *module) spend(effort uint64) error {
	m.efforts += effort
	if effort <= maxEffort && m.efforts <= maxEfforts {
		return nil
	}
	what, n, limit := "a function", effort, uint64(maxEffort)
	if effort <= maxEffort {
		what, n, limit = "its functions", m.efforts, maxEfforts
	}
	return &Error{What: fmt.Sprintf("takes too long to compile: %s would need %d units of work; the limit is %d", what, n, limit), Limit: limit}
}
