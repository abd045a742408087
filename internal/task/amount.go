package task

import (
	"fmt"
	"math"
)

// Amount is a consumption or a limit of spawns. Its parts are never negative. The zero
// Amount is nothing.
type Amount struct {
	// Millis is wall-clock time, in milliseconds.
	Millis int64 `json:"ms,omitzero"`
	// Tokens counts the input and output tokens of a model.
	Tokens int64 `json:"tokens,omitzero"`
	// MicroDollars is in millionths of a dollar, rounded up.
	MicroDollars int64 `json:"microdollars,omitzero"`
}

// Add returns the sum of both. Each part saturates at the largest int64, so that no sum
// of costs wraps around.
func (a Amount) Add(b Amount) Amount {
	return Amount{
		Millis:       addSaturating(a.Millis, b.Millis),
		Tokens:       addSaturating(a.Tokens, b.Tokens),
		MicroDollars: addSaturating(a.MicroDollars, b.MicroDollars),
	}
}

// addSaturating adds two non-negative numbers.
func addSaturating(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// check rejects a negative amount, which would pay for others.
func (a Amount) check() error {
	if a.Millis < 0 || a.Tokens < 0 || a.MicroDollars < 0 {
		return fmt.Errorf("an amount below zero: %+v", a)
	}
	return nil
}
