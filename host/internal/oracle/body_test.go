package oracle

// body is the part of an event's body that a recount reads, for all kinds of events.
// Missing fields stay empty.
type body struct {
	Event    event    `json:"event"`
	Decision decision `json:"decision"`
	Spawn    *spawn   `json:"spawn"`
	Timing   *timing  `json:"timing"`
	Limits   *limits  `json:"limits"`
	// Budget is the unit of the budget that stopped a task.
	Budget string `json:"budget"`

	// Policy is set in the chain of policies. Categories and Destinations are set if the
	// event stores it.
	Policy       policy   `json:"policy"`
	Categories   []string `json:"categories"`
	Destinations []string `json:"destinations"`
	// Code and Plugin are set in the chain of failures.
	Code   string `json:"code"`
	Plugin string `json:"plugin"`
}

// event has the relevant fields of all kinds of events.
type event struct {
	Round     int64 `json:"round"`
	NextRound int64 `json:"next_round"`

	NextAction string     `json:"next_action"`
	Kind       string     `json:"kind"`
	Reason     string     `json:"reason"`
	Reviewed   bool       `json:"reviewed"`
	Verify     string     `json:"verify"`
	Final      bool       `json:"final"`
	Questions  []question `json:"questions"`
	Bar        string     `json:"bar"`

	Answers []answer  `json:"answers"`
	Outcome string    `json:"outcome"`
	Force   *struct{} `json:"force"`
	Phase   string    `json:"phase"`
	Mode    string    `json:"mode"`
	Stop    *stop     `json:"stop"`

	Intents []intent `json:"intents"`
	Receipt receipt  `json:"receipt"`
}

type question struct {
	Fingerprint string `json:"fingerprint"`
	Budget      string `json:"budget"`
	Churn       bool   `json:"churn"`
}

type answer struct {
	Fingerprint string `json:"fingerprint"`
	Text        string `json:"text"`
}

type stop struct {
	Reason string `json:"reason"`
	By     string `json:"by"`
}

type decision struct {
	NextAction string `json:"next_action"`
	NoProgress bool   `json:"no_progress"`
	Policy     policy `json:"policy"`
	Findings   []struct {
		Category string `json:"category"`
		Severity string `json:"severity"`
		Route    string `json:"route"`
	} `json:"findings"`
	Induced  int64 `json:"induced_count"`
	Deferred []struct {
		Severity string `json:"severity"`
	} `json:"deferred"`
	Input struct {
		New      int64 `json:"new_count"`
		Repeat   int64 `json:"repeat_count"`
		Reopened int64 `json:"reopened_count"`
		Resolved int64 `json:"resolved_count"`
	} `json:"input"`
}

type policy struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
	ADR     string `json:"adr"`
}

// timing is in microseconds.
type timing struct {
	Policy  *int64 `json:"policy_us"`
	Plugins []struct {
		Plugin string `json:"plugin"`
		Micros int64  `json:"us"`
	} `json:"plugins"`
}

type limits struct {
	Task   amount `json:"task"`
	Rounds int64  `json:"rounds"`
}

type intent struct {
	Run     string `json:"run"`
	Role    string `json:"role"`
	Attempt int64  `json:"attempt"`
	Why     string `json:"why"`
	Agent   string `json:"agent"`
	Adapter string `json:"adapter"`
	Reserve amount `json:"reserve"`
}

type receipt struct {
	Run     string   `json:"run"`
	Outcome string   `json:"outcome"`
	Class   string   `json:"class"`
	Next    string   `json:"next"`
	Used    amount   `json:"used"`
	Unknown []string `json:"unknown"`

	Spawn       *struct{} `json:"spawn"`
	Confinement string    `json:"confinement"`
}

// spawn is the part of a run's record that the agent reported; null is unknown.
type spawn struct {
	In           *int64 `json:"tokens_in"`
	Out          *int64 `json:"tokens_out"`
	Cached       *int64 `json:"tokens_cached"`
	MicroDollars *int64 `json:"cost_microdollars"`
}
