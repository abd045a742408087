// Package stats computes statistics for people from the ledger's counters: a value that a
// command prints, and a self-contained HTML page.
//
// All of it follows from the counters (internal/counters), so a ledger with a million
// rounds takes no longer than one with a thousand. The package uses no clock, file or
// terminal.
package stats
