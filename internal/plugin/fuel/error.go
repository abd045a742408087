package fuel

import "fmt"

// The limits of a module's declarations. wazero allocates memory for them before the
// module runs, so a module of a few hundred bytes could exhaust it. A guest of the
// Go toolchain has some 6,000 functions.
const (
	maxTypes         = 10_000
	maxValues        = 1_000
	maxImports       = 10_000
	maxFunctions     = 100_000
	maxGlobals       = 10_000
	maxLocals        = 10_000
	maxTableElements = 1 << 20
)

// Error is a module that cannot be metered.
type Error struct {
	// What describes the problem, as a predicate: "declares 200000 functions; …".
	What string
	// Limit is the limit that the module exceeds, 0 if it is malformed.
	Limit uint64
}

// Error implements error.
func (e *Error) Error() string { return "the module " + e.What }

func malformed(what string) error { return &Error{What: "is malformed in " + what} }

func atMost(n, limit uint64, what string) error {
	if n <= limit {
		return nil
	}
	return &Error{What: fmt.Sprintf("declares %d %s; the limit is %d", n, what, limit), Limit: limit}
}
