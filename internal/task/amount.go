package task

import (
	"fmt"
	"math"
)

// Amount is what spawns use up, or may. Its parts are never negative. The zero
// Amount is nothing at all.
type Amount struct {
	// Millis is time of the wall clock, in milliseconds.
	Millis int64 `json:"ms,omitzero"`
	// Tokens counts those that a model read and wrote.
	Tokens int64 `json:"tokens,omitzero"`
	// MicroDollars is money, in millionths of a dollar, rounded up.
	MicroDollars int64 `json:"microdollars,omitzero"`
}

// Add returns the sum of both. A part that grows beyond what an int64 holds
// stays at the largest one: no sum of costs wraps around to a small one.
func (a Amount) Add(b Amount) Amount {
	return Amount{
		Millis:       addSaturating(a.Millis, b.Millis),
		Tokens:       addSaturating(a.Tokens, b.Tokens),
		MicroDollars: addSaturating(a.MicroDollars, b.MicroDollars),
	}
}

// addSaturating adds two numbers that are not negative.
func addSaturating(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// check refuses an amount below zero, which would pay for others.
func (a Amount) check() error {
	if a.Millis < 0 || a.Tokens < 0 || a.MicroDollars < 0 {
		return fmt.Errorf("an amount below zero: %+v", a)
	}
	return nil
}
