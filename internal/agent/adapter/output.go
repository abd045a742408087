package adapter

import (
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// Output is what an agent's run said, as far as its output tells. What the output
// does not tell is unknown, which is nil or "", and never zero.
//
// None of it is proof of success: an agent may end cheerfully without having done
// anything.
type Output struct {
	// Text is the final message. HasText says that there is one, which may still
	// be empty.
	Text    string
	HasText bool
	// Model and Session are what the CLI calls the model that it used and its own
	// session, "" where it does not say.
	Model, Session string
	Tokens         Tokens
	// Dollars is what the run cost by the CLI's own count, in micro-dollars
	// (1e-6 $), rounded up.
	Dollars *int64
	// Tools are the uses of tools in order, at most MaxTools. ToolCount counts all
	// of them.
	Tools     []ToolUse
	ToolCount int
	// Denials name the tools whose use the CLI refused, or its ids of those uses
	// where it does not say the name, at most MaxTools.
	Denials []string
	// Failure is what the output calls an error, nil where nothing does. A run that
	// failed without a word has none.
	Failure *Failure
	// Valid says that the output had the form that the adapter promises, to its
	// end.
	Valid bool
	// Done says that the output ended with an event that ends a run.
	Done bool
	// Notes are sentences about what was passed over: warnings, lines that are no
	// JSON, earlier results. They quote the output, so redact them before they are
	// shown.
	Notes []string
}

// Tokens count the tokens of a run, nil where they are unknown.
type Tokens struct {
	// In counts all that went to the model, those from its cache included, and Out
	// all that it wrote, its thoughts included.
	In, Out *int64
	// Cached counts those of In that came from the cache.
	Cached *int64
}

// ToolUse is one use of a tool.
type ToolUse struct {
	// Name is what the CLI calls the tool.
	Name string
	// Search says that the tool searches (see Adapter.SearchTools).
	Search bool
}

// Failure is what an output calls an error.
type Failure struct {
	Class outcome.Class
	// Status is the HTTP status that the model API answered, 0 where it is unknown.
	Status int
	// Message is the CLI's own sentence, at most MaxMessage bytes. Redact it before
	// it is shown.
	Message string
	// RetryAfter is how long the API asked to wait, 0 where it did not say.
	RetryAfter time.Duration
}

// Progress is how far a run has come.
type Progress struct {
	// Tokens counts those that the output has told of so far, 0 where it has not.
	Tokens int64
	// Tools counts uses of tools, and Events the JSON objects of the output.
	Tools, Events int
	// Done says that the last event of the run has come. Other events may follow.
	Done bool
}

// Ended is how an agent's process ended, and what it left beside its standard
// output.
type Ended struct {
	// ExitCode is -1 where a signal ended the process.
	ExitCode int
	// Signal names the signal that ended the process, "" where none did.
	Signal string
	// Errors is the end of its standard error.
	Errors []byte
	// File is what stands in Values.OutFile, nil where there is no such file.
	File []byte
}
