package main

import "github.com/switchyard-dev/switchyard/host/fault"

// The codes that the command line itself adds to those of the rooms below.
const (
	codeUsage       fault.Code = "usage"
	codeInternal    fault.Code = "internal"
	codeInterrupted fault.Code = "interrupted"
	codeOutput      fault.Code = "output-failed"
)

// errorEntry documents a code for users: docs/errors.md is made of these, and
// every error without a hint of its own is shown with this one.
type errorEntry struct {
	code    fault.Code
	meaning string
	hint    string
}

// errorGroup is a section of docs/errors.md.
type errorGroup struct {
	title   string
	entries []errorEntry
}

// hintFor returns what to do about a code, "" where nobody wrote anything.
func hintFor(code fault.Code) string {
	for _, group := range errorGroups() {
		for _, e := range group.entries {
			if e.code == code {
				return e.hint
			}
		}
	}
	return ""
}

// errorGroups lists every code that a user can meet.
func errorGroups() []errorGroup {
	return []errorGroup{
		{"The command line", []errorEntry{
			{codeUsage, "The command, a flag or an argument is wrong. The exit status is 2.", "switchyard help COMMAND shows what it takes"},
			{codeInterrupted, "The command was told to stop by a signal. Nothing was recorded.", "run it again"},
			{codeOutput, "The result could not be written to standard output. A round that was decided is recorded all the same.", "switchyard explain TASK shows a recorded decision"},
			{codeInternal, "Something failed that has no code of its own.", "please report it with the command line and the message"},
		}},
		{"Files and configuration", []errorEntry{
			{"file-not-found", "A file that was named does not exist.", "check the path; a relative one starts at the folder of -C"},
			{"file-unreadable", "A file that was named cannot be read, or is no regular file although it lies in the project.", "check its kind and its permissions, or pipe it: --report -"},
			{"file-too-large", "A plugin's module or switchyard.yaml has more bytes than it may have.", "name the right file"},
			{"path-escapes-project", "A path lies in the project by its name, and a symbolic link leads out of it.", "name the real file, or replace the link by a copy"},
			{"config-invalid", "switchyard.yaml is not valid YAML, has an unknown key or a value out of range.", "the keys are max_rounds, policy and plugins; see docs/configuration.md"},
		}},
		{"Reports", []errorEntry{
			{"no-evidence", "No report was given, and nothing is decided on nothing.", "add --report FILE"},
			{"report-too-large", "The report has more than 32 MiB.", "report on less at a time"},
			{"report-empty", "The report holds nothing but white space.", "check that the critic really ran"},
			{"report-invalid-utf8", "The report is not UTF-8.", "have the critic write UTF-8"},
			{"report-invalid-json", "The report is not exactly one JSON value, or is cut short.", "check that the critic wrote its whole report and nothing around it"},
			{"report-duplicate-key", "An object in the report has the same key twice, so that two readers could understand it differently.", "have the critic write each key once"},
			{"report-too-deep", "The report nests arrays and objects more than 128 deep.", "this is no report of a known format"},
			{"report-wrong-task", "The report names another task, or two reports name different ones.", "give each task its own reports"},
			{"report-wrong-round", "The report names another round, or two reports name different ones: it is stale, or early.", "run the critic again for the current round; switchyard status TASK shows it"},
		}},
		{"Plugins", []errorEntry{
			{"plugin-unknown", "No built-in plugin has that name.", "use np-critic, sarif, auto or the path of a .wasm file"},
			{"plugin-undetected", "No plugin recognises the report.", "name the plugin: --report PLUGIN=FILE; a critic's own report needs the key critic"},
			{"plugin-ambiguous", "Several plugins recognise the report.", "name the plugin: --report PLUGIN=FILE"},
			{"plugin-config-invalid", "The plugin does not understand its configuration.", "see the plugin's section in docs/configuration.md"},
			{"plugin-timeout", "The plugin ran longer than 2 seconds.", "run it again if the machine was busy; else report on less at a time, or mend the plugin"},
			{"plugin-memory", "The plugin needs more than 64 MiB of memory.", "report on less at a time, or mend the plugin"},
			{"plugin-output-too-large", "The plugin answered with more than 64 MiB.", "mend the plugin"},
			{"plugin-trap", "The plugin executed an invalid operation or gave up.", "mend the plugin"},
			{"plugin-abi", "The file is no WebAssembly module, does not speak ABI v1, imports more than WASI preview 1, or handed out a bad pointer.", "build the plugin for ABI v1; see docs/plugin-abi.md"},
			{"plugin-invalid-output", "The plugin's answer does not follow the ABI's schema.", "mend the plugin; see docs/plugin-abi.md"},
			{"plugin-conservation-violated", "The plugin dropped an item of the report, or refers to something that is not there.", "mend the plugin: every item is a finding or is skipped with a reason"},
			{"plugin-cache-unsafe", "Somebody else could write machine code into the cache of compiled plugins.", "make the folder your own with chmod 700, or set SWITCHYARD_CACHE_DIR to another"},
		}},
		{"Reports of np-critic", []errorEntry{
			{"critic-output-empty", "The list of reports is empty.", "check that the critic really ran"},
			{"critic-output-not-an-object", "A report is not a JSON object.", "the critic must write one object, or a list of them"},
			{"critic-output-is-envelope", "This is the critic's final message and not its report.", "give the file that its report_path names"},
			{"critic-output-unknown-axis", "critic is missing or none of critic, style, tests, acceptance, economy.", "the axis is the critic's subject, not the agent's name"},
			{"critic-output-no-findings", "Neither findings nor criteria is a list.", "a clean report says so with an empty list of findings"},
			{"critic-output-findings-not-an-array", "findings is there and is no list.", "have the critic write a list"},
			{"critic-output-criteria-not-an-array", "criteria is there and is no list.", "have the critic write a list"},
			{"critic-output-empty-criteria", "criteria is empty and there are no findings: nothing was reviewed.", "run the critic again"},
			{"critic-output-malformed-finding", "A finding is not an object.", "a finding has category, severity, file, line and remediation"},
			{"critic-output-malformed-criterion", "A criterion is not an object.", "a criterion has id, verdict and evidence"},
			{"critic-output-invalid-severity", "A finding's severity is not a string.", "use fail, risk or nit"},
			{"critic-output-invalid-file", "A finding's file is not a string.", "use a path, or null"},
			{"critic-output-invalid-line", "A finding's line is neither null nor a whole number from 1.", "use the line's number, or null"},
			{"critic-output-invalid-remediation", "A finding's remediation is not a string.", "say in words what to do"},
			{"critic-output-invalid-task-id", "task_id is not a string.", "use the task's id, or leave it out"},
			{"critic-output-invalid-round", "round is not a whole number from 1.", "use the round's number, or leave it out"},
			{"critic-output-task-conflict", "The reports in one file are about different tasks.", "give each task its own reports"},
			{"critic-output-round-conflict", "The reports in one file are about different rounds.", "keep only the reports of the current round"},
			{"critic-output-unknown-verdict", "verdict is neither passed nor issues_found.", "use one of the two, or leave it out"},
			{"critic-output-verdict-contradiction", "verdict says passed beside open issues, or issues_found beside none.", "run the critic again; neither half can be trusted"},
		}},
		{"Reports in SARIF", []errorEntry{
			{"sarif-unsupported-version", "version is not 2.1.0.", "have the tool write SARIF 2.1.0"},
			{"sarif-invalid", "The report does not follow the SARIF schema where it matters for routing.", "update the tool that wrote it"},
			{"sarif-no-runs", "There are no runs: no tool reported anything.", "check that the tool really ran"},
			{"sarif-no-results", "A run has no list of results: the tool did not report.", "check that the tool really ran; a clean run has an empty list"},
			{"sarif-execution-failed", "The tool says that its own execution failed, or does not say that it succeeded.", "mend what stopped the tool and run it again"},
			{"sarif-invalid-level", "A level is none of error, warning, note, none.", "update the tool that wrote it"},
			{"sarif-invalid-line", "A startLine is not a whole number from 1.", "update the tool that wrote it"},
		}},
		{"Policies", []errorEntry{
			{"policy-unknown", "No embedded policy has that name and version.", "use routing@1.0.0, routing@1.1.0, a directory or an OPA bundle"},
			{"policy-not-found", "There is no such directory or bundle.", "check the path"},
			{"policy-unreadable", "The directory or bundle cannot be read.", "check its kind and its permissions"},
			{"policy-invalid", "The policy does not compile or does not keep the contract.", "mend the file at the place named; the contract is in docs/adr/0001-routing-table-and-precedence.md"},
			{"policy-lock-invalid", "policies/versions.lock cannot be read.", "a released policy's digest belongs there; this concerns a build of Switchyard, not its use"},
			{"policy-lock-mismatch", "A released policy is not the one that policies/versions.lock names.", "a released version never changes: make a new one"},
			{"policy-invalid-input", "The policy's input contradicts itself.", "please report it with the command line and the message"},
			{"policy-undefined", "The policy decides nothing for this input.", "mend the policy: it must decide every input"},
			{"policy-failed", "The policy's evaluation failed or gave several decisions.", "mend the policy"},
			{"policy-timeout", "The policy took longer than its time.", "mend the policy"},
			{"policy-invalid-decision", "The decision is not an object of next_action and reason.", "mend the policy"},
			{"policy-undeclared-destination", "The decision names a destination that the policy does not declare.", "mend the policy"},
			{"policy-unsafe-commit", "The policy would commit with open findings or red verification.", "mend the policy: the host never allows this"},
		}},
		{"Tasks", []errorEntry{
			{"task-invalid-id", "A task's id is a letter or digit, then up to 127 letters, digits, dots, underscores and dashes.", "choose another id"},
			{"task-not-found", "Nothing is recorded for the task.", "switchyard status lists the tasks"},
			{"round-not-found", "The task has no decision of that round.", "switchyard explain TASK lists its rounds"},
			{"round-shifted", "The task is in another round than the caller means, or another command decided the round first.", "look at switchyard status TASK, and run the critic again if the round is over"},
			{"decision-too-large", "The decision with all its findings has more than 64 MiB, which the ledger does not take.", "report on less at a time"},
			{"task-waiting", "The task waits for the user's answer.", "switchyard explain TASK shows the question; go on under a new task id once it is answered"},
			{"task-stuck", "The task is stuck and takes no more rounds.", "switchyard explain TASK shows why; go on under a new task id once it is mended"},
			{"task-committed", "The task is done and takes no more rounds.", "give further work a new task id"},
		}},
		{"State", []errorEntry{
			{"state-unsafe", ".switchyard or its ledger is a symbolic link or not what it should be.", "find out who put it there, then remove it"},
			{"state-unwritable", ".switchyard cannot be created or written.", "check the permissions of the project's folder"},
			{"ledger-corrupt", "The ledger is no ledger of Switchyard, or is damaged.", "move .switchyard aside and keep it; restore a copy if you have one"},
			{"ledger-newer", "The ledger was written by a newer Switchyard.", "update Switchyard"},
			{"ledger-busy", "Other commands kept the ledger locked for too long.", "run the command again"},
			{"ledger-io", "The ledger could not be read or written: a full disk, for example.", "make room, then run the command again"},
			{"ledger-conflict", "Another command recorded an event of the task first, and where the task stands now cannot be read.", "run the command again"},
			{"ledger-invalid", "An event that should be recorded breaks the ledger's own rules.", "please report it with the command line and the message"},
			{"ledger-tampered", "The ledger's events do not fit together any more: somebody changed, removed or reordered some.", "details lists what does not fit; compare with hashes kept elsewhere"},
		}},
	}
}
