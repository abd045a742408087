package research

// Consensus is the merged result.
type Consensus struct {
	Meta Meta `json:"meta"`
	// Decisions have a majority, Flagged do not.
	Decisions []AgreedDecision `json:"decisions"`
	Flagged   []AgreedDecision `json:"flagged"`
	// Risks, Questions and Sources are the union of all.
	Risks     []SeenRisk     `json:"risks"`
	Questions []SeenQuestion `json:"questions"`
	Sources   []SeenSource   `json:"sources"`
	// Patterns were seen by at least two researchers, or by the only one asked. Demoted
	// are the others, as assumptions.
	Patterns []SeenPattern `json:"patterns"`
	Demoted  []SeenPattern `json:"demoted"`
	// Silent are the researchers that failed.
	Silent []Silence `json:"silent"`
}

// Meta has the numbers of the consensus.
type Meta struct {
	// K is the number of researchers asked, including those that failed.
	K int `json:"k"`
	// AgreementScore is the mean share of the K researchers that made a decision, over
	// all decisions: from 0 to 1, to three decimals, 0 without decisions.
	AgreementScore float64 `json:"agreement_score"`
	// FlaggedCount is the number of decisions without a majority.
	FlaggedCount int `json:"flagged_count"`
}

// AgreedDecision is a decision with the researchers that made it. SeenBy has sorted
// indexes, here and below.
type AgreedDecision struct {
	Decision
	Agreement int   `json:"agreement"`
	SeenBy    []int `json:"seen_by"`
}

// SeenRisk is a risk with the highest severity that any researcher gave.
type SeenRisk struct {
	Risk
	SeenBy []int `json:"seen_by"`
}

type SeenQuestion struct {
	Question
	SeenBy []int `json:"seen_by"`
}

// SeenSource is a source with the highest credibility that any researcher gave.
type SeenSource struct {
	Source
	SeenBy []int `json:"seen_by"`
}

type SeenPattern struct {
	Pattern
	SeenBy []int `json:"seen_by"`
}

// Silence is a researcher that failed.
type Silence struct {
	Index   int    `json:"index"`
	Failure string `json:"failure"`
}
