package adapter

import (
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// Output is what an agent's output says about its run. Unknown values are nil or "". None
// of it proves success: an agent may end cheerfully without having done anything.
type Output struct {
	// Text is the final message, which may be empty; HasText says whether there is one.
	Text    string
	HasText bool
	// Model and Session are the CLI's names of its model and session.
	Model, Session string
	Tokens         Tokens
	// Dollars is the cost by the CLI's own count, in micro-dollars (1e-6 $), rounded up.
	Dollars *int64
	// Tools are the uses of tools in order, at most MaxTools. ToolCount counts all of
	// them.
	Tools     []ToolUse
	ToolCount int
	// Denials name the tools that were refused, or their ids, at most MaxTools.
	Denials []string
	// Failure is the error that the output reports, nil for none.
	Failure *Failure
	// Valid says that the output has the form that the adapter promises, to its end.
	Valid bool
	// Done says that the output contains an event that ends a run.
	Done bool
	// Notes describe what was skipped: warnings, lines that are not JSON, earlier
	// results. They quote the output, so redact them.
	Notes []string
}

// Tokens counts the tokens of a run; nil is unknown.
type Tokens struct {
	// In includes tokens from the cache, and Out includes thoughts.
	In, Out *int64
	// Cached counts those of In that came from the cache.
	Cached *int64
}

// ToolUse is one use of a tool.
type ToolUse struct {
	// Name is the CLI's name of the tool.
	Name string
	// Search says that the tool searches; see Adapter.SearchTools.
	Search bool
}

// Failure is an error that an output reports.
type Failure struct {
	Class outcome.Class
	// Status is the HTTP status of the model API, 0 if unknown.
	Status int
	// Message is the CLI's text, at most MaxMessage bytes. Redact it before it is shown.
	Message string
	// RetryAfter is how long the API asked to wait, 0 if it did not.
	RetryAfter time.Duration
	// ResetsAt is when a usage limit ends, the zero time if the output does not say.
	ResetsAt time.Time
}

// Progress is how far a run has come.
type Progress struct {
	// Tokens is 0 if unknown.
	Tokens int64
	// Tools counts uses of tools. Tool is the CLI's name of the last one, "" for none.
	Tools int
	Tool  string
	// Done says that the run's last event has come. Others may follow.
	Done bool
}

// Ended is how an agent's process ended, and what it left beside standard output.
type Ended struct {
	// At is the time of the end, in the zone in which the CLI prints times. The zero time
	// is unknown: then the ends of usage limits are, too.
	At time.Time
	// ExitCode is -1 if a signal ended the process.
	ExitCode int
	// Signal is "" for none.
	Signal string
	// Errors is the end of standard error.
	Errors []byte
	// File is the content of Values.OutFile, nil if it does not exist.
	File []byte
}
