package host

import "github.com/switchyard-dev/switchyard/internal/api"

// Requests and results that embedders and the command line share.
type (
	Decision       = api.Decision
	OpenReview     = api.OpenReview
	Routing        = api.Routing
	Skipped        = api.Skipped
	Unmapped       = api.Unmapped
	Report         = api.Report
	EventRef       = api.EventRef
	Verification   = api.Verification
	Research       = api.Research
	ManualFallback = api.ManualFallback
	SpawnSummary   = api.SpawnSummary
	TaskStatus     = api.TaskStatus
	PolicyUse      = api.PolicyUse
	HistoryEntry   = api.HistoryEntry
	OverrideEntry  = api.OverrideEntry
	LifecycleEntry = api.LifecycleEntry
	TaskDetail     = api.TaskDetail
	TaskResult     = api.TaskResult
	DraftResult    = api.DraftResult
	StampResult    = api.StampResult
	StampEntry     = api.StampEntry
	ImportResult   = api.ImportResult
	Explanation    = api.Explanation
	AnswerEntry    = api.AnswerEntry
	Summary        = api.Summary
	Unreadable     = api.Unreadable
	Health         = api.Health
	Check          = api.Check
	AdapterHealth  = api.AdapterHealth
	AgentHealth    = api.AgentHealth
	Request        = api.Request
	ReportRef      = api.ReportRef
	VerifyRequest  = api.VerifyRequest
	AskRequest     = api.AskRequest
	AnswerRequest  = api.AnswerRequest
	DraftRequest   = api.DraftRequest
	StartRequest   = api.StartRequest
	PhaseRequest   = api.PhaseRequest
	CommitRequest  = api.CommitRequest
	AuditRequest   = api.AuditRequest
	SearchRequest  = api.SearchRequest
	StopRequest    = api.StopRequest
	ResumeRequest  = api.ResumeRequest
)
