// Package research merges the answers of several researchers to one question.
//
// All get the same question, with different methods. Statements with enough agreement are
// accepted; the others are kept and marked. A failed researcher is reported.
//
// The package is pure: no I/O, no clock, and the result does not depend on the order of
// the answers.
package research

// Level is a severity or credibility. "" is unknown and below all others.
type Level string

// The levels.
const (
	Low      Level = "low"
	Medium   Level = "medium"
	High     Level = "high"
	Critical Level = "critical"
)

// rank orders levels. It is negative for invalid ones.
func (l Level) rank() int {
	switch l {
	case "":
		return 0
	case Low:
		return 1
	case Medium:
		return 2
	case High:
		return 3
	case Critical:
		return 4
	default:
		return -1
	}
}

// Provenance is the basis of a statement.
type Provenance string

// The provenances.
const (
	// Verified: the researcher has seen it.
	Verified Provenance = "[VERIFIED]"
	// Cited: a source says so.
	Cited Provenance = "[CITED]"
	// Assumed: everything else.
	Assumed Provenance = "[ASSUMED]"
)

// Output is one researcher's answer. The JSON that Parse reads has the same form.
type Output struct {
	Decisions []Decision `json:"decisions"`
	Risks     []Risk     `json:"risks"`
	Questions []Question `json:"questions"`
	Sources   []Source   `json:"sources"`
	Patterns  []Pattern  `json:"patterns"`
}

type Decision struct {
	Text string `json:"text"`
	// Confidence is from 0 to 1; nil is unknown.
	Confidence *float64   `json:"confidence"`
	Provenance Provenance `json:"provenance"`
}

type Risk struct {
	Text     string `json:"text"`
	Severity Level  `json:"severity"`
}

// Question is an open question.
type Question struct {
	Text string `json:"text"`
}

type Source struct {
	URL         string `json:"url"`
	Title       string `json:"title"`
	Credibility Level  `json:"credibility"`
}

// Pattern is an existing solution, in the project or elsewhere.
type Pattern struct {
	Text       string     `json:"text"`
	Provenance Provenance `json:"provenance"`
}

// Answer is the result of one researcher.
type Answer struct {
	// Index is the perspective's. It is unique.
	Index int
	// Output is nil if the researcher failed.
	Output *Output
	// Failure says why there is no output.
	Failure string
}
