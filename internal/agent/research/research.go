// Package research merges the answers of several researchers to one question.
//
// All researchers get the same question, with different methods. Statements with enough
// agreement are accepted, and the others are marked. A failed researcher is reported.
//
// The package is pure: no I/O, no clock, and the result does not depend on the order of
// the answers.
package research

import "slices"

// Level is a severity or credibility. "" is unknown, and below all others.
type Level string

// The levels.
const (
	Low      Level = "low"
	Medium   Level = "medium"
	High     Level = "high"
	Critical Level = "critical"
)

// rank returns the position in the order of levels. It is negative for an invalid level.
func (l Level) rank() int { return slices.Index([]Level{"", Low, Medium, High, Critical}, l) }

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

// Seen is the part of an entry that Merge adds.
type Seen struct {
	// SeenBy has the sorted indexes of the researchers with this entry.
	SeenBy []int `json:"seen_by"`
}

func (s *Seen) seen() *Seen { return s }

// Decision is a decision. Merge sets Agreement, the number of researchers that made it.
type Decision struct {
	Text string `json:"text"`
	// Confidence is from 0 to 1; nil is unknown.
	Confidence *float64   `json:"confidence"`
	Provenance Provenance `json:"provenance"`
	Agreement  int        `json:"agreement"`
	Seen
}

type Risk struct {
	Text     string `json:"text"`
	Severity Level  `json:"severity"`
	Seen
}

// Question is an open question.
type Question struct {
	Text string `json:"text"`
	Seen
}

type Source struct {
	URL         string `json:"url"`
	Title       string `json:"title"`
	Credibility Level  `json:"credibility"`
	Seen
}

// Pattern is an existing solution, in the project or elsewhere.
type Pattern struct {
	Text       string     `json:"text"`
	Provenance Provenance `json:"provenance"`
	Seen
}

// Answer is the result of one researcher.
type Answer struct {
	// Index is the index of the researcher's perspective. It is unique.
	Index int
	// Output is nil if the researcher failed.
	Output *Output
	// Failure is the reason why there is no output.
	Failure string
}

// Consensus is the merged result.
type Consensus struct {
	Meta Meta `json:"meta"`
	// Decisions have a majority. Flagged decisions do not.
	Decisions []Decision `json:"decisions"`
	Flagged   []Decision `json:"flagged"`
	// Risks, Questions and Sources are the union over all researchers, each with its highest
	// level.
	Risks     []Risk     `json:"risks"`
	Questions []Question `json:"questions"`
	Sources   []Source   `json:"sources"`
	// Patterns were seen by at least two researchers, or by the only one asked. Demoted has
	// the other patterns, as assumptions.
	Patterns []Pattern `json:"patterns"`
	Demoted  []Pattern `json:"demoted"`
	// Silent are the researchers that failed.
	Silent []Silence `json:"silent"`
}

// Meta has the numbers of the consensus.
type Meta struct {
	// K is the number of researchers asked, including failed ones.
	K int `json:"k"`
	// AgreementScore is the mean share of the K researchers that made a decision, over
	// all decisions: from 0 to 1, to three decimals, 0 without decisions.
	AgreementScore float64 `json:"agreement_score"`
	// FlaggedCount is the number of decisions without a majority.
	FlaggedCount int `json:"flagged_count"`
}

// Silence is a researcher that failed.
type Silence struct {
	Index   int    `json:"index"`
	Failure string `json:"failure"`
}

const maxAnswers = 5

// Perspective is one researcher's method.
type Perspective struct {
	// Index counts from 1.
	Index int
	// Nudge is a sentence for its prompt.
	Nudge string
}

// Perspectives returns the first k of five perspectives. k is clamped to the range from 1 to
// 5.
//
// A nudge is about method and never about a topic: researchers of different parts of a
// question cannot agree.
func Perspectives(k int) []Perspective {
	nudges := [maxAnswers]string{
		"Do not trust your memory: state only what you have read, in this session, in the code or in a source that you name.",
		"Before you decide, write down every way to do it, the simple ones too, and give the reason for each one that you reject.",
		"Take the first answer that comes to mind and try to refute it: look for a case in which it is wrong before you look for support.",
		"Report a point as a decision only if you checked it yourself. Report every other point as a question.",
		"Assume that the preferred way was taken and failed a month later: find the most probable cause, and what would have shown it in time.",
	}
	k = min(max(k, 1), maxAnswers)
	all := make([]Perspective, k)
	for i := range all {
		all[i] = Perspective{Index: i + 1, Nudge: nudges[i]}
	}
	return all
}
