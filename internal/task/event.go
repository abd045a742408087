package task

// Kind names a kind of event, as the ledger keeps it.
type Kind string

// The kinds of events.
const (
	KindStarted   Kind = "work-begun"
	KindStamped   Kind = "agent-stamped"
	KindSearched  Kind = "search-recorded"
	KindPrepared  Kind = "phase-done"
	KindRedrafted Kind = "draft-begun"
	KindDrafted   Kind = "draft-verified"
	KindDecided   Kind = "round-decided"
	KindFinished  Kind = "work-committed"
	KindStopped   Kind = "work-stopped"
	KindAnswered  Kind = "answer-given"
	KindResumed   Kind = "work-resumed"
	KindImported  Kind = "task-imported"

	KindSpawnBegun Kind = "spawn-begun"
	KindSpawnEnded Kind = "spawn-ended"
)

// Event is something that happened to a task: one of the types of this file.
// Events are values; nobody modifies what they point to.
type Event interface {
	Kind() Kind
	apply(State) (State, error)
}

// NewEvent returns a pointer to an empty event of a kind, to decode into, or nil for
// a kind that does not exist.
func NewEvent(k Kind) Event {
	switch k {
	case KindStarted:
		return &WorkStarted{}
	case KindStamped:
		return &AgentStamped{}
	case KindSearched:
		return &SearchRecorded{}
	case KindPrepared:
		return &PhaseDone{}
	case KindRedrafted:
		return &DraftBegun{}
	case KindDrafted:
		return &DraftVerified{}
	case KindDecided:
		return &RoundDecided{}
	case KindFinished:
		return &WorkCommitted{}
	case KindStopped:
		return &WorkStopped{}
	case KindAnswered:
		return &QuestionsAnswered{}
	case KindResumed:
		return &WorkResumed{}
	case KindImported:
		return &TaskImported{}
	case KindSpawnBegun:
		return &SpawnBegun{}
	case KindSpawnEnded:
		return &SpawnEnded{}
	default:
		return nil
	}
}

// Force is a person's word that a gate is to be passed.
type Force struct {
	Reason string `json:"reason"`
	By     string `json:"by"`
}

// WorkStarted: the work on a task begins, or begins anew.
type WorkStarted struct {
	Round     int    `json:"round"`
	MaxRounds int    `json:"max_rounds"`
	CustomCap bool   `json:"raised,omitzero"`
	Query     string `json:"query,omitzero"`
	Force     *Force `json:"force,omitzero"`
}

// AgentStamped: an agent is known to have run in a round.
type AgentStamped struct {
	Stamp Stamp `json:"stamp"`
}

// SearchRecorded: an agent is known to have searched.
type SearchRecorded struct {
	Search Search `json:"search"`
}

// PhaseDone: a phase before the draft is done.
type PhaseDone struct {
	Round int   `json:"round"`
	Phase Phase `json:"phase"`
	// Required and Found count the stamps of the phase's agent.
	Required int      `json:"required"`
	Found    int      `json:"found"`
	Tests    []string `json:"tests,omitzero"`
	Force    *Force   `json:"force,omitzero"`
}

// DraftBegun: another draft of the round is about to be verified.
type DraftBegun struct {
	Round int `json:"round"`
	// Same says that only the verification of the draft before ends here.
	Same bool `json:"same,omitzero"`
}

// DraftVerified: a draft is done and its verification is green. A draft whose
// verification is red is Decided at once.
type DraftVerified struct {
	Round        int          `json:"round"`
	Verification Verification `json:"verification"`
	Force        *Force       `json:"force,omitzero"`
}

// RoundDecided: a round was decided.
type RoundDecided struct {
	Round     int `json:"round"`
	NextRound int `json:"next_round"`
	MaxRounds int `json:"max_rounds"`
	// NextAction is the destination and DestinationKind its kind, as the policy
	// declares it: agent, human or terminal.
	NextAction      string `json:"next_action"`
	DestinationKind string `json:"kind"`
	Reason          string `json:"reason"`
	// FindingCount is how many findings were open.
	FindingCount int `json:"finding_count"`
	// Policy decided, as routing@1.2.0.
	Policy string `json:"policy"`
	// Reviewed says that reports were read; else the decision is one on a red
	// verification alone.
	Reviewed bool `json:"reviewed"`
	// Verify is green, red or absent, and Verification what is known of it.
	Verify       string        `json:"verify"`
	Verification *Verification `json:"verification,omitzero"`
	// Final says that a decision to commit commits the task. Where phases are
	// run one by one, the phase commit does.
	Final bool `json:"final,omitzero"`
	// CustomCap says that the cap is this task's own.
	CustomCap bool `json:"raised,omitzero"`
	// Evidence lists the digests of reports that name their round.
	Evidence []string `json:"evidence,omitzero"`
	// Stalled counts the reviews in a row that made no progress.
	Stalled   int        `json:"stalled,omitzero"`
	Questions []Question `json:"questions,omitzero"`
	Force     *Force     `json:"force,omitzero"`
}

// WorkCommitted: the task is committed.
type WorkCommitted struct {
	Round int `json:"round"`
	// Missing lists what should have been there and was forced.
	Missing []string `json:"missing,omitzero"`
	Force   *Force   `json:"force,omitzero"`
}

// WorkStopped: a person, or Switchyard itself, has put the task aside as stuck.
type WorkStopped struct {
	Stop Stop `json:"stop"`
	// ForgetCap says that a cap of the task's own ends here.
	ForgetCap bool `json:"forget_cap,omitzero"`
}

// QuestionsAnswered: questions to the user have their answers.
type QuestionsAnswered struct {
	Round   int      `json:"round"`
	Answers []Answer `json:"answers"`
}

// WorkResumed: a stuck task goes on.
type WorkResumed struct {
	// Round is the round that it goes on in.
	Round     int    `json:"round"`
	MaxRounds int    `json:"max_rounds"`
	Mode      Mode   `json:"mode"`
	Rounds    int    `json:"rounds,omitzero"`
	Reason    string `json:"reason,omitzero"`
	By        string `json:"by"`
}

// TaskImported: the task comes from another tool.
type TaskImported struct {
	// Source says from which, and Digest what was read.
	Source     string      `json:"source"`
	Digest     string      `json:"digest"`
	Round      int         `json:"round"`
	MaxRounds  int         `json:"max_rounds"`
	CustomCap  bool        `json:"raised,omitzero"`
	Stop       *Stop       `json:"stop,omitzero"`
	Violations []Violation `json:"violations,omitzero"`
	// FindingCount is how many findings were open: the task's first review.
	FindingCount int    `json:"finding_count"`
	Overrides    int    `json:"overrides,omitzero"`
	By           string `json:"by"`
}

// SpawnBegun: agents are about to be run.
type SpawnBegun struct {
	Intents []Intent `json:"intents"`
}

// SpawnEnded: a run has ended, or is known to be lost.
type SpawnEnded struct {
	Receipt Receipt `json:"receipt"`
}

func (WorkStarted) Kind() Kind       { return KindStarted }
func (AgentStamped) Kind() Kind      { return KindStamped }
func (SearchRecorded) Kind() Kind    { return KindSearched }
func (PhaseDone) Kind() Kind         { return KindPrepared }
func (DraftBegun) Kind() Kind        { return KindRedrafted }
func (DraftVerified) Kind() Kind     { return KindDrafted }
func (RoundDecided) Kind() Kind      { return KindDecided }
func (WorkCommitted) Kind() Kind     { return KindFinished }
func (WorkStopped) Kind() Kind       { return KindStopped }
func (QuestionsAnswered) Kind() Kind { return KindAnswered }
func (WorkResumed) Kind() Kind       { return KindResumed }
func (TaskImported) Kind() Kind      { return KindImported }
func (SpawnBegun) Kind() Kind        { return KindSpawnBegun }
func (SpawnEnded) Kind() Kind        { return KindSpawnEnded }
