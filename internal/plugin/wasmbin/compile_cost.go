package wasmbin

import (
	"fmt"
	"math"
)

// compileCost estimates the time of compiling a function. wazero's compiler is fast for the
// output of toolchains. But its time and memory grow with the square of a function's blocks,
// and with products of other counts, which can reach thousands in a module of a few
// kilobytes. The unit is about 25 ns. The weights were measured with modules that each have
// many of one construct (ADR-0010).
type compileCost struct {
	linear uint64 // terms that grow with one count, and the products known so far
	blocks uint64
	loops  uint64
	calls  uint64

	// known is the number of addresses that the compiler knows to be within memory. It
	// passes them on from block to block, along every path.
	known uint64
}

const (
	// maxFunctionCost is about two seconds and 1 GiB for one function, maxModuleCost about
	// ten seconds for a module. A guest of 6 MB from the Go toolchain needs 7% of the first
	// and 36% of the second.
	maxFunctionCost = 80_000_000
	maxModuleCost   = 600_000_000

	costInstruction = 10
	costTarget      = 40  // of a br_table
	costChecked     = 350 // an instruction that can trap
	costCall        = 100
	costIndirect    = 600 // added for an indirect call
	costValue       = 20  // passed into or out of a block or a call
	costKnown       = 10  // a known address at the beginning of a block
	costLocal       = 10
	costBlockLocal  = 20  // a local in a block
	costLoopLocal   = 500 // a local in a loop
	costCallGlobal  = 16  // a global that a call may change
	costType        = 30  // a value of a type
	// Four targets of a br_table count as one block.
	targetsPerBlock = 4
	// The blocks that the compiler makes from one instruction and the meter's code.
	blocksOfIf, blocksOfLoop, blocksOfBulk = 2, 4, 4
)

// nowhere is the number of known addresses in unreachable code.
const nowhere = math.MaxUint64

func (c *compileCost) values(n uint64) { c.linear += n * costValue }

// block begins n blocks that inherit the known addresses.
func (c *compileCost) block(n uint64) {
	c.blocks += n
	if c.known != nowhere {
		c.linear += c.known * costKnown
	}
}

// addChecked accounts for an instruction that can trap. address is true if it accesses
// memory.
func (c *compileCost) addChecked(address bool) {
	c.linear += costChecked
	if address && c.known != nowhere {
		c.known++
	}
}

// total returns the cost of the whole function.
func (c *compileCost) total(instructions int, locals, globals uint64) uint64 {
	return c.linear + uint64(instructions)*costInstruction + locals*costLocal + c.calls*costCall + globals +
		c.blocks*c.blocks/3 + c.blocks*locals*costBlockLocal + c.loops*locals*costLoopLocal +
		(c.calls+c.loops)*globals*costCallGlobal
}

// addCompileCost adds a function's cost to the module's.
func (m *module) addCompileCost(cost uint64) error {
	m.compileCosts += cost
	if cost <= maxFunctionCost && m.compileCosts <= maxModuleCost {
		return nil
	}
	what, n, limit := "a function", cost, uint64(maxFunctionCost)
	if cost <= maxFunctionCost {
		what, n, limit = "its functions", m.compileCosts, maxModuleCost
	}
	return &Error{What: fmt.Sprintf("takes too long to compile: %s would need %d units of work; the limit is %d", what, n, limit), Limit: limit}
}
