package stats

// Stats is what the ledger's sums tell. It is plain data: the caller owns it, and its
// JSON is part of the command line's contract. No number in it is negative.
type Stats struct {
	Ledger Ledger `json:"ledger"`
	Tasks  Tasks  `json:"tasks"`
	// Rounds are decisions. One round of a task has several where it was reviewed
	// several times.
	Rounds Rounds `json:"rounds"`
	// TaskRounds is how many rounds the committed tasks took.
	TaskRounds TaskRounds `json:"task_rounds"`
	Findings   Findings   `json:"findings"`
	Spawns     Spawns     `json:"spawns"`
	Questions  Questions  `json:"questions"`
	// Standing lists the tasks that need somebody: the stuck ones first, and in each
	// status the one that stands there longest.
	Standing []Standing `json:"standing"`
	// Policies decided the rounds, the one that decided last first.
	Policies []Policy `json:"policies"`
	// Days lists the days on which something happened, in their order.
	Days []Day `json:"days"`
}

// Ledger says what the numbers were made of.
type Ledger struct {
	Events int64 `json:"events"`
	// Since and Until are the times of the first and of the last event, in the
	// ledger's form, "" where there is none.
	Since string `json:"since"`
	Until string `json:"until"`
}

// Count is how often something was counted under a name.
type Count struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// Tasks counts the tasks by their status.
type Tasks struct {
	Total     int64 `json:"total"`
	Open      int64 `json:"open"`
	Waiting   int64 `json:"waiting"`
	Stuck     int64 `json:"stuck"`
	Committed int64 `json:"committed"`
}

// Rounds counts decisions.
type Rounds struct {
	Total int64 `json:"total"`
	// NextActions has them by where they went, the most frequent first.
	NextActions []Count `json:"next_actions"`
	// Forced counts the gates that somebody forced.
	Forced int64 `json:"forced_gates"`
}

// TaskRounds is how many rounds tasks took until they were committed.
type TaskRounds struct {
	Spread
	// Histogram counts the tasks by their rounds, the fewest rounds first.
	Histogram []RoundCount `json:"histogram"`
}

// RoundCount is how many tasks took that many rounds. What is more than the scale's
// greatest value counts as that (tally.Scale).
type RoundCount struct {
	Rounds int   `json:"rounds"`
	Tasks  int64 `json:"tasks"`
}

// Findings counts those of all decisions.
type Findings struct {
	Total int64 `json:"total"`
	// Categories, Severities and Routes have the most frequent first.
	Categories []Count `json:"categories"`
	Severities []Count `json:"severities"`
	Routes     []Count `json:"routes"`
	// Progress compares them with the earlier reviews of their tasks: new, repeat,
	// reopened and resolved. Stalled counts the reviews without progress.
	Progress []Count `json:"progress"`
	Stalled  int64   `json:"rounds_without_progress"`
}

// Spawns counts the runs of agents that have ended.
type Spawns struct {
	Usage
	// Agents has those who cost most first, then those who ran most often.
	Agents []Agent `json:"agents"`
	// Run is how long they ran, in seconds.
	Run Spread `json:"run_seconds"`
}

// Agent is what one agent was used for.
type Agent struct {
	Agent string `json:"agent"`
	Usage
	// Outcomes has the most frequent first.
	Outcomes []Count `json:"outcomes"`
}

// Usage adds up runs of agents.
type Usage struct {
	Spawns    int64 `json:"spawns"`
	Fallbacks int64 `json:"fallbacks"`
	Retries   int64 `json:"retries"`
	// FallbackRate is Fallbacks / Spawns, 0 where there are none.
	FallbackRate float64 `json:"fallback_rate"`
	TokensIn     int64   `json:"tokens_in"`
	TokensOut    int64   `json:"tokens_out"`
	TokensCached int64   `json:"tokens_cached"`
	// MicroDollars is what they cost, in millionths of a dollar.
	MicroDollars int64 `json:"cost_microdollars"`
}

// Questions counts those to the user.
type Questions struct {
	Asked int64 `json:"asked"`
	// Wait is how long the answered ones waited, in seconds.
	Wait Spread `json:"wait_seconds"`
}

// Standing is a task that needs somebody.
type Standing struct {
	Task string `json:"task"`
	// Status is stuck or waiting.
	Status string `json:"status"`
	// Since is when it came to stand there, in the ledger's form, and Why a word
	// for the reason.
	Since string `json:"since"`
	Why   string `json:"why"`
}

// Policy is one that decided rounds.
type Policy struct {
	Version   string `json:"version"`
	Digest    string `json:"digest"`
	ADR       string `json:"adr"`
	Decisions int64  `json:"decisions"`
	// LastAt is when it decided last, and AdoptedAt when the project adopted it
	// last, "" where it never did.
	LastAt    string `json:"last_at"`
	AdoptedAt string `json:"adopted_at"`
}

// Day is what happened on a day.
type Day struct {
	// Day is a date in UTC, as 2006-01-02.
	Day string `json:"day"`
	// NextActions counts its decisions, the most frequent first.
	NextActions  []Count `json:"next_actions"`
	Spawns       int64   `json:"spawns"`
	Fallbacks    int64   `json:"fallbacks"`
	MicroDollars int64   `json:"cost_microdollars"`
	Committed    int64   `json:"committed"`
	Stuck        int64   `json:"stuck"`
}

// Empty reports whether nothing was ever recorded.
func (s Stats) Empty() bool { return s.Ledger.Events == 0 }
