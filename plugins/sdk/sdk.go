// Package sdk is for writing Switchyard plugins in Go: normalizers that turn a
// report into findings (plugin ABI v1). It uses the standard library alone, and
// the stock Go toolchain builds a plugin from it:
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
// A Go guest is large: about 2.6 MB, which take about a second to compile once, 60 ms
// to load from the cache in each command, and 5 ms for each report. A guest in
// AssemblyScript or C has about 10 KB and takes less than one millisecond.
//
// The SDK has its own JSON reader and writer: with encoding/json a guest was a third
// larger, loaded half as slowly again and took six times as long for a report.
//
// Every report gets a fresh instance with 64 MiB of memory, no files, no environment,
// and a clock that stands still. Output is discarded, and a panic is a trap that the
// host reports. The same report must give the same answer, so do not depend on the
// order of a map.
package sdk

import "reflect"

// Normalizer reads a report. An error refuses the report; the user sees the fields
// of an *Error, or the text of any other error.
type Normalizer func(Report) (Answer, error)

// Description describes a plugin.
type Description struct {
	// Name is the plugin's: lower-case words joined by dashes.
	Name    string `json:"name"`
	Version string `json:"version"`
	// Critic is the critic of answers that name none.
	Critic string `json:"critic"`
	// Formats are the media types that it reads: JSON, JSON lines or XML. A
	// report always comes as JSON; docs/plugin-abi.md says how.
	Formats []string `json:"formats"`
	// Detect are JSON Pointers that all exist in a report of its format.
	Detect []string `json:"detect"`
	// DetectAny are JSON Pointers of which at least one exists. A plugin with
	// neither is never detected.
	DetectAny []string `json:"detect_any,omitempty"`
	// Items are JSON Pointers, "*" standing for every element of an array, to
	// everything in a report that must be accounted for: each must be the Ref of
	// a finding, or of one skipped entry or statement.
	Items []string `json:"items"`
}

// Report is a report with the plugin's configuration.
type Report struct {
	// Value is the report.
	Value
	// Config is the plugin's configuration, an object.
	Config Value
}

// NewReport returns a report for a test, made of two valid JSON texts.
func NewReport(report, config string) Report {
	return Report{document([]byte(report)), document([]byte(config))}
}

// Answer is the content of a report.
type Answer struct {
	// Critic is the report's critic; "" stands for the description's.
	Critic string `json:"critic"`
	// TaskID and Round are the task and round that the report names, or nil.
	TaskID   *string   `json:"task_id,omitempty"`
	Round    *int      `json:"round,omitempty"`
	Findings []Finding `json:"findings"`
	// Skipped are the items that are not findings.
	Skipped []Skipped `json:"skipped"`
	// Unmapped are the rules whose findings have a default category.
	Unmapped []Unmapped `json:"unmapped,omitempty"`
	// Previous says what became of findings of the previous review, each once.
	Previous []Statement `json:"previous,omitempty"`
}

// Severity is how bad a finding is: one of the constants, or any other text that
// the policy knows.
type Severity string

// The severities that every policy knows.
const (
	Fail Severity = "fail"
	Risk Severity = "risk"
	Nit  Severity = "nit"
)

// Finding is something to be acted on.
type Finding struct {
	// Critic overrides the answer's.
	Critic string `json:"critic,omitempty"`
	// Category is never empty; the policy decides where it goes.
	Category string `json:"category"`
	// Severity is Fail if it is "".
	Severity Severity `json:"severity,omitempty"`
	// File is nil if the report names none.
	File *string `json:"file"`
	// Line counts from 1, and is nil if the report names none.
	Line        *int   `json:"line"`
	Remediation string `json:"remediation"`
	// Undoes is the fingerprint of an earlier finding of the task, whose fix this
	// one asks to undo, or "".
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

// Status is what became of a finding of the previous review: one of the constants.
type Status string

// The statuses. An induced finding is fixed, but its fix caused one that is reported now; a
// withdrawn one never held.
const (
	Open      Status = "open"
	Fixed     Status = "fixed"
	Induced   Status = "induced"
	Withdrawn Status = "withdrawn"
)

// Statement says what became of a finding of the previous review.
type Statement struct {
	// ID is the finding's fingerprint: 16 hexadecimal digits in lower case.
	ID     string `json:"id"`
	Status Status `json:"status"`
	Ref    string `json:"ref"`
}

// The plugin that this module is.
var (
	description Description
	normalizer  Normalizer
)

// Register makes this module the plugin d. An init function calls it once.
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
