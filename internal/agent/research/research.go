// Package research merges what several researchers found out about one question.
//
// Each is asked the same, but for a nudge on how to go about it. What enough of
// them say on their own is accepted; what one says alone is kept and marked. A
// researcher who failed is reported, and takes nothing away from the others.
//
// The package is pure: no I/O, no clock, and the same voices make the same
// consensus in whichever order they come.
package research

// Level is how grave or how credible something is. Empty is unknown
// and below all others.
type Level string

// The levels.
const (
	Low      Level = "low"
	Medium   Level = "medium"
	High     Level = "high"
	Critical Level = "critical"
)

// rank orders levels. It is negative for what is none.
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

// Provenance is what a statement rests on.
type Provenance string

// The provenances.
const (
	// Verified: the researcher has looked at the thing itself.
	Verified Provenance = "[VERIFIED]"
	// Cited: a source says so.
	Cited Provenance = "[CITED]"
	// Assumed: nobody has looked. It is what everything else is taken for.
	Assumed Provenance = "[ASSUMED]"
)

// Output is what one researcher found out. The JSON that Parse reads has the
// same shape.
type Output struct {
	Decisions []Decision `json:"decisions"`
	Risks     []Risk     `json:"risks"`
	Questions []Question `json:"questions"`
	Sources   []Source   `json:"sources"`
	Patterns  []Pattern  `json:"patterns"`
}

// Decision is what to do, according to one researcher.
type Decision struct {
	Text string `json:"text"`
	// Confidence is how sure the researcher is, from 0 to 1; nil is unknown.
	Confidence *float64   `json:"confidence"`
	Provenance Provenance `json:"provenance"`
}

// Risk is what may go wrong.
type Risk struct {
	Text     string `json:"text"`
	Severity Level  `json:"severity"`
}

// Question is what nobody could find out.
type Question struct {
	Text string `json:"text"`
}

// Source is where something was read.
type Source struct {
	URL         string `json:"url"`
	Title       string `json:"title"`
	Credibility Level  `json:"credibility"`
}

// Pattern is how it is done elsewhere, in the project or outside.
type Pattern struct {
	Text       string     `json:"text"`
	Provenance Provenance `json:"provenance"`
}

// Voice is one researcher who was asked.
type Voice struct {
	// Index is the perspective's, and no other voice has it.
	Index int
	// Output is what the researcher found out, nil if it failed.
	Output *Output
	// Failure says why there is no output. It may be anything that is one line
	// in a report.
	Failure string
}
