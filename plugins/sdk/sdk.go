// Package sdk is for writing Switchyard plugins in Go: normalizers that turn a report into
// findings (plugin ABI v1). It depends only on the standard library. The Go toolchain builds
// a plugin:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o mine.wasm .
//
// A plugin only has to register its normalizer:
//
//	func init() { sdk.Register(description, normalize) }
//
//	func main() {}
//
// The normalizer is ordinary Go and can be tested on any platform.
//
// A Go guest has about 2.6 MB. It takes about a second to compile once, 60 ms to load from
// the cache in each command, and 5 ms for each report. A guest in AssemblyScript or C has
// about 10 KB and takes less than a millisecond.
//
// The SDK has its own JSON reader and writer: with encoding/json a guest was a third larger,
// took half as long again to load and six times as long for a report.
//
// Every report gets a fresh instance with 64 MiB of memory, without files or environment,
// and with a clock that advances only when it is read. A panic is a trap, which the host
// reports with the first line of standard error, the reason of the panic. Other output is
// discarded. The same report must give the same answer, so do not depend on the order of a
// map.
package sdk

import "reflect"

// Normalizer reads a report. An error refuses the report; the user sees the fields of an
// *Error, or the text of another error.
type Normalizer func(Report) (Answer, error)

// Description describes a plugin.
type Description struct {
	// Name is lower-case words joined by dashes.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Critic is the default of Answer.Critic.
	Critic string `json:"critic"`
	// Formats are the media types that the plugin reads: JSON, JSON lines or XML. The host
	// converts every report to JSON, as docs/plugin-abi.md describes.
	Formats []string `json:"formats"`
	// Detect are JSON Pointers that all exist in a report of the format.
	Detect []string `json:"detect"`
	// DetectAny are JSON Pointers of which at least one exists. A plugin without Detect and
	// DetectAny is never detected.
	DetectAny []string `json:"detect_any,omitempty"`
	// Items are JSON Pointers to the items of a report, in which "*" stands for every element
	// of an array and "{*}" for every member of an object. Each item must be the Ref of a
	// finding, or of one skipped entry or statement.
	Items []string `json:"items"`
	// ItemsFrom is a JSON Pointer into the configuration, or "". The pattern there, or the
	// list of them, joins Items.
	ItemsFrom string `json:"items_from,omitempty"`
	// LinesIf is a JSON Pointer into the configuration, or "". If true is there, the report
	// is read as JSON lines.
	LinesIf string `json:"lines_if,omitempty"`
}

// Report is a report with the plugin's configuration.
type Report struct {
	// Value is the report.
	Value
	// Config is the plugin's configuration, an object.
	Config Value
}

// NewReport returns a report for a test. Both texts must be valid JSON.
func NewReport(report, config string) Report {
	return Report{document([]byte(report)), document([]byte(config))}
}

// Answer is the content of a report.
type Answer struct {
	// Critic is the report's critic, by default that of the description.
	Critic string `json:"critic"`
	// TaskID and Round are nil if the report does not name them.
	TaskID   *string   `json:"task_id,omitempty"`
	Round    *int      `json:"round,omitempty"`
	Findings []Finding `json:"findings"`
	// Skipped are the items that are not findings.
	Skipped []Skipped `json:"skipped"`
	// Unmapped are the rules of findings with a default category.
	Unmapped []Unmapped `json:"unmapped,omitempty"`
	// Previous has at most one statement for each finding of the previous review.
	Previous []Statement `json:"previous,omitempty"`
}

// Severity is the severity of a finding: one of the constants, or another text that the
// policy knows.
type Severity string

// The severities that every policy knows.
const (
	Fail Severity = "fail"
	Risk Severity = "risk"
	Nit  Severity = "nit"
)

// Finding is a problem in a report.
type Finding struct {
	// Critic overrides Answer.Critic.
	Critic string `json:"critic,omitempty"`
	// Category must not be empty. The policy routes findings by it.
	Category string `json:"category"`
	// Severity is Fail by default.
	Severity Severity `json:"severity,omitempty"`
	// File is nil if the report does not name a file.
	File *string `json:"file"`
	// Line counts from 1. It is nil if the report does not name a line.
	Line        *int   `json:"line"`
	Remediation string `json:"remediation"`
	// Undoes is the fingerprint of an earlier finding of the task if this one asks to undo
	// its fix, or "".
	Undoes string `json:"undoes,omitempty"`
	// Ref is the finding's JSON Pointer into the report.
	Ref string `json:"ref"`
}

// Skipped is an item that is not a finding, with the reason.
type Skipped struct {
	Ref    string `json:"ref"`
	Reason string `json:"reason"`
}

// Unmapped is a rule that the configuration gives no category, and the default
// that its findings have instead.
type Unmapped struct {
	Rule     string `json:"rule"`
	Category string `json:"category"`
}

// Status is the state of a finding of the previous review: one of the constants.
type Status string

// The statuses. An induced finding is fixed, but its fix caused one that is reported now. A
// withdrawn finding was never correct.
const (
	Open      Status = "open"
	Fixed     Status = "fixed"
	Induced   Status = "induced"
	Withdrawn Status = "withdrawn"
)

// Statement is a report's statement about a finding of the previous review.
type Statement struct {
	// ID is the finding's fingerprint: 16 hexadecimal digits in lower case.
	ID     string `json:"id"`
	Status Status `json:"status"`
	Ref    string `json:"ref"`
}

// The plugin of this module.
var (
	description Description
	normalizer  Normalizer
)

// Register makes this module a plugin. An init function must call it once.
func Register(d Description, n Normalizer) {
	description, normalizer = d, n
}

// describe returns the answer of sy_describe.
func describe() []byte {
	return appendJSON(nil, reflect.ValueOf(description))
}

// respond returns the answer of sy_normalize.
func respond(report, config []byte) []byte {
	answer, err := normalizer(Report{document(report), document(config)})
	if err != nil {
		return appendJSON(nil, reflect.ValueOf(map[string]*Error{"error": asError(err)}))
	}
	if answer.Critic == "" {
		answer.Critic = description.Critic
	}
	return appendJSON(nil, reflect.ValueOf(answer))
}
