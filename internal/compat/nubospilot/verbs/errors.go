package verbs

import "github.com/switchyard-dev/switchyard/internal/errs"

// ErrorDoc documents an error code for docs/errors.md, with its usual hint.
type ErrorDoc struct {
	Code          errs.Code
	Meaning, Hint string
}

// Errors lists the codes that only the compatible verbs return. They are nubos-pilot's,
// so that its scripts recognise them.
func Errors() []ErrorDoc {
	return []ErrorDoc{
		{errs.LoopRunRoundInvalidTaskID, "The task id of `loop-run-round` does not have the form M001-S001-T0001.", "give the id in that form; other ids work with switchyard phase and round"},
		{errs.LoopRunRoundMissingPhase, "--phase of `loop-run-round` is missing.", "name a phase; switchyard help loop-run-round lists them"},
		{errs.LoopRunRoundInvalidPhase, "--phase is not a known phase.", "switchyard help loop-run-round lists the phases"},
		{errs.LoopRunRoundPreflightMissingQuery, "--query of the phase preflight is missing.", "say what the work is about: --query TEXT"},
		{errs.LoopRunRoundPostExecutorMissingVerify, "--verify-exit-code is missing or is not a plain number; `got` is its value. An empty text does not count as success.", "pass on the exit code of the verification unchanged"},
		{errs.LoopRunRoundVerifyOutputTraversal, "--verify-output-path leads outside the project and the directory for temporary files.", "write the output to the project or to the directory that TMPDIR names"},
		{errs.LoopRunRoundVerifyOutputUnreadable, "The file of --verify-output-path does not exist, cannot be read, or is larger than 64 MiB.", "check the path and its permissions, or leave the flag out"},
		{errs.LoopRunRoundPostCriticsConflictingOutputs, "Both --critic-outputs and --critic-outputs-path are given.", "give one of them"},
		{errs.LoopRunRoundPostCriticsMissingOutputs, "Neither --critic-outputs nor --critic-outputs-path is given.", "give the file that the critic wrote: --critic-outputs-path FILE"},
		{errs.LoopRunRoundPostCriticsMissingOutputsInvalidJSON, "--critic-outputs is not exactly one JSON value.", "check the quoting, or give a file: --critic-outputs-path FILE"},
		{errs.LoopRunRoundPostCriticsInvalidOutputs, "--critic-outputs is not a JSON list.", "put the report into a list, or give a file: --critic-outputs-path FILE"},
		{errs.LoopRunRoundPostCriticsEmptyOutputs, "The list of reports is empty: no critic has reported.", "check that the critic really ran; a clean report has an empty list of findings"},
		{errs.LoopRunRoundCriticOutputsPathTraversal, "--critic-outputs-path or --findings-path leads outside the project and the directory for temporary files.", "have the critic write to the project or to the directory that TMPDIR names"},
		{errs.LoopRunRoundCriticOutputsPathUnreadable, "The file of --critic-outputs-path or --findings-path does not exist or cannot be read.", "check that the critic wrote its report, and to which path"},
		{errs.LoopRunRoundCriticOutputsPathInvalidJSON, "The file is not exactly one JSON value, or is truncated.", "check that the critic wrote its whole report and nothing else"},
		{errs.LoopRunRoundCriticOutputsPathInvalidShape, "The file is neither a report nor a list of reports.", "have the critic write one object, or a list of them"},
		{errs.LoopRunRoundStuckConflictingFindings, "Both --findings and --findings-path are given.", "give one of them"},
		{errs.LoopRunRoundStuckInvalidFindings, "--findings is neither a JSON list nor a report.", "give a list of findings or of reports, or leave the flag out: the task then keeps its findings"},
		{errs.LoopPreflightAlreadyStamped, "The work on the task has already begun.", "continue with the next phase; switchyard status TASK shows the latest one"},
		{errs.LoopPostResearcherMissingSpawnAudit, "This round has attestations of fewer researchers than the project requires.", "record each with loop-audit-tool-use --agent np-researcher once it has run"},
		{errs.LoopPostArchitectMissingSpawnAudit, "This round has no attestation of the architect.", "record it with loop-audit-tool-use --agent np-task-architect once it has run"},
		{errs.LoopPostTestWriterMissingSpawnAudit, "This round has no attestation of the test writer.", "record it with loop-audit-tool-use --agent np-test-writer once it has run"},
		{errs.LoopPostExecutorMissingSpawnAudit, "This round has no attestation of the agent that makes its draft: np-executor, or np-build-fixer in later rounds; `missing` names it.", "record it with loop-audit-tool-use once it has run"},
		{errs.LoopPostCriticsMissingCriticAudit, "This round has no attestation of the critic.", "run the critic, then record it with loop-audit-tool-use --agent np-critic"},
		{errs.LoopPostExecutorRoundShifted, "Another process changed the task while the draft was recorded.", "run switchyard status TASK before you continue"},
		{errs.LoopPostCriticsRoundShifted, "Another process decided the round first.", "run switchyard status TASK; if the round is over, run the critic again"},
		{errs.LoopCommitPreconditionMissing, "The round cannot be committed; `missing` lists what it lacks: verify_exit_code, findings, or both.", "run the phases post-executor and post-critics of this round first"},
		{errs.NubosloopAuditInvalidTaskID, "The task id of `loop-audit-tool-use` does not have the form M001-S001-T0001.", "give the id in that form; other ids work with switchyard audit"},
		{errs.NubosloopAuditInvalidAgent, "--agent is missing or is not a valid agent name.", "a name has up to 128 letters, digits, underscores and dashes"},
		{errs.NubosloopAuditInvalidLog, "The log is not a list, or one of its entries does not name a tool.", "an entry is a tool's name, or an object with the name as tool, name or tool_name"},
		{errs.LoopAuditAgentIsModule, "The name is that of a module, which an agent reads. It is never run.", "record the agent that read it: np-critic"},
		{errs.LoopAuditMissingLog, "--tool-use-log is missing for an agent that must search.", "give the log of its tools; the log of an agent that used none is []"},
		{errs.LoopAuditInvalidLog, "--tool-use-log is not exactly one JSON value.", "check the quoting"},
		{errs.LoopStuckInvalidTaskID, "The task id of `loop-stuck` does not have the form M001-S001-T0001.", "give the id in that form; other ids work with switchyard phase stuck"},
		{errs.LoopStuckMissingReason, "--reason of `loop-stuck` or of the phase stuck is missing.", "say why: --reason TEXT"},
		{errs.SpawnHeadlessReentrant, "`spawn-headless` is called inside an agent that was spawned.", "leave it to the process that spawned the agent"},
		{errs.SpawnHeadlessDepthExceeded, "`spawn-headless` is called inside as many hooks as are allowed, or the depth in the environment is not valid.", "call it from outside, or raise NUBOS_PILOT_MAX_HOOK_DEPTH"},
		{errs.SpawnHeadlessMissingAgent, "--agent of `spawn-headless` is missing.", "name the agent: --agent NAME"},
		{errs.SpawnHeadlessMissingPromptPath, "--prompt-path of `spawn-headless` is missing.", "name the file with the prompt: --prompt-path FILE"},
		{errs.SpawnHeadlessMissingOutputPath, "--output-path of `spawn-headless` is missing.", "name the file for the output: --output-path FILE"},
		{errs.SpawnHeadlessInvalidTimeout, "--timeout-ms is not a number, is less than a second or is more than a day.", "give milliseconds from 1000 to 86400000, or leave it out for ten minutes"},
		{errs.SpawnHeadlessInvalidAgentName, "--agent has characters other than letters, digits, _ and -, or is longer than 128.", "give the name alone, without a path or .md"},
		{errs.SpawnHeadlessAgentNotFound, "The agent is neither defined by the project nor built in.", "put NAME.md into .switchyard/agents or .nubos-pilot/agents; switchyard doctor lists the agents"},
		{errs.SpawnHeadlessPathTraversal, "--prompt-path or --output-path leads outside the project and the directory for temporary files.", "put the file into the project, or into the directory that TMPDIR names"},
		{errs.SpawnHeadlessPromptUnreadable, "The file of --prompt-path does not exist, is not a regular file, is larger than 4 MiB or cannot be read.", "check the path and its permissions"},
		{errs.SpawnHeadlessLocked, "The agent is already running in this project; `pids` lists its processes.", "wait for it to end, or use switchyard spawn, which runs several"},
		{errs.SpawnHeadlessSpawnFailed, "The agent's program cannot be executed or started.", "check its path and its permissions; switchyard doctor lists the programs"},
		{errs.SpawnHeadlessClaudeNotFound, "The agent's program was not found.", "install it, or name it with NUBOS_PILOT_CLAUDE_BIN; switchyard doctor lists the programs"},
		{errs.SpawnHeadlessTimedOut, "The agent was stopped because it reached its time limit, or printed nothing for too long; `reason` says which. Its record is kept, its output is not.", "raise --timeout-ms, or spawn.idle_timeout in switchyard.yaml"},
		{errs.SpawnHeadlessAuditPersistFailed, "The record of the spawn cannot be stored durably, so its output was not written.", "free disk space, and check that .switchyard/spawns.jsonl is a writable file"},
	}
}
