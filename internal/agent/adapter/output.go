package adapter

import (
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// Output is an agent's own account of its run. Unknown values are nil or "". It never proves
// success: an agent may report success without having done anything.
type Output struct {
	// Text is the final message, which may be empty. HasText is set if there is one.
	Text    string
	HasText bool
	// Model and Session are the CLI's names of its model and session.
	Model, Session string
	Tokens         Tokens
	// Dollars is the cost by the CLI's own count, in micro-dollars (1e-6 $), rounded up.
	Dollars *int64
	// Tools are the uses of tools in order, at most MaxTools. ToolCount counts all uses.
	Tools     []ToolUse
	ToolCount int
	// Denials name the tools that were refused, or their ids, at most MaxTools.
	Denials []string
	// Failure is the error that the output reports, or nil.
	Failure *Failure
	// Valid is set if the whole output has the form that the adapter describes.
	Valid bool
	// Done is set if the output contains an event that ends a run.
	Done bool
	// Notes have warnings, and describe lines that are not JSON and earlier results. They
	// quote the output, so redact them.
	Notes []string
}

// Tokens counts the tokens of a run; nil is unknown.
type Tokens struct {
	// In includes tokens from the cache, and Out includes thoughts.
	In, Out *int64
	// Cached counts the tokens of In that came from the cache.
	Cached *int64
}

// ToolUse is one use of a tool.
type ToolUse struct {
	// Name is the CLI's name of the tool.
	Name string
	// Search is set for a tool that searches; see Adapter.SearchTools.
	Search bool
}

// Failure is an error that an output reports.
type Failure struct {
	Class outcome.Class
	// Status is the HTTP status of the model API, 0 if unknown.
	Status int
	// Message is the CLI's text, at most maxMessage bytes. Redact it before it is shown.
	Message string
	// RetryAfter is the time that the API asked to wait, 0 if it did not.
	RetryAfter time.Duration
	// ResetsAt is the end of a usage limit, the zero time if it is unknown.
	ResetsAt time.Time
}

// Progress is the progress of a run.
type Progress struct {
	// Tokens is 0 if unknown.
	Tokens int64
	// Tools counts uses of tools. Tool is the CLI's name of the last one, "" before the first.
	Tools int
	Tool  string
	// Note is the last warning since then, such as that it cannot connect.
	Note string
	// Done is set after an event that ends a run. More events may follow.
	Done bool
}

// Ended describes the end of an agent's process, with its output besides standard output.
type Ended struct {
	// At is the time of the end, in the zone in which the CLI prints times. If it is zero, the
	// ends of usage limits are unknown too.
	At time.Time
	// ExitCode is -1 if a signal ended the process.
	ExitCode int
	// Signal is the name of that signal, or "".
	Signal string
	// Errors is the end of standard error.
	Errors []byte
	// File is the content of Values.OutFile, nil if it does not exist.
	File []byte
}
