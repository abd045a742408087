// Package sdk is for writing Switchyard plugins in Go: normalizers that turn a
// report into findings (plugin ABI v1). It uses the standard library alone, and
// the stock Go toolchain builds a plugin from it:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o mine.wasm .
//
// A plugin registers its normalizer and has nothing else to do:
//
//	func init() { sdk.Register(description, normalize) }
//
//	func main() {}
//
// Being ordinary Go, the normalizer can be tested on any platform.
//
// A Go guest is comfortable and large: about 2.6 MB, which take a second to
// compile once, 60 ms to load from the cache whenever a command needs them, and
// 5 for each report. A guest in AssemblyScript or C has some 10 KB and takes less
// than one.
//
// Every report gets a fresh instance with 64 MiB of memory, no files, no
// environment, and a clock that stands still. What is printed goes nowhere, a
// panic is a trap, which the host reports, and the same report must give the
// same answer: don't let the order of a map get into it.
package sdk

// Normalizer says what a report says. An error refuses the report; what an
// *Error says is what the user sees, and of another error its text.
type Normalizer func(Report) (Answer, error)

// Description is what a plugin says of itself.
type Description struct {
	// Name is the plugin's: lower-case words joined by dashes.
	Name    string
	Version string
	// Critic is the critic whose reports it reads, where an answer names none.
	Critic string
	// Formats are the media types that it reads: JSON, JSON lines or XML. A
	// report always comes as JSON; the page on the ABI says how.
	Formats []string
	// Detect are JSON Pointers that all exist in a report of its format.
	Detect []string
	// DetectAny are JSON Pointers of which at least one does. A plugin with
	// neither is never detected.
	DetectAny []string
	// Items are JSON Pointers, "*" standing for every element of an array, to
	// everything in a report that has to be accounted for: each must be the Ref
	// of a finding or of one skipped entry.
	Items []string
}

// Report is what a normalizer is asked about.
type Report struct {
	// Value is the report.
	Value
	// Config is the plugin's configuration, an object.
	Config Value
}

// NewReport returns the report of a test: two valid JSON texts.
func NewReport(report, config string) Report {
	return Report{document([]byte(report)), document([]byte(config))}
}

// Answer is what a report says.
type Answer struct {
	// Critic is who says so; "" stands for the description's.
	Critic string
	// TaskID and Round are what the report says it is about, or nil.
	TaskID   *string
	Round    *int
	Findings []Finding
	// Skipped are the items that are no findings.
	Skipped []Skipped
	// Unmapped are the rules whose findings have a default category.
	Unmapped []Unmapped
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

// Finding is something that somebody has to do something about.
type Finding struct {
	// Critic overrides the answer's.
	Critic string
	// Category is never empty; the policy decides where it goes.
	Category string
	// Severity is Fail where it is "".
	Severity Severity
	// File is nil where the report names none.
	File *string
	// Line counts from 1, and is nil where the report names none.
	Line        *int
	Remediation string
	// Ref is a JSON Pointer to what the report says of it.
	Ref string
}

// Skipped is an item that is no finding, and why.
type Skipped struct {
	Ref    string
	Reason string
}

// Unmapped is a rule that the configuration gives no category, and the default
// that its findings have instead.
type Unmapped struct {
	Rule     string
	Category string
}

// The plugin that this module is.
var (
	description Description
	normalizer  Normalizer
)

// Register says what this module is. It is called once, by an init function.
func Register(d Description, n Normalizer) {
	description, normalizer = d, n
}

// describe is the answer of sy_describe.
func describe() []byte {
	return appendDescription(nil, description)
}

// respond is the answer of sy_normalize.
func respond(report, config []byte) []byte {
	answer, err := normalizer(Report{document(report), document(config)})
	if err != nil {
		return appendError(nil, asError(err))
	}
	if answer.Critic == "" {
		answer.Critic = description.Critic
	}
	return appendAnswer(nil, answer)
}
