// Package stats makes numbers for people of what the ledger counts: a value that a
// command prints, and one self-contained page of HTML.
//
// All of it follows from the ledger's sums (internal/counters), so that a ledger with a
// million rounds takes no longer than one with a thousand. Nothing here has a clock,
// reads a file or knows a terminal.
package stats
