package errs

// The codes of Switchyard's errors, by the package that returns them. docs/errors.md
// says what each means and what to do. A released code is never renamed or reused.
const (
	// cmd/switchyard
	ToolUseLogInvalid                                Code = "tool-use-log-invalid"
	LoopStuckInvalidTaskID                           Code = "loop-stuck-invalid-task-id"
	LoopStuckMissingReason                           Code = "loop-stuck-missing-reason"
	NubosloopAuditInvalidTaskID                      Code = "nubosloop-audit-invalid-task-id"
	NubosloopAuditInvalidAgent                       Code = "nubosloop-audit-invalid-agent"
	NubosloopAuditInvalidLog                         Code = "nubosloop-audit-invalid-log"
	LoopAuditAgentIsModule                           Code = "loop-audit-agent-is-module"
	LoopAuditMissingLog                              Code = "loop-audit-missing-log"
	LoopAuditInvalidLog                              Code = "loop-audit-invalid-log"
	LoopRunRoundVerifyOutputTraversal                Code = "loop-run-round-verify-output-traversal"
	LoopRunRoundVerifyOutputUnreadable               Code = "loop-run-round-verify-output-unreadable"
	LoopRunRoundCriticOutputsPathTraversal           Code = "loop-run-round-critic-outputs-path-traversal"
	LoopRunRoundCriticOutputsPathUnreadable          Code = "loop-run-round-critic-outputs-path-unreadable"
	LoopRunRoundCriticOutputsPathInvalidJSON         Code = "loop-run-round-critic-outputs-path-invalid-json"
	LoopRunRoundCriticOutputsPathInvalidShape        Code = "loop-run-round-critic-outputs-path-invalid-shape"
	LoopRunRoundPostCriticsConflictingOutputs        Code = "loop-run-round-post-critics-conflicting-outputs"
	LoopRunRoundPostCriticsMissingOutputs            Code = "loop-run-round-post-critics-missing-outputs"
	LoopRunRoundPostCriticsMissingOutputsInvalidJSON Code = "loop-run-round-post-critics-missing-outputs-invalid-json"
	LoopRunRoundPostCriticsInvalidOutputs            Code = "loop-run-round-post-critics-invalid-outputs"
	LoopRunRoundPostCriticsEmptyOutputs              Code = "loop-run-round-post-critics-empty-outputs"
	LoopRunRoundStuckConflictingFindings             Code = "loop-run-round-stuck-conflicting-findings"
	LoopRunRoundStuckInvalidFindings                 Code = "loop-run-round-stuck-invalid-findings"
	LoopRunRoundInvalidTaskID                        Code = "loop-run-round-invalid-task-id"
	LoopRunRoundMissingPhase                         Code = "loop-run-round-missing-phase"
	LoopRunRoundInvalidPhase                         Code = "loop-run-round-invalid-phase"
	LoopRunRoundPreflightMissingQuery                Code = "loop-run-round-preflight-missing-query"
	LoopRunRoundPostExecutorMissingVerify            Code = "loop-run-round-post-executor-missing-verify"
	SpawnHeadlessReentrant                           Code = "spawn-headless-reentrant"
	SpawnHeadlessDepthExceeded                       Code = "spawn-headless-depth-exceeded"
	SpawnHeadlessMissingAgent                        Code = "spawn-headless-missing-agent"
	SpawnHeadlessMissingPromptPath                   Code = "spawn-headless-missing-prompt-path"
	SpawnHeadlessMissingOutputPath                   Code = "spawn-headless-missing-output-path"
	SpawnHeadlessInvalidTimeout                      Code = "spawn-headless-invalid-timeout"
	SpawnHeadlessInvalidAgentName                    Code = "spawn-headless-invalid-agent-name"
	SpawnHeadlessAgentNotFound                       Code = "spawn-headless-agent-not-found"
	SpawnHeadlessPathTraversal                       Code = "spawn-headless-path-traversal"
	SpawnHeadlessPromptUnreadable                    Code = "spawn-headless-prompt-unreadable"
	SpawnHeadlessLocked                              Code = "spawn-headless-locked"
	SpawnHeadlessSpawnFailed                         Code = "spawn-headless-spawn-failed"
	SpawnHeadlessClaudeNotFound                      Code = "spawn-headless-claude-not-found"
	SpawnHeadlessTimedOut                            Code = "spawn-headless-timed-out"
	SpawnHeadlessAuditPersistFailed                  Code = "spawn-headless-audit-persist-failed"
	LoopPreflightAlreadyStamped                      Code = "loop-preflight-already-stamped"
	LoopPostResearcherMissingSpawnAudit              Code = "loop-post-researcher-missing-spawn-audit"
	LoopPostArchitectMissingSpawnAudit               Code = "loop-post-architect-missing-spawn-audit"
	LoopPostTestWriterMissingSpawnAudit              Code = "loop-post-test-writer-missing-spawn-audit"
	LoopPostExecutorMissingSpawnAudit                Code = "loop-post-executor-missing-spawn-audit"
	LoopPostCriticsMissingCriticAudit                Code = "loop-post-critics-missing-critic-audit"
	LoopPostExecutorRoundShifted                     Code = "loop-post-executor-round-shifted"
	LoopPostCriticsRoundShifted                      Code = "loop-post-critics-round-shifted"
	LoopCommitPreconditionMissing                    Code = "loop-commit-precondition-missing"
	Unhealthy                                        Code = "unhealthy"
	Usage                                            Code = "usage"
	Internal                                         Code = "internal"
	Interrupted                                      Code = "interrupted"
	OutputFailed                                     Code = "output-failed"
	ForceReasonMissing                               Code = "force-reason-missing"
	InitNested                                       Code = "init-nested"
	PluginTestFailed                                 Code = "plugin-test-failed"
	PolicyTestsFailed                                Code = "policy-tests-failed"
	PolicyNotProven                                  Code = "policy-not-proven"
	PolicyLintFailed                                 Code = "policy-lint-failed"
	PageForeign                                      Code = "page-foreign"

	// host
	DraftEmpty           Code = "draft-empty"
	RoundRunning         Code = "round-running"
	PolicyFlips          Code = "policy-flips"
	PolicyFlipUnknown    Code = "policy-flip-unknown"
	NoEvidence           Code = "no-evidence"
	ReportWrongTask      Code = "report-wrong-task"
	ReportWrongRound     Code = "report-wrong-round"
	DecisionTooLarge     Code = "decision-too-large"
	ConfigForeign        Code = "config-foreign"
	VerifyMissing        Code = "verify-missing"
	VerifyNested         Code = "verify-nested"
	WaitTimeout          Code = "wait-timeout"
	LedgerTampered       Code = "ledger-tampered"
	PluginNotLocked      Code = "plugin-not-locked"
	PluginNothingToLock  Code = "plugin-nothing-to-lock"
	PluginDigestMismatch Code = "plugin-digest-mismatch"
	RoundNotFound        Code = "round-not-found"
	PolicyChanged        Code = "policy-changed"
	PolicyNotConfigured  Code = "policy-not-configured"
	PolicyUnnamed        Code = "policy-unnamed"
	PolicyLost           Code = "policy-lost"
	ReportCommandFailed  Code = "report-command-failed"
	SpawnFailed          Code = "spawn-failed"
	SpawnAuth            Code = "spawn-auth"
	SpawnQuota           Code = "spawn-quota"
	StateFileUnwritable  Code = "state-file-unwritable"

	// internal/agent/adapter
	AdapterInvalid            Code = "adapter-invalid"
	AdapterUnknown            Code = "adapter-unknown"
	SpawnBinaryMissing        Code = "spawn-binary-missing"
	SpawnCommandMissing       Code = "spawn-command-missing"
	SpawnBinaryUnusable       Code = "spawn-binary-unusable"
	AdapterRepositorySettings Code = "adapter-repository-settings"

	// internal/agent/childenv
	SpawnReentrant     Code = "spawn-reentrant"
	SpawnDepthExceeded Code = "spawn-depth-exceeded"

	// internal/agent/confine
	SpawnBaseMissing      Code = "spawn-base-missing"
	SpawnPathOutside      Code = "spawn-path-outside"
	SpawnPromptUnreadable Code = "spawn-prompt-unreadable"
	SpawnOutputUnsafe     Code = "spawn-output-unsafe"
	SpawnOutputUnwritable Code = "spawn-output-unwritable"

	// internal/agent/definition
	AgentNameInvalid       Code = "agent-name-invalid"
	AgentNotFound          Code = "agent-not-found"
	AgentEmpty             Code = "agent-empty"
	AgentInvalidDefinition Code = "agent-invalid-definition"
	AgentIsModule          Code = "agent-is-module"
	AgentEdits             Code = "agent-edits"

	// internal/agent/lease
	SpawnLocked       Code = "spawn-locked"
	SpawnSlotUnusable Code = "spawn-slot-unusable"

	// internal/agent/prompt
	PromptTemplateInvalid Code = "prompt-template-invalid"
	PromptValueInvalid    Code = "prompt-value-invalid"
	PromptTooLarge        Code = "prompt-too-large"

	// internal/agent/research
	ResearchOutputInvalid Code = "research-output-invalid"

	// internal/agent/worktree
	TreeUnreadable  Code = "tree-unreadable"
	TreeNoGit       Code = "tree-no-git"
	TreeBaseUnknown Code = "tree-base-unknown"

	// internal/compat/nubospilot
	ImportUnreadable Code = "import-unreadable"
	ImportNothing    Code = "import-nothing"

	// internal/ledger
	StateUnsafe         Code = "state-unsafe"
	StateUnwritable     Code = "state-unwritable"
	LedgerCorrupt       Code = "ledger-corrupt"
	LedgerNewer         Code = "ledger-newer"
	LedgerOlder         Code = "ledger-older"
	LedgerBusy          Code = "ledger-busy"
	LedgerConflict      Code = "ledger-conflict"
	LedgerInvalid       Code = "ledger-invalid"
	LedgerIO            Code = "ledger-io"
	LedgerExportInvalid Code = "ledger-export-invalid"

	// internal/metrics/exporter
	ListenFailed     Code = "listen-failed"
	WebConfigInvalid Code = "web-config-invalid"

	// internal/metrics/oracle

	// internal/metrics/pushgateway
	PushTargetInvalid Code = "push-target-invalid"
	PushRefused       Code = "push-refused"
	PushUnavailable   Code = "push-unavailable"

	// internal/metrics/textfile
	TextfileUnwritable Code = "textfile-unwritable"
	TextfileRefused    Code = "textfile-refused"

	// internal/plugin/document
	ReportTooLarge     Code = "report-too-large"
	ReportEmpty        Code = "report-empty"
	ReportInvalidUTF8  Code = "report-invalid-utf8"
	ReportInvalidJSON  Code = "report-invalid-json"
	ReportDuplicateKey Code = "report-duplicate-key"
	ReportTooDeep      Code = "report-too-deep"
	ReportInvalidXML   Code = "report-invalid-xml"
	ReportWrongFormat  Code = "report-wrong-format"

	// internal/policy/adr
	ADRInvalid Code = "adr-invalid"

	// internal/policy/bundle
	PolicyInvalid          Code = "policy-invalid"
	PolicyUnsigned         Code = "policy-unsigned"
	PolicySignatureInvalid Code = "policy-signature-invalid"
	PolicySignatureExpired Code = "policy-signature-expired"
	PolicyKeyUnknown       Code = "policy-key-unknown"
	PolicyScopeMismatch    Code = "policy-scope-mismatch"
	PolicyKeyInvalid       Code = "policy-key-invalid"

	// internal/policy/check
	PolicyWaiverInvalid Code = "policy-waiver-invalid"

	// internal/policy/inputspace
	PolicyDomainTooLarge Code = "policy-domain-too-large"

	// internal/policy/release
	PolicyTreeUnreadable Code = "policy-tree-unreadable"
	PolicyTreeUnwritable Code = "policy-tree-unwritable"
	PolicyVersionExists  Code = "policy-version-exists"
	PolicyVersionUnknown Code = "policy-version-unknown"
	PolicySourceUnfit    Code = "policy-source-unfit"
	PolicyTitleInvalid   Code = "policy-title-invalid"
	PolicyReleaseRefused Code = "policy-release-refused"

	// internal/policy/replay
	ReplayRecordInvalid Code = "replay-record-invalid"
	ReplayTooVaried     Code = "replay-too-varied"

	// internal/project
	ConfigInvalid      Code = "config-invalid"
	InitExists         Code = "init-exists"
	FileNotFound       Code = "file-not-found"
	FileUnreadable     Code = "file-unreadable"
	PathEscapesProject Code = "path-escapes-project"
	FileTooLarge       Code = "file-too-large"
	LockInvalid        Code = "lock-invalid"
	MarkerUnsafe       Code = "marker-unsafe"
	MarkerUnwritable   Code = "marker-unwritable"
	FileUnwritable     Code = "file-unwritable"

	// internal/supervise
	ProcessStart Code = "process-start"
	ProcessLost  Code = "process-lost"

	// internal/task
	BudgetExhausted           Code = "budget-exhausted"
	RoundShifted              Code = "round-shifted"
	RoundsExhausted           Code = "rounds-exhausted"
	CommitPreconditionMissing Code = "commit-precondition-missing"
	CommitUnverified          Code = "commit-unverified"
	EvidenceMissing           Code = "evidence-missing"
	StampsTooMany             Code = "stamps-too-many"
	ReportReplayed            Code = "report-replayed"
	NameTooLong               Code = "name-too-long"
	AgentInvalid              Code = "agent-invalid"
	QuestionUnknown           Code = "question-unknown"
	QuestionAnswered          Code = "question-answered"
	QuestionStale             Code = "question-stale"
	AnswerInvalid             Code = "answer-invalid"
	SpawnRunUnknown           Code = "spawn-run-unknown"
	TaskInvalidID             Code = "task-invalid-id"
	TaskNotFound              Code = "task-not-found"
	TaskExists                Code = "task-exists"
	TaskStarted               Code = "task-started"
	TaskWaiting               Code = "task-waiting"
	TaskNotWaiting            Code = "task-not-waiting"
	TaskStuck                 Code = "task-stuck"
	TaskNotStuck              Code = "task-not-stuck"
	TaskCommitted             Code = "task-committed"

	// internal/verifycmd
	VerifyExitCodeInvalid Code = "verify-exit-code-invalid"
	VerifyOutputUnsafe    Code = "verify-output-unsafe"
	VerifyOutputFailed    Code = "verify-output-failed"
	VerifyPlanInvalid     Code = "verify-plan-invalid"

	// metrics
	MetricsLedgerGone   Code = "metrics-ledger-gone"
	MetricsLabelInvalid Code = "metrics-label-invalid"

	// plugins
	PluginTimeout              Code = "plugin-timeout"
	PluginMemory               Code = "plugin-memory"
	PluginOutputTooLarge       Code = "plugin-output-too-large"
	PluginTrap                 Code = "plugin-trap"
	PluginABI                  Code = "plugin-abi"
	PluginInvalidOutput        Code = "plugin-invalid-output"
	PluginConservationViolated Code = "plugin-conservation-violated"
	PluginConfigInvalid        Code = "plugin-config-invalid"
	PluginUnknown              Code = "plugin-unknown"
	PluginUndetected           Code = "plugin-undetected"
	PluginAmbiguous            Code = "plugin-ambiguous"
	PluginCacheUnsafe          Code = "plugin-cache-unsafe"

	// plugins/sdk/scaffold
	PluginScaffoldExists     Code = "plugin-scaffold-exists"
	PluginScaffoldName       Code = "plugin-scaffold-name"
	PluginScaffoldUnwritable Code = "plugin-scaffold-unwritable"

	// policies
	PolicyUnknown               Code = "policy-unknown"
	PolicyNotFound              Code = "policy-not-found"
	PolicyUnreadable            Code = "policy-unreadable"
	PolicyInvalidInput          Code = "policy-invalid-input"
	PolicyUndefined             Code = "policy-undefined"
	PolicyFailed                Code = "policy-failed"
	PolicyTimeout               Code = "policy-timeout"
	PolicyInvalidDecision       Code = "policy-invalid-decision"
	PolicyUndeclaredDestination Code = "policy-undeclared-destination"
	PolicyUnsafeCommit          Code = "policy-unsafe-commit"
	PolicyLockInvalid           Code = "policy-lock-invalid"
	PolicyLockMismatch          Code = "policy-lock-mismatch"
	PolicyRollback              Code = "policy-rollback"

	// spawner
	SpawnJobInvalid   Code = "spawn-job-invalid"
	SpawnFolderFailed Code = "spawn-folder-failed"
	SpawnTrailFailed  Code = "spawn-trail-failed"
)
