// Package verbs describes the commands that Switchyard shares with nubos-pilot: their flags,
// checks, error codes and results. cmd/switchyard calls the engine between an Input and a result.
// docs/compat.md is the contract.
package verbs

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// The names of the compatible verbs.
const (
	RunRound      = "loop-run-round"
	AuditToolUse  = "loop-audit-tool-use"
	Metrics       = "loop-metrics"
	Stuck         = "loop-stuck"
	SpawnHeadless = "spawn-headless"
)

// Verb is a command of nubos-pilot that Switchyard implements.
type Verb struct {
	Name, Args, Short, Long, Example string
	Flags                            []Flag
	// InvalidTask is the code for an invalid task id, "" if the verb takes no task.
	InvalidTask errs.Code
	// Codes maps error codes of the engine to those of nubos-pilot.
	Codes map[errs.Code]errs.Code
}

// Flag is a flag of a verb. All flags but switches take a text.
type Flag struct {
	Name, Usage string
	Switch      bool
	// Missing is the error code if the flag is missing, "" for an optional flag.
	Missing errs.Code
}

// Phase is a phase of loop-run-round. Gate is a phase of the engine, and Force the flag
// that forces it; the last phase has neither. Codes are as in Verb.
type Phase struct {
	Name  string
	Gate  task.Phase
	Force string
	Codes map[errs.Code]errs.Code
}

// Phases lists the phases of loop-run-round in order.
func Phases() []Phase {
	return []Phase{
		{"preflight", task.Start, "force-preflight", nil},
		{"post-researcher", task.Research, "force-post-researcher", map[errs.Code]errs.Code{errs.EvidenceMissing: errs.LoopPostResearcherMissingSpawnAudit}},
		{"post-architect", task.Design, "force-post-architect", map[errs.Code]errs.Code{errs.EvidenceMissing: errs.LoopPostArchitectMissingSpawnAudit}},
		{"post-test-writer", task.Tests, "force-post-test-writer", map[errs.Code]errs.Code{errs.EvidenceMissing: errs.LoopPostTestWriterMissingSpawnAudit}},
		{"post-executor", task.Draft, "force-post-executor", map[errs.Code]errs.Code{
			errs.EvidenceMissing: errs.LoopPostExecutorMissingSpawnAudit, errs.RoundShifted: errs.LoopPostExecutorRoundShifted,
		}},
		{"post-critics", task.Review, "force-post-critics", map[errs.Code]errs.Code{
			errs.EvidenceMissing: errs.LoopPostCriticsMissingCriticAudit, errs.RoundShifted: errs.LoopPostCriticsRoundShifted,
		}},
		{"commit", task.Commit, "force-commit-phase", nil},
		{"stuck", "", "", nil},
	}
}

func phaseNames() []string {
	var names []string
	for _, p := range Phases() {
		names = append(names, p.Name)
	}
	return names
}

// Verbs lists the compatible verbs.
func Verbs() []Verb {
	return []Verb{
		{
			Name: RunRound, Args: "TASK --phase PHASE", Short: "Run one phase of a task's round",
			Long: `Loop-run-round runs one phase of a task's round, as switchyard phase does, and
prints the status of the task and the next action.`,
			Example: `  switchyard loop-run-round M001-S001-T0001 --phase preflight --query 'retry failed uploads'
  switchyard loop-run-round M001-S001-T0001 --phase post-executor --verify-exit-code 0
  switchyard loop-run-round M001-S001-T0001 --phase post-critics --critic-outputs-path report.json`,
			Flags: roundFlags(), InvalidTask: errs.LoopRunRoundInvalidTaskID,
			Codes: map[errs.Code]errs.Code{
				errs.TaskStarted:               errs.LoopPreflightAlreadyStamped,
				errs.CommitPreconditionMissing: errs.LoopCommitPreconditionMissing,
			},
		},
		{
			Name: AuditToolUse, Args: "TASK --agent NAME --tool-use-log JSON", Short: "Attest that an agent ran in a task's round",
			Long: `Loop-audit-tool-use records an attestation of an agent's run, as switchyard audit
does. The log is a JSON list of the tools that the agent used. Agents that must
search need one.

With --search it records a search instead; a search tool in a later log is
credited only if a search is on record.`,
			Flags: []Flag{
				{Name: "agent", Usage: "the agent's `NAME`"},
				{Name: "tool-use-log", Usage: "the tools that it used: `JSON`"},
				{Name: "search", Usage: "record that the agent searched for `QUERY`"},
				{Name: "read", Usage: "print all attestations of the task, or those of --agent", Switch: true},
			},
			InvalidTask: errs.NubosloopAuditInvalidTaskID,
			Codes: map[errs.Code]errs.Code{
				errs.AgentInvalid:      errs.NubosloopAuditInvalidAgent,
				errs.AgentIsModule:     errs.LoopAuditAgentIsModule,
				errs.ToolUseLogInvalid: errs.NubosloopAuditInvalidLog,
			},
		},
		{
			Name: Metrics, Short: "Count tasks, rounds, routes and findings",
			Long: "Loop-metrics counts the tasks of the project, committed ones included, and their\nrounds, routes and findings.",
		},
		{
			Name: Stuck, Args: "TASK --reason TEXT", Short: "Stop a task as stuck",
			Long: `Loop-stuck stops a task with its current findings, as switchyard phase stuck does.
The reason is cut to 300 characters.`,
			Flags: []Flag{{Name: "reason", Usage: "why: `TEXT`"}}, InvalidTask: errs.LoopStuckInvalidTaskID,
		},
		{
			Name: SpawnHeadless, Args: "--agent NAME --prompt-path FILE --output-path FILE", Short: "Run an agent once and save its program's output",
			Long: `Spawn-headless runs an agent as switchyard spawn does, once and with a single
adapter. The program's output goes to the output file unchanged; of a stream of
events, only the final result does.`,
			Flags: []Flag{
				{Name: "agent", Usage: "the agent's `NAME`", Missing: errs.SpawnHeadlessMissingAgent},
				{Name: "prompt-path", Usage: "read the prompt from `FILE`", Missing: errs.SpawnHeadlessMissingPromptPath},
				{Name: "output-path", Usage: "write the output of the agent's program to `FILE`", Missing: errs.SpawnHeadlessMissingOutputPath},
				{Name: "timeout-ms", Usage: "end it after `N` milliseconds, from 1000 (default 600000)"},
			},
			Codes: map[errs.Code]errs.Code{
				errs.SpawnReentrant:        errs.SpawnHeadlessReentrant,
				errs.SpawnDepthExceeded:    errs.SpawnHeadlessDepthExceeded,
				errs.AgentNameInvalid:      errs.SpawnHeadlessInvalidAgentName,
				errs.AgentNotFound:         errs.SpawnHeadlessAgentNotFound,
				errs.SpawnPathOutside:      errs.SpawnHeadlessPathTraversal,
				errs.SpawnPromptUnreadable: errs.SpawnHeadlessPromptUnreadable,
				errs.SpawnLocked:           errs.SpawnHeadlessLocked,
				errs.ProcessStart:          errs.SpawnHeadlessSpawnFailed,
				errs.SpawnBinaryUnusable:   errs.SpawnHeadlessSpawnFailed,
				errs.SpawnBinaryMissing:    errs.SpawnHeadlessClaudeNotFound,
				errs.SpawnCommandMissing:   errs.SpawnHeadlessClaudeNotFound,
				errs.SpawnTrailFailed:      errs.SpawnHeadlessAuditPersistFailed,
			},
		},
	}
}

// roundFlags lists the flags of loop-run-round. Each phase reads some of them.
func roundFlags() []Flag {
	flags := []Flag{
		{Name: "phase", Usage: "the `PHASE`: preflight, post-researcher, post-architect, post-test-writer, post-executor, post-critics, commit, stuck"},
		{Name: "query", Usage: "preflight: what the work is about, `TEXT`"},
		{Name: "verify-exit-code", Usage: "post-executor: the exit code of the draft's verification, `N`"},
		{Name: "verify-output-path", Usage: "post-executor: the `FILE` with the verification's output"},
		{Name: "critic-outputs", Usage: "post-critics: the critics' reports, a `JSON` list"},
		{Name: "critic-outputs-path", Usage: "post-critics: the `FILE` that holds one report, or a list of them"},
		{Name: "tests", Usage: "post-test-writer: the test files that were written: `FILES`, with commas between them"},
		{Name: "findings", Usage: "stuck: what is left to do, a `JSON` list of findings or of reports"},
		{Name: "findings-path", Usage: "stuck: the same in a `FILE`"},
		{Name: "reason", Usage: "stuck, and every --force flag: why, `TEXT`"},
	}
	for _, p := range Phases() {
		if p.Force != "" {
			flags = append(flags, Flag{Name: p.Force, Usage: "pass the gate of " + p.Name + "; needs --reason, and is recorded permanently", Switch: true})
		}
	}
	return flags
}

// FileCodes maps the codes of a file that cannot be read to codes of nubos-pilot: outside for a
// path that leads out of the project, and unreadable for other errors.
func FileCodes(outside, unreadable errs.Code) map[errs.Code]errs.Code {
	return map[errs.Code]errs.Code{
		errs.PathEscapesProject: outside, errs.FileNotFound: unreadable, errs.FileUnreadable: unreadable, errs.FileTooLarge: unreadable,
	}
}
