package task

import "github.com/switchyard-dev/switchyard/internal/confinement"

// Kind is the kind of an event in the ledger.
type Kind string

// The kinds of events.
const (
	KindStarted   Kind = "work-begun"
	KindAttested  Kind = "agent-stamped"
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

	KindBranched      Kind = "branch-created"
	KindAsked         Kind = "question-asked"
	KindParked        Kind = "task-parked"
	KindUnparked      Kind = "parking-ended"
	KindCommitCreated Kind = "commit-created"
	KindMergeBegun    Kind = "merge-begun"
	KindMergeEnded    Kind = "merge-ended"

	KindSpawnBegun Kind = "spawn-begun"
	KindSpawnEnded Kind = "spawn-ended"
)

// Event is one of the event types of this package. Events are values: do not modify the
// data that they point to.
type Event interface {
	Kind() Kind
	apply(State) (State, error)
}

type kindOfEvent struct {
	kind    Kind
	empty   func() Event
	follows []Status // the statuses in which an event may follow
}

// kinds are all kinds of events, in the order of the table of docs/tasks.md. The compiler
// initializes it, so that it costs no time at the start of the program.
var kinds = []kindOfEvent{
	// StartWork rejects it for a task under way.
	{KindStarted, func() Event { return new(WorkStarted) }, []Status{NoTask, Open, Waiting, Parked, Stuck, Committed}},
	{KindBranched, func() Event { return new(BranchCreated) }, []Status{Open}},
	{KindAttested, func() Event { return new(AgentAttested) }, []Status{NoTask, Open, Waiting, Parked, Stuck}},
	{KindSearched, func() Event { return new(SearchRecorded) }, []Status{NoTask, Open, Waiting, Parked, Stuck}},
	{KindPrepared, func() Event { return new(PhaseDone) }, []Status{NoTask, Open}},
	{KindRedrafted, func() Event { return new(DraftBegun) }, []Status{NoTask, Open}},
	{KindDrafted, func() Event { return new(DraftVerified) }, []Status{NoTask, Open}},
	{KindDecided, func() Event { return new(RoundDecided) }, []Status{NoTask, Open}},
	{KindFinished, func() Event { return new(WorkCommitted) }, []Status{NoTask, Open}},
	{KindStopped, func() Event { return new(WorkStopped) }, []Status{NoTask, Open, Waiting, Parked, Stuck, Merging}},
	{KindAsked, func() Event { return new(QuestionAsked) }, []Status{Open}},
	{KindAnswered, func() Event { return new(QuestionsAnswered) }, []Status{Waiting}},
	{KindParked, func() Event { return new(TaskParked) }, []Status{Open}},
	{KindUnparked, func() Event { return new(ParkingEnded) }, []Status{Parked}},
	{KindResumed, func() Event { return new(WorkResumed) }, []Status{Stuck}},
	{KindImported, func() Event { return new(TaskImported) }, []Status{NoTask}},
	{KindCommitCreated, func() Event { return new(CommitCreated) }, []Status{Committed}},
	// In a stuck task only if its merge failed.
	{KindMergeBegun, func() Event { return new(MergeBegun) }, []Status{Committed, Stuck}},
	{KindMergeEnded, func() Event { return new(MergeEnded) }, []Status{Merging}},
	{KindSpawnBegun, func() Event { return new(SpawnBegun) }, []Status{NoTask, Open}},
	// RecordReceipt rejects it for a run that is not open.
	{KindSpawnEnded, func() Event { return new(SpawnEnded) }, []Status{NoTask, Open, Waiting, Parked, Stuck, Committed, Merging}},
}

// NewEvent returns a pointer to an empty event of a kind, to decode into, or nil for an
// unknown kind.
func NewEvent(k Kind) Event {
	for _, row := range kinds {
		if row.kind == k {
			return row.empty()
		}
	}
	return nil
}

// Force is a person's order to pass a gate.
type Force struct {
	Reason string `json:"reason"`
	By     string `json:"by"`
}

// WorkStarted starts or restarts a task.
type WorkStarted struct {
	Round     int    `json:"round"`
	MaxRounds int    `json:"max_rounds"`
	HardCap   int    `json:"hard_cap,omitzero"`
	CustomCap bool   `json:"raised,omitzero"`
	Query     string `json:"query,omitzero"`
	// MustVerify is set if the task is not committed without a green verification.
	MustVerify bool `json:"must_verify,omitzero"`
	// Branch is the new branch to work on, or nil.
	Branch *Branch `json:"branch,omitzero"`
	Force  *Force  `json:"force,omitzero"`
}

// AgentAttested records that an agent ran in a round.
type AgentAttested struct {
	Attestation Attestation `json:"stamp"`
}

// SearchRecorded records that an agent searched.
type SearchRecorded struct {
	Search Search `json:"search"`
}

// PhaseDone ends a phase before the draft.
type PhaseDone struct {
	Round int   `json:"round"`
	Phase Phase `json:"phase"`
	// Required and Found count the attestations of the phase's agent.
	Required int      `json:"required"`
	Found    int      `json:"found"`
	Tests    []string `json:"tests,omitzero"`
	Force    *Force   `json:"force,omitzero"`
}

// DraftBegun announces the verification of another draft of the round.
type DraftBegun struct {
	Round int `json:"round"`
	// Same is set if the draft is the previous one: only its verification is dropped.
	Same bool `json:"same,omitzero"`
}

// DraftVerified records a draft with a green verification. A red one leads to
// RoundDecided at once.
type DraftVerified struct {
	Round        int          `json:"round"`
	Verification Verification `json:"verification"`
	Force        *Force       `json:"force,omitzero"`
}

// RoundDecided records the decision of a round.
type RoundDecided struct {
	Round     int `json:"round"`
	NextRound int `json:"next_round"`
	MaxRounds int `json:"max_rounds"`
	HardCap   int `json:"hard_cap,omitzero"`
	// NextAction is the destination, and DestinationKind its kind in the policy: agent,
	// human or terminal.
	NextAction      string `json:"next_action"`
	DestinationKind string `json:"kind"`
	Reason          string `json:"reason"`
	// FindingCount is the number of open findings.
	FindingCount int `json:"finding_count"`
	// Policy is the policy that decided, such as routing@1.2.0.
	Policy string `json:"policy"`
	// Reviewed is set if reports were read; otherwise the decision is based on a red
	// verification alone.
	Reviewed bool `json:"reviewed"`
	// Verify is green, red or absent, and Verification has the details.
	Verify       string        `json:"verify"`
	Verification *Verification `json:"verification,omitzero"`
	// Final is set if a decision to commit commits the task. If phases are run one by
	// one, the commit phase does.
	Final bool `json:"final,omitzero"`
	// CustomCap is set if MaxRounds was set for this task.
	CustomCap bool `json:"raised,omitzero"`
	// Evidence lists the digests of reports that name their round.
	Evidence []string `json:"evidence,omitzero"`
	// Stalled counts the last reviews in a row without progress.
	Stalled int `json:"stalled,omitzero"`
	// FirstTime counts the first-time findings, and Deferred the deferred ones. For
	// InducedRounds see Progress.
	FirstTime     int `json:"first_time,omitzero"`
	InducedRounds int `json:"induced_rounds,omitzero"`
	Deferred      int `json:"deferred,omitzero"`
	// Bar is the severity from which findings are open, "" for all.
	Bar string `json:"bar,omitzero"`
	// Confinement is the lowest level at which a process of ours made a report of the round,
	// "" if no such process did.
	Confinement confinement.Level `json:"confinement,omitzero"`
	Questions   []Question        `json:"questions,omitzero"`
	Force       *Force            `json:"force,omitzero"`
	// Tree is the git tree of the draft, if the task has its own branch.
	Tree string `json:"tree,omitzero"`
	// Draft is the git tree of the reviewed draft, as it is on disk and not as git would
	// commit it; "" if it was not stored.
	Draft string `json:"draft,omitzero"`
}

// WorkCommitted commits the task.
type WorkCommitted struct {
	Round int `json:"round"`
	// Missing lists the preconditions that were forced.
	Missing []string `json:"missing,omitzero"`
	Force   *Force   `json:"force,omitzero"`
}

// WorkStopped makes a task stuck, by a person or by Switchyard.
type WorkStopped struct {
	Stop Stop `json:"stop"`
	// ForgetCap drops the task's own cap.
	ForgetCap bool `json:"forget_cap,omitzero"`
}

// QuestionsAnswered records answers of the user.
type QuestionsAnswered struct {
	Round   int      `json:"round"`
	Answers []Answer `json:"answers"`
}

// WorkResumed continues a stuck task.
type WorkResumed struct {
	// Round is the round in which it continues.
	Round     int    `json:"round"`
	MaxRounds int    `json:"max_rounds"`
	HardCap   int    `json:"hard_cap,omitzero"`
	Mode      Mode   `json:"mode"`
	Rounds    int    `json:"rounds,omitzero"`
	Reason    string `json:"reason,omitzero"`
	By        string `json:"by"`
}

// TaskImported creates a task from a task of another tool.
type TaskImported struct {
	// Source is the tool, and Digest the digest of its file.
	Source     string      `json:"source"`
	Digest     string      `json:"digest"`
	Round      int         `json:"round"`
	MaxRounds  int         `json:"max_rounds"`
	HardCap    int         `json:"hard_cap,omitzero"`
	CustomCap  bool        `json:"raised,omitzero"`
	Stop       *Stop       `json:"stop,omitzero"`
	Violations []Violation `json:"violations,omitzero"`
	// FindingCount is the number of open findings, which count as the first review.
	FindingCount int    `json:"finding_count"`
	Overrides    int    `json:"overrides,omitzero"`
	By           string `json:"by"`
}

// SpawnBegun announces runs of agents.
type SpawnBegun struct {
	Intents []Intent `json:"intents"`
}

// SpawnEnded ends a run, which may be lost.
type SpawnEnded struct {
	Receipt Receipt `json:"receipt"`
}

func (WorkStarted) Kind() Kind       { return KindStarted }
func (AgentAttested) Kind() Kind     { return KindAttested }
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
func (BranchCreated) Kind() Kind     { return KindBranched }
func (QuestionAsked) Kind() Kind     { return KindAsked }
func (TaskParked) Kind() Kind        { return KindParked }
func (ParkingEnded) Kind() Kind      { return KindUnparked }
func (CommitCreated) Kind() Kind     { return KindCommitCreated }
func (MergeBegun) Kind() Kind        { return KindMergeBegun }
func (MergeEnded) Kind() Kind        { return KindMergeEnded }
func (SpawnBegun) Kind() Kind        { return KindSpawnBegun }
func (SpawnEnded) Kind() Kind        { return KindSpawnEnded }
