package main

// compatErrors are the codes that only the compatible verbs return. They are
// those of nubos-pilot, so that scripts written for it find them.
func compatErrors() []errorGroup {
	return []errorGroup{
		{"The verbs of nubos-pilot", []errorEntry{
			{codeRoundTask, "`loop-run-round` knows tasks as M001-S001-T0001.", "give the id in that form; other ids work with switchyard phase and round"},
			{codeNoPhase, "`loop-run-round` has no --phase.", "give one; switchyard help loop-run-round lists them"},
			{codeUnknownPhase, "There is no such phase.", "switchyard help loop-run-round lists the phases"},
			{codeNoQuery, "The phase preflight has no --query.", "say what the work is about: --query TEXT"},
			{codeNoVerify, "--verify-exit-code is missing or is not a plain number; `got` is what was there. An empty text is no success.", "pass on the exit code of the verification as it is"},
			{codeVerifyOutside, "--verify-output-path leads out of the project and of the folder for temporary files.", "write the output to the project or to the folder that TMPDIR names"},
			{codeVerifyUnreadable, "The file of --verify-output-path is not there, cannot be read, or has more than 64 MiB.", "check the path and its permissions, or leave the flag out"},
			{codeOutputsConflict, "Both --critic-outputs and --critic-outputs-path are given.", "give one of them"},
			{codeOutputsMissing, "Neither --critic-outputs nor --critic-outputs-path is given.", "give the file that the critic wrote: --critic-outputs-path FILE"},
			{codeOutputsJSON, "--critic-outputs is not exactly one JSON value.", "check the quoting, or give a file: --critic-outputs-path FILE"},
			{codeOutputsShape, "--critic-outputs is no JSON list.", "put the report into a list, or give a file: --critic-outputs-path FILE"},
			{codeOutputsEmpty, "The list of reports is empty: no critic has reported.", "check that the critic really ran; a clean report has an empty list of findings"},
			{codeReportOutside, "--critic-outputs-path or --findings-path leads out of the project and of the folder for temporary files.", "have the critic write to the project or to the folder that TMPDIR names"},
			{codeReportUnreadable, "The file of --critic-outputs-path or --findings-path is not there or cannot be read.", "check that the critic wrote its report, and where"},
			{codeReportJSON, "The file is not exactly one JSON value, or is cut short.", "check that the critic wrote its whole report and nothing around it"},
			{codeReportShape, "The file is neither a report nor a list of reports.", "have the critic write one object, or a list of them"},
			{codeFindingsConflict, "Both --findings and --findings-path are given.", "give one of them"},
			{codeFindingsInvalid, "--findings is neither a JSON list nor a report.", "give a list of findings or of reports, or leave it out: the task then keeps the findings that it has"},
			{codeLoopStarted, "The work on the task has begun already.", "go on with the next phase; switchyard status TASK shows which is done"},
			{codeNoResearcher, "Fewer researchers left a stamp in this round than the project wants.", "stamp each with loop-audit-tool-use --agent np-researcher once it has run"},
			{codeNoArchitect, "The architect left no stamp in this round.", "stamp it with loop-audit-tool-use --agent np-task-architect once it has run"},
			{codeNoTestWriter, "The test writer left no stamp in this round.", "stamp it with loop-audit-tool-use --agent np-test-writer once it has run"},
			{codeNoExecutor, "Whoever makes this round's draft, np-executor or later np-build-fixer, left no stamp in it; `missing` says who.", "stamp it with loop-audit-tool-use once it has run"},
			{codeNoCritic, "The critic left no stamp in this round.", "run the critic, then stamp it with loop-audit-tool-use --agent np-critic"},
			{codeExecutorShifted, "Another command moved the task on while the draft was recorded.", "look at switchyard status TASK before you go on"},
			{codeCriticsShifted, "Another command decided the round first.", "look at switchyard status TASK; if the round is over, run the critic again"},
			{codeCommitIncomplete, "The round may not be committed; `missing` lists verify_exit_code and findings, whichever it lacks.", "run the phases post-executor and post-critics of this round first"},
			{codeAuditTask, "`loop-audit-tool-use` knows tasks as M001-S001-T0001.", "give the id in that form; other ids work with switchyard audit"},
			{codeAuditAgent, "--agent is missing or is no agent's name.", "a name has up to 128 letters, digits, underscores and dashes"},
			{codeAuditLog, "The log is no list, or an entry of it names no tool.", "an entry is a tool's name, or an object with it as tool, name or tool_name"},
			{codeAuditModule, "The name is that of a module which an agent reads. It is never run.", "stamp the agent that read it: np-critic"},
			{codeAuditNoLog, "An agent that has to search has no --tool-use-log.", "give the log of its tools; one that used none has the log []"},
			{codeAuditLogBytes, "--tool-use-log is not exactly one JSON value.", "check the quoting"},
			{codeStuckTask, "`loop-stuck` knows tasks as M001-S001-T0001.", "give the id in that form; other ids work with switchyard phase stuck"},
			{codeStuckReason, "A task is to be put aside without a reason.", "say why: --reason TEXT"},
		}},
	}
}
