// Package stats computes statistics for people from the ledger's counters: a value that a
// command prints, and a self-contained HTML page.
//
// All of it follows from the counters (internal/counters), so the Summary of a ledger with
// a million rounds takes no longer than that of one with a thousand. The package uses no
// clock, file or terminal.
package stats

// Stats are the statistics of a ledger. They are plain data: the caller owns them, and
// their JSON is part of the command line's contract. No number is negative.
type Stats struct {
	Ledger Ledger `json:"ledger"`
	Tasks  Tasks  `json:"tasks"`
	// Rounds are decisions. A round of a task has several if it was reviewed several
	// times.
	Rounds Rounds `json:"rounds"`
	// TaskRounds is the number of rounds of the committed tasks.
	TaskRounds TaskRounds `json:"task_rounds"`
	Findings   Findings   `json:"findings"`
	Spawns     Spawns     `json:"spawns"`
	Questions  Questions  `json:"questions"`
	// Standing lists the stuck tasks and then the waiting ones, the longest first.
	Standing []Standing `json:"standing"`
	// Policies are the policies that decided rounds, the latest first.
	Policies []Policy `json:"policies"`
	// Days lists the days with events, in order.
	Days []Day `json:"days"`
}

// Ledger describes the ledger behind the numbers.
type Ledger struct {
	Events int64 `json:"events"`
	// Since and Until are the times of the first and of the last event, in the ledger's
	// format, "" without events.
	Since string `json:"since"`
	Until string `json:"until"`
}

// Count is the number of things counted under a name.
type Count struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// Tasks counts the tasks by status.
type Tasks struct {
	Total     int64 `json:"total"`
	Open      int64 `json:"open"`
	Waiting   int64 `json:"waiting"`
	Stuck     int64 `json:"stuck"`
	Parked    int64 `json:"parked"`
	Merging   int64 `json:"merging"`
	Committed int64 `json:"committed"`
	// Bars counts the commits by the task's bar, in descending order.
	Bars []Count `json:"commit_bars"`
}

// Rounds counts decisions.
type Rounds struct {
	Total int64 `json:"total"`
	// NextActions counts the decisions by next action, in descending order.
	NextActions []Count `json:"next_actions"`
	// Forced counts the forced gates.
	Forced int64 `json:"forced_gates"`
}

// TaskRounds is the number of rounds that tasks took until they were committed.
type TaskRounds struct {
	Spread
	// Histogram counts the tasks by their rounds, in ascending order of rounds.
	Histogram []RoundCount `json:"histogram"`
}

// RoundCount is the number of tasks that took that many rounds. Numbers beyond the
// scale's maximum count as the maximum (counters.Scale).
type RoundCount struct {
	Rounds int   `json:"rounds"`
	Tasks  int64 `json:"tasks"`
}

// Findings counts the findings of all decisions.
type Findings struct {
	Total int64 `json:"total"`
	// Categories, Severities and Routes are in descending order of their counts.
	Categories []Count `json:"categories"`
	Severities []Count `json:"severities"`
	Routes     []Count `json:"routes"`
	// Progress compares findings with the earlier reviews of their tasks: new, repeat,
	// reopened and resolved. Stalled counts the reviews without progress.
	Progress []Count `json:"progress"`
	Stalled  int64   `json:"rounds_without_progress"`
	// Deferred counts the deferred findings by severity, in descending order. Total does not
	// include them. Induced counts the findings, also deferred ones, that a fix induced.
	Deferred []Count `json:"deferred"`
	Induced  int64   `json:"induced"`
}

// Spawns counts the agent runs that have ended.
type Spawns struct {
	Usage
	// Agents are ordered by cost, then by runs, both descending.
	Agents []Agent `json:"agents"`
	// Run is the duration of runs, in seconds.
	Run Spread `json:"run_seconds"`
}

// Agent is the usage of one agent.
type Agent struct {
	Agent string `json:"agent"`
	Usage
	// Outcomes is in descending order of counts.
	Outcomes []Count `json:"outcomes"`
}

// Usage adds up runs of agents.
type Usage struct {
	Spawns    int64 `json:"spawns"`
	Fallbacks int64 `json:"fallbacks"`
	Retries   int64 `json:"retries"`
	// FallbackRate is Fallbacks / Spawns, 0 without spawns.
	FallbackRate float64 `json:"fallback_rate"`
	TokensIn     int64   `json:"tokens_in"`
	TokensOut    int64   `json:"tokens_out"`
	TokensCached int64   `json:"tokens_cached"`
	// MicroDollars is the cost, in millionths of a dollar.
	MicroDollars int64 `json:"cost_microdollars"`
}

// Questions counts the questions to the user.
type Questions struct {
	Asked int64 `json:"asked"`
	// Wait is how long the answered questions waited, in seconds.
	Wait Spread `json:"wait_seconds"`
}

// Standing is a stuck or waiting task.
type Standing struct {
	Task string `json:"task"`
	// Status is stuck or waiting.
	Status string `json:"status"`
	// Since is the time when it got this status, in the ledger's format, and Why the reason
	// in a word.
	Since string `json:"since"`
	Why   string `json:"why"`
}

// Policy is a policy that decided rounds.
type Policy struct {
	Version   string `json:"version"`
	Digest    string `json:"digest"`
	ADR       string `json:"adr"`
	Decisions int64  `json:"decisions"`
	// LastAt is the time of its last decision, and AdoptedAt of its last adoption, "" for
	// never.
	LastAt    string `json:"last_at"`
	AdoptedAt string `json:"adopted_at"`
}

// Day has the numbers of one day.
type Day struct {
	// Day is a date in UTC, as 2006-01-02.
	Day string `json:"day"`
	// NextActions counts the day's decisions, in descending order.
	NextActions  []Count `json:"next_actions"`
	Spawns       int64   `json:"spawns"`
	Fallbacks    int64   `json:"fallbacks"`
	MicroDollars int64   `json:"cost_microdollars"`
	Committed    int64   `json:"committed"`
	Stuck        int64   `json:"stuck"`
}

// Empty reports whether the ledger has no events.
func (s Stats) Empty() bool { return s.Ledger.Events == 0 }
