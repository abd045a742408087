package research

// Consensus is what the researchers come to together.
type Consensus struct {
	Meta Meta `json:"meta"`
	// Decisions are those that a majority came to, Flagged all others.
	Decisions []AgreedDecision `json:"decisions"`
	Flagged   []AgreedDecision `json:"flagged"`
	// Risks, Questions and Sources are everybody's.
	Risks     []SeenRisk     `json:"risks"`
	Questions []SeenQuestion `json:"questions"`
	Sources   []SeenSource   `json:"sources"`
	// Patterns are those that at least two saw, or the only one who was asked.
	// Demoted are the others, as assumptions.
	Patterns []SeenPattern `json:"patterns"`
	Demoted  []SeenPattern `json:"demoted"`
	// Silent are the researchers who failed.
	Silent []Silence `json:"silent"`
}

// Meta is the consensus in numbers.
type Meta struct {
	// K is how many were asked, those who failed included.
	K int `json:"k"`
	// AgreementScore is the mean share of the K that came to a decision, over
	// all decisions: from 0 to 1, to three decimals. It is 0 without any.
	AgreementScore float64 `json:"agreement_score"`
	// FlaggedCount is the number of decisions without a majority.
	FlaggedCount int `json:"flagged_count"`
}

// AgreedDecision is a decision and who came to it. SeenBy holds indices in
// rising order, here and below.
type AgreedDecision struct {
	Decision
	Agreement int   `json:"agreement"`
	SeenBy    []int `json:"seen_by"`
}

// SeenRisk is a risk, at the gravest that anybody saw it.
type SeenRisk struct {
	Risk
	SeenBy []int `json:"seen_by"`
}

// SeenQuestion is a question that somebody could not answer.
type SeenQuestion struct {
	Question
	SeenBy []int `json:"seen_by"`
}

// SeenSource is a source, at the most credible that anybody found it.
type SeenSource struct {
	Source
	SeenBy []int `json:"seen_by"`
}

// SeenPattern is a pattern and who saw it.
type SeenPattern struct {
	Pattern
	SeenBy []int `json:"seen_by"`
}

// Silence is a researcher who failed, and why.
type Silence struct {
	Index   int    `json:"index"`
	Failure string `json:"failure"`
}
