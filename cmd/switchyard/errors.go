package main

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot/verbs"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
)

// errorEntry documents a code for users. docs/errors.md is generated from the entries,
// and an error without its own hint is shown with the hint of its entry.
type errorEntry struct {
	code    errs.Code
	meaning string
	hint    string
}

// errorGroup is a section of docs/errors.md.
type errorGroup struct {
	title   string
	entries []errorEntry
}

// hintFor returns the hint for a code, or "" if the table has none.
func hintFor(code errs.Code) string {
	for _, group := range errorGroups() {
		for _, e := range group.entries {
			if e.code == code {
				return e.hint
			}
		}
	}
	return ""
}

// errorGroups lists every code that a user can see.
func errorGroups() []errorGroup {
	return slices.Concat(inputErrors(), pluginErrors(), stateErrors(), policyErrors(), taskErrors(), spawnErrors(), metricsErrors(), compatErrors())
}

// compatErrors lists the codes of the verbs of nubos-pilot.
func compatErrors() []errorGroup {
	group := errorGroup{title: "The verbs of nubos-pilot"}
	for _, e := range verbs.Errors() {
		group.entries = append(group.entries, errorEntry{e.Code, e.Meaning, e.Hint})
	}
	return []errorGroup{group}
}

// inputErrors lists the codes about user input.
func inputErrors() []errorGroup {
	return []errorGroup{
		{"The command line", []errorEntry{
			{errs.Usage, "The command, a flag or an argument is wrong. The exit status is 2.", "switchyard help COMMAND shows what it takes"},
			{errs.Interrupted, "The command was told to stop by a signal. Nothing was recorded.", "run it again"},
			{errs.OutputFailed, "The result could not be written to standard output. A round that was decided is recorded all the same.", "make room, or give it an output that can be written; switchyard explain TASK shows a round that was recorded"},
			{errs.Internal, "Something failed that has no code of its own.", "please report it with the command line and the message"},
			{errs.Unhealthy, "switchyard doctor or plugin list found something broken that the project uses. Standard output has the whole result.", "fix what it lists as broken"},
		}},
		{"Files and configuration", []errorEntry{
			{errs.FileNotFound, "A file that was named does not exist.", "check the path; a relative one starts at the folder of -C"},
			{errs.FileUnreadable, "A file that was named cannot be read, or is in the project and is not a regular file.", "check its kind and its permissions; a report can be piped: --report -"},
			{errs.FileTooLarge, "A plugin's module has more than 8 MiB, switchyard.yaml or switchyard.lock more than 1 MiB, or a folder more than 256 plugins.", "name the right file"},
			{errs.FileUnwritable, "A file of the project, or a temporary folder, cannot be written.", "check that the folder is there, that you may write to it, and that no link is in the way"},
			{errs.PathEscapesProject, "A path lies in the project by its name, and a symbolic link leads out of it.", "name the real file, or replace the link by a copy"},
			{errs.ConfigInvalid, "switchyard.yaml is not valid YAML, has an unknown key or a value out of range. details.problems has every problem and its line.", "docs/configuration.md has every key; switchyard init in an empty folder writes them all as comments"},
			{errs.InitExists, "There is a switchyard.yaml already, and its content differs from what init would write. It was not changed.", "edit it; docs/configuration.md has the keys"},
			{errs.InitNested, "The folder lies in a project already, so that its commands would see two.", "switchyard -C ROOT init sets that one up; init --here makes a project of its own here"},
			{errs.ImportUnreadable, "The folder to import from cannot be opened or listed.", "check the path and its permissions"},
			{errs.ImportNothing, "The folder to import from holds neither config.json nor checkpoints.", "name the .nubos-pilot folder itself"},
			{errs.MarkerUnsafe, ".switchyard/STATE.md is a link, a folder or a device, so it was not written. This is a warning: the decision is recorded.", "replace it by a regular file, or remove it"},
			{errs.MarkerUnwritable, ".switchyard/STATE.md cannot be read or written, or is larger than 4 MiB. It is as it was. This is a warning: the decision is recorded.", "check its permissions and its size"},
			{errs.LockInvalid, "switchyard.lock is not valid: it was written by hand, or merged badly.", "restore it, or look at the plugins and run switchyard plugin lock"},
		}},
		{"Reports", []errorEntry{
			{errs.NoEvidence, "No report was given.", "add --report FILE"},
			{errs.ReportTooLarge, "The report has more than 32 MiB, or what plugin_limits says, as it is or as JSON.", "report on less at a time"},
			{errs.ReportEmpty, "The report holds nothing but white space.", "check that the critic really ran"},
			{errs.ReportInvalidUTF8, "The report is not UTF-8.", "have the critic write UTF-8"},
			{errs.ReportInvalidJSON, "The report, or a line of it, is not exactly one JSON value, or is cut short.", "check that the critic wrote its whole report and nothing around it"},
			{errs.ReportInvalidXML, "The report is not exactly one XML element, is cut short, or has what the host does not read: a DOCTYPE, entities, another encoding than UTF-8.", "check that the tool wrote its whole report and nothing around it"},
			{errs.ReportWrongFormat, "The report is not in a format that its plugin reads: XML instead of JSON, or the other way round.", "have the tool write the other format, or name the right plugin; switchyard plugin list shows the formats"},
			{errs.ReportDuplicateKey, "An object in the report has the same key twice, so that two readers could understand it differently.", "have the critic write each key once"},
			{errs.ReportTooDeep, "The report nests arrays and objects more than 128 deep.", "the report nests too deeply to be a known format"},
			{errs.ReportWrongTask, "The report names another task, or two reports name different ones.", "give each task its own reports"},
			{errs.ReportWrongRound, "The report names another round, or two reports name different ones: it is stale, or early.", "run the critic again for the current round; switchyard status TASK shows it"},
		}},
		{"Plugins", []errorEntry{
			{errs.PluginUnknown, "No installed plugin has that name.", "switchyard plugin list shows the names; a file is named by its path, as in ./FILE.wasm"},
			{errs.PluginUndetected, "No plugin recognises the report.", "name the plugin, as in --report PLUGIN=FILE; docs/json-map.md says how to read a tool that no plugin knows; a critic's own report needs the key critic"},
			{errs.PluginAmbiguous, "Several plugins recognise the report, or two plugins have the same name.", "name the plugin: --report PLUGIN=FILE; of two with one name, remove one"},
			{errs.PluginNotLocked, "switchyard.lock does not pin a plugin of the project.", "look at where it comes from, then run switchyard plugin lock"},
			{errs.PluginDigestMismatch, "A plugin's file is not the one that switchyard.lock pins. It was not run.", "find out who changed it; if the change is wanted, run switchyard plugin lock"},
			{errs.PluginNothingToLock, "switchyard.yaml names no plugin_paths, so there is nothing to pin.", "name the plugins' files or folders under plugin_paths in switchyard.yaml"},
			{errs.PluginConfigInvalid, "The plugin does not understand its configuration.", "docs/normalizers.md has the settings of the built-in plugins; other plugins document their own"},
			{errs.PluginTimeout, "The plugin ran longer than 2 seconds, or what plugin_limits says, or took more than 10 to compile.", "run it again if the machine was busy; else report on less at a time, or fix the plugin"},
			{errs.PluginMemory, "The plugin needs more than 64 MiB of memory, or what plugin_limits says.", "report on less at a time, or fix the plugin"},
			{errs.PluginOutputTooLarge, "The plugin answered with more than 64 MiB, or what plugin_limits says, or with more than 1,000,000 findings.", "fix the plugin"},
			{errs.PluginTrap, "The plugin executed an invalid operation or gave up.", "fix the plugin"},
			{errs.PluginABI, "The file is not a WebAssembly module, does not speak ABI v1, imports more than WASI preview 1, or handed out a bad pointer.", "build the plugin for ABI v1, see docs/plugin-abi.md; switchyard plugin inspect shows its imports and exports"},
			{errs.PluginInvalidOutput, "The plugin's answer does not follow the ABI's schema.", "fix the plugin; see docs/plugin-abi.md"},
			{errs.PluginConservationViolated, "The plugin dropped an item of the report, or refers to something that is not there.", "fix the plugin: every item is a finding or is skipped with a reason"},
			{errs.PluginTestFailed, "A check of switchyard plugin test failed. Standard output has the result of every check.", "fix what the failed checks describe; docs/plugin-abi.md has the rules"},
			{errs.PluginScaffoldExists, "The folder for the new plugin is not empty.", "name a new or an empty folder"},
			{errs.PluginScaffoldName, "The name is not lower-case words joined by dashes, or is taken.", "give it another with --name"},
			{errs.PluginScaffoldUnwritable, "The folder of a new plugin cannot be created or written to.", "check its permissions, or name another folder"},
			{errs.PluginCacheUnsafe, "Another user could write machine code into the cache of compiled plugins.", "make the folder your own with chmod 700, or set SWITCHYARD_CACHE_DIR to another"},
		}},
	}
}

// stateErrors lists the codes about decisions and the ledger.
func stateErrors() []errorGroup {
	return []errorGroup{
		{"Policies", []errorEntry{
			{errs.PolicyUnknown, "No embedded policy has that name and version.", "switchyard policy list shows what there is; a version in policies/routing is named by its folder"},
			{errs.PolicyNotFound, "There is no such directory or bundle.", "check the path"},
			{errs.PolicyUnreadable, "The directory or bundle cannot be read.", "check its kind and its permissions"},
			{errs.PolicyInvalid, "The policy does not compile, breaks the contract, uses an undefined name, or writes out a decision of the wrong shape.", "fix the file at the location in the message; switchyard help policy has the contract"},
			{errs.PolicyLockInvalid, "policies/versions.lock cannot be read.", "a released policy's digest belongs there; this concerns a build of Switchyard, not its use"},
			{errs.PolicyLockMismatch, "A released policy is not the one that policies/versions.lock names.", "a released version never changes: make a new one"},
			{errs.PolicyInvalidInput, "The input of the policy is contradictory or malformed.", "a decision's \"input\" shows what one looks like; the message names the contradiction"},
			{errs.PolicyUndefined, "The policy decides nothing for this input.", "fix the policy: it must decide every input"},
			{errs.PolicyFailed, "The policy's evaluation failed or gave several decisions.", "fix the policy"},
			{errs.PolicyTimeout, "The policy took longer than its time.", "fix the policy"},
			{errs.PolicyInvalidDecision, "The decision is not an object of next_action and reason.", "fix the policy"},
			{errs.PolicyUndeclaredDestination, "The decision names a destination that the policy does not declare.", "fix the policy"},
			{errs.PolicyUnsafeCommit, "The policy would commit with open findings or red verification.", "fix the policy: the host never allows this"},
		}},
		{"State", []errorEntry{
			{errs.StateUnsafe, ".switchyard or its ledger is a symbolic link, belongs to another user, or is of the wrong kind.", "find out who put it there, then remove it"},
			{errs.StateUnwritable, ".switchyard cannot be created or written.", "check the permissions of the project's folder"},
			{errs.LedgerCorrupt, "The file is not a ledger of Switchyard, or is damaged.", "move .switchyard aside and keep it; restore a copy if you have one: all of .switchyard, or ledger.db alone after removing the ledger.db-wal and ledger.db-shm that are there"},
			{errs.LedgerNewer, "The ledger was written by a newer Switchyard.", "update Switchyard"},
			{errs.LedgerOlder, "The ledger was written by an older Switchyard, which stored no counters, and was opened read-only.", "run any command of this version in that project, for example switchyard status; it upgrades the ledger"},
			{errs.LedgerBusy, "Other commands kept the ledger locked for too long, or its file system does not support locks (ENOLCK).", "run the command again; if nothing else uses the ledger, move the project to a local disk"},
			{errs.LedgerIO, "The ledger could not be read or written: a full disk, for example.", "make room, then run the command again"},
			{errs.LedgerConflict, "Another command recorded an event of the task first, and where the task stands now cannot be read.", "run the command again"},
			{errs.LedgerInvalid, "An event that should be recorded breaks the ledger's own rules.", "please report it with the command line and the message"},
			{errs.LedgerTampered, "The ledger's events are inconsistent: some were changed, removed or reordered.", "details lists the problems; compare with hashes kept elsewhere"},
		}},
	}
}

// problemEntry documents a value of details.problem.
type problemEntry struct {
	problem abi.Problem
	code    errs.Code
	meaning string
}

// problemEntries lists the values of details.problem.
func problemEntries() []problemEntry {
	return []problemEntry{
		{abi.NotWasm, errs.PluginABI, "The file is something else; the message says what."},
		{abi.Component, errs.PluginABI, "It is a module of the component model; a core module is needed."},
		{abi.Malformed, errs.PluginABI, "It is not a valid module, or uses a feature that the host does not offer."},
		{abi.Oversized, errs.PluginABI, "It declares more functions, local variables or table elements than the limits."},
		{abi.UnknownABI, errs.PluginABI, "It speaks another version of the ABI."},
		{abi.MissingExport, errs.PluginABI, "An export of the ABI is missing."},
		{abi.WrongExport, errs.PluginABI, "An export of the ABI has another type."},
		{abi.ForbiddenImport, errs.PluginABI, "It imports something outside of WASI preview 1."},
		{abi.NullPointer, errs.PluginABI, "`sy_alloc` handed out no memory."},
		{abi.OutOfRange, errs.PluginABI, "A pointer or a length leads out of the plugin's memory."},
		{abi.Overlap, errs.PluginABI, "`sy_alloc` handed out the same memory twice."},
		{abi.InvalidUTF8, errs.PluginInvalidOutput, "The answer is not UTF-8."},
		{abi.InvalidJSON, errs.PluginInvalidOutput, "The answer is not one JSON value, or has a key twice."},
		{abi.WrongSchema, errs.PluginInvalidOutput, "The answer breaks the ABI's schema."},
		{abi.ReservedName, errs.PluginInvalidOutput, "The plugin takes a built-in plugin's name."},
		{abi.Dropped, errs.PluginConservationViolated, "An item of the report is neither a finding nor skipped; `ref` says which."},
		{abi.Invented, errs.PluginConservationViolated, "The answer refers to something that is not in the report; `ref` says where."},
		{abi.Contradicted, errs.PluginConservationViolated, "An item is both a finding and skipped, or skipped twice; `ref` says which."},
	}
}

// metricsErrors lists the codes of the exporters.
func metricsErrors() []errorGroup {
	return []errorGroup{
		{"Metrics", []errorEntry{
			{errs.MetricsLedgerGone, "The ledger whose metrics are served was removed.", "restore it; if it was removed on purpose, start switchyard metrics serve again"},
			{errs.MetricsLabelInvalid, "A constant label of the metrics has a name or a value that Prometheus does not accept, or a metric has a label of that name already.", "give the label another name; docs/metrics.md has those of the metrics"},
			{errs.TextfileUnwritable, "The file for node_exporter cannot be written: its folder is missing or read-only, the disk is full, or another process keeps writing it.", "make the folder and let this user write to it; the previous file is unchanged"},
			{errs.TextfileRefused, "The file for node_exporter must not be written: its name does not end in .prom, it is a link or a device, it has metrics that are not ours, or it is that of a younger ledger.", "name another file, or remove this one if it is not needed"},
			{errs.PushTargetInvalid, "The URL of a Pushgateway, the job or a label of the group cannot be that of a push.", "the message names it; see switchyard help metrics push"},
			{errs.PushRefused, "The Pushgateway rejects the metrics, and would reject them again. The details have its status and its reason.", "check the URL, the user and the password; metrics of one name must have one type at a gateway"},
			{errs.PushUnavailable, "The Pushgateway could not be reached or did not take the metrics in time, although it was tried several times.", "check that it runs and can be reached; then push again; nothing is lost, because the ledger has all counters"},
			{errs.ListenFailed, "Metrics cannot be served at the address: another program has the port, this user may not take it, or the machine has no such address.", "name another with --listen; port 0 takes a free one"},
			{errs.WebConfigInvalid, "The web configuration file cannot be read or is not valid, or a certificate or key that it names is not.", "fix the setting that the message names; paths in the file are relative to it"},
			{errs.PageForeign, "The file of stats --html exists and is not such a page, so it was left alone.", "name another file, or remove this one if it is not needed"},
		}},
	}
}

// pluginErrors lists the codes with which the built-in plugins reject a report.
func pluginErrors() []errorGroup {
	return []errorGroup{
		{"Reports of np-critic", []errorEntry{
			{"critic-output-empty", "The list of reports is empty.", "check that the critic really ran"},
			{"critic-output-not-an-object", "A report is not a JSON object.", "the critic must write one object, or a list of them"},
			{"critic-output-is-envelope", "This is the critic's final message and not its report.", "give the file that its report_path names"},
			{"critic-output-failed", "The critic says that it failed: its report has an error.", "find out why and run the critic again"},
			{"critic-output-unknown-axis", "critic is missing or is not critic, style, tests, acceptance or economy.", "the axis is the critic's subject, not the agent's name"},
			{"critic-output-no-findings", "Neither findings nor criteria is a list.", "a clean report says so with an empty list of findings"},
			{"critic-output-findings-not-an-array", "findings is not a list.", "have the critic write a list"},
			{"critic-output-criteria-not-an-array", "criteria is not a list.", "have the critic write a list"},
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
			{"critic-output-verdict-contradiction", "verdict is passed with open issues, or issues_found without any.", "run the critic again; neither half can be trusted"},
			{"critic-output-unknown-member", "The report has no findings, but a list or an object that is not part of a report and may hold some.", "have the critic write what it found into findings, and anything else as text"},
		}},
		{"Reports read by json-map", []errorEntry{
			{"json-map-invalid", "An item has no message, or a value of the wrong type.", "check the configured pointers with switchyard plugin run"},
			{"json-map-no-items", "A place of items is not in the report, or is not a list.", "check items, and that the tool really ran; name the place under optional if the tool leaves it out"},
			{"json-map-invalid-line", "A line is not a whole number.", "check the pointer line, or update the tool"},
			{"json-map-unknown-severity", "A severity is not in the table severities.", "add it to severities: fail, risk or nit"},
			{"json-map-tool-failed", "The report says that its tool failed.", "find out why and run the tool again"},
			{"json-map-empty", "The report has no lines, so nothing says that the tool ran.", "check that the tool really ran; if it writes nothing when it finds nothing, set empty: clean"},
		}},
		{"Reports in SARIF", []errorEntry{
			{"sarif-unsupported-version", "version is not 2.1.0.", "have the tool write SARIF 2.1.0"},
			{"sarif-invalid", "The report does not follow the SARIF schema where it matters for routing.", "update the tool that wrote it"},
			{"sarif-no-runs", "There are no runs: no tool reported anything.", "check that the tool really ran"},
			{"sarif-no-results", "A run has no list of results, and does not say that its tool succeeded.", "check that the tool really ran; if it leaves out an empty list, set empty: clean for the plugin"},
			{"sarif-execution-failed", "The tool says that its own execution failed, or does not say that it succeeded.", "fix the failure of the tool and run it again"},
			{"sarif-invalid-level", "A level is not error, warning, note or none.", "update the tool that wrote it"},
			{"sarif-invalid-message", "A message has no text: it names a string that its tool does not describe, or lacks arguments.", "update the tool that wrote it"},
			{"sarif-invalid-rule", "A result's rule is not one that its tool describes, or is two at once.", "update the tool that wrote it"},
			{"sarif-invalid-uri", "A location's URI is not valid, or its bases lead nowhere.", "update the tool that wrote it"},
			{"sarif-invalid-line", "A startLine is not a whole number.", "update the tool that wrote it"},
		}},
		{"Reports in checkstyle XML", []errorEntry{
			{"checkstyle-invalid", "The report does not follow the format where it matters for routing.", "check that the tool was told to write checkstyle XML"},
			{"checkstyle-invalid-severity", "A severity is not error, warning, info or ignore.", "update the tool that wrote it"},
			{"checkstyle-invalid-line", "A line is not a whole number.", "update the tool that wrote it"},
			{"checkstyle-tool-failed", "The linter reports an exception of its own.", "find out why the linter failed and run it again"},
		}},
		{"Reports of eslint", []errorEntry{
			{"eslint-invalid", "The report does not follow the format of ESLint where it matters for routing.", "use the formatter json of ESLint"},
			{"eslint-no-files", "The report names no file, so nothing says that ESLint looked at one.", "run ESLint without --quiet, and check which files it was told to lint"},
			{"eslint-count-contradiction", "A file counts other messages than it lists.", "run ESLint again; neither half can be trusted"},
			{"eslint-invalid-severity", "A severity is neither 1 nor 2.", "update ESLint"},
			{"eslint-invalid-line", "A line is not a whole number.", "update ESLint, or the rule that wrote it"},
		}},
		{"Reports of go-test", []errorEntry{
			{"go-test-invalid", "An event does not follow the format of go test -json.", "give what go test -json wrote, and nothing else"},
			{"go-test-invalid-action", "An event has an action that go test -json does not have.", "update Switchyard, or check what wrote the report"},
			{"go-test-no-packages", "No event is about a package, so nothing was tested.", "give all that go test -json wrote"},
			{"go-test-no-tests", "Not a single test was run.", "check which packages and tests go test was told to run"},
			{"go-test-incomplete", "The events end before a package has ended.", "give all that go test -json wrote; if it was killed, run it again"},
			{"go-test-contradiction", "A package passed although it printed FAIL and no test in it failed.", "find out what failed outside of the tests; a TestMain has to exit with what m.Run returns"},
		}},
		{"Reports of golangci-lint", []errorEntry{
			{"golangci-lint-invalid", "The report does not follow the format of golangci-lint where it matters for routing.", "use the JSON output of golangci-lint"},
			{"golangci-lint-failed", "golangci-lint says that it, or a linter, failed.", "find out why it failed and run it again"},
			{"golangci-lint-no-issues", "Issues is neither a list nor null.", "give the whole JSON output of golangci-lint"},
			{"golangci-lint-no-linters", "There are no issues, and nothing says that a linter ran.", "check which linters the configuration of golangci-lint enables"},
			{"golangci-lint-invalid-line", "A line is not a whole number.", "update golangci-lint"},
		}},
		{"Reports in JUnit XML", []errorEntry{
			{"junit-invalid", "The report does not follow the format where it matters for routing.", "check what wrote the report"},
			{"junit-no-tests", "The report holds no test case, so nothing was tested.", "check which tests the runner was told to run; for a linter, set empty: clean for the plugin"},
			{"junit-contradiction", "No test failed, but a suite counts failures or more tests than it lists.", "run the tests again; if the runner counts what it does not list, leave its report out and have verify run the tests"},
			{"junit-suite-failed", "A suite failed outside of its test cases.", "find out why the suite failed and run it again"},
			{"junit-too-deep", "Suites are nested too deep.", "the report nests too deeply to be a known format"},
			{"junit-invalid-status", "A status says neither failed nor passed nor not run.", "update Switchyard, or check what wrote the report"},
			{"junit-invalid-line", "A line is not a whole number.", "update the runner that wrote it"},
		}},
		{"Reports of pylint", []errorEntry{
			{"pylint-invalid", "The report does not follow the format of Pylint where it matters for routing.", "use the output format json or json2 of Pylint"},
			{"pylint-invalid-type", "A message has a type that Pylint does not have.", "update Switchyard, or check what wrote the report"},
			{"pylint-invalid-line", "A line is not a whole number.", "update Pylint"},
			{"pylint-count-contradiction", "The statistics count other messages than the report lists.", "run Pylint again; neither half can be trusted"},
			{"pylint-nothing-linted", "Pylint has not linted a single module.", "check what Pylint is told to lint and to ignore"},
		}},
		{"Reports in rdjson", []errorEntry{
			{"rdjson-invalid", "The report does not follow the format where it matters for routing.", "update the tool that wrote it"},
			{"rdjson-no-diagnostics", "diagnostics is not a list, or is empty beside unknown fields, so nothing says that a tool ran.", "a tool that found nothing writes an empty list of diagnostics"},
			{"rdjson-invalid-severity", "The format does not have the severity.", "update the tool that wrote it"},
			{"rdjson-invalid-line", "A line is not a whole number.", "update the tool that wrote it"},
		}},
		{"Reports in rdjsonl", []errorEntry{
			{"rdjsonl-invalid", "A line does not follow the format where it matters for routing.", "update the tool that wrote it"},
			{"rdjsonl-empty", "There is no line, so nothing says that a tool ran.", "use rdjson, in which a tool that found nothing can say so"},
			{"rdjsonl-invalid-severity", "The format does not have the severity.", "update the tool that wrote it"},
			{"rdjsonl-invalid-line", "A line is not a whole number.", "update the tool that wrote it"},
		}},
	}
}

// policyErrors lists the codes about amending a policy, about signatures, and about
// which policy decides.
func policyErrors() []errorGroup {
	return []errorGroup{
		{"Afixing a policy", []errorEntry{
			{errs.PolicyTestsFailed, "A test of the policy fails, there are no tests, or the tests reach fewer lines than asked for.", "the output shows the failed expressions and the lines that are not reached"},
			{errs.PolicyNotProven, "The policy breaks an invariant that its decision record does not waive.", "fix the violations, or waive the invariant in the decision record if it can be waived; switchyard help policy verify lists the invariants"},
			{errs.PolicyDomainTooLarge, "The policy distinguishes too many inputs to check them all: it has too many destinations, or compares with too many numbers.", "declare fewer destinations with findings, or compare with fewer numbers"},
			{errs.PolicyWaiverInvalid, "A decision record waives an unknown invariant or one that cannot be waived, or gives no reason.", "switchyard policy verify says for each broken invariant whether a record may waive it"},
			{errs.PolicyLintFailed, "A version or its decision record breaks a rule. Each finding says where.", "the line below a finding says what to do about it; switchyard help policy has the steps of an amendment"},
			{errs.ADRInvalid, "A decision record's name, front matter or heading is wrong.", "the message says what is expected; switchyard policy new starts a complete one"},
			{errs.PolicyTreeUnreadable, "The folder of versions does not exist, or it or the folder of decision records cannot be read.", "switchyard policy new starts one; --policies and --adrs name others"},
			{errs.PolicyTreeUnwritable, "A file of a version or of its decision record cannot be written.", "check the permissions of the folders; then give the command again, which completes it"},
			{errs.PolicyVersionExists, "A file of the next version is there already, or another draft is still to be released.", "release the draft or remove it; switchyard policy list shows it"},
			{errs.PolicyVersionUnknown, "The project has no such version, or it was not said which one of several drafts is meant.", "switchyard policy list shows the versions; name one of policies/routing"},
			{errs.PolicyTitleInvalid, "The title cannot be that of a decision record.", "give a short title in one line of letters, digits and punctuation"},
			{errs.PolicySourceUnfit, "The version to start from cannot be copied: its Rego is not where its version and its record can be found.", "start from another version, or copy the folder by hand"},
			{errs.PolicyReleaseRefused, "The version breaks a rule of policy lint, so it was not released.", "fix the findings; switchyard policy lint shows them again"},
		}},
		{"Signed policies", []errorEntry{
			{errs.PolicyUnsigned, "The project has keys for policies, and this one is not signed.", "sign it: switchyard policy build --sign-key FILE; its authors can look at it with --allow-unsigned"},
			{errs.PolicySignatureInvalid, "The signature is malformed, was not made by the key that it names, or is not over exactly these files.", "do not use the bundle; get it again from its signers"},
			{errs.PolicySignatureExpired, "The signature is valid, but its time has ended or has not begun.", "get a bundle that was signed again, and check the clock"},
			{errs.PolicyKeyUnknown, "The bundle is signed by a key that the project does not have.", "if the key is to be trusted, add it under policy_trust in switchyard.yaml"},
			{errs.PolicyScopeMismatch, "The signature is valid, but for a scope for which the key is not trusted.", "sign the bundle with the --scope that policy_trust gives the key"},
			{errs.PolicyKeyInvalid, "A key of policy_trust or of --sign-key cannot be used: it is not there, is too weak, or is not of its algorithm.", "the message says which; switchyard help policy build says what kinds of keys there are"},
			{errs.PolicyRollback, "The policy is older than the one that the project adopted.", "if that is meant: switchyard policy adopt --allow-rollback, or allow_rollback under policy_trust"},
		}},
		{"Which policy decides", []errorEntry{
			{errs.PolicyChanged, "The active policy is not the adopted one, and the change was not confirmed.", "switchyard policy adopt --dry-run shows what changes, switchyard policy adopt confirms it"},
			{errs.PolicyNotConfigured, "The policy to adopt is not the one that switchyard.yaml names.", "change policy in switchyard.yaml first"},
			{errs.PolicyUnnamed, "The project adopted a policy of its own and configures none, so it is not clear which one to adopt.", "switchyard policy adopt POLICY, or name it in switchyard.yaml"},
			{errs.PolicyLost, "A policy that made a recorded decision is neither built in nor stored in the ledger.", "restore .switchyard from a copy; the decisions themselves are recorded whole"},
			{errs.PolicyFlips, "In a replay of the ledger, rounds go to a destination that --fail-on-flip forbids.", "the details count them; without --fail-on-flip the replay lists them with their causes"},
			{errs.PolicyFlipUnknown, "--fail-on-flip names a destination that neither the candidate nor any recorded decision has.", "check the spelling; switchyard policy show lists the destinations, and * stands for all"},
			{errs.LedgerExportInvalid, "The file is not the export of a ledger, or was changed since.", "export it again: switchyard ledger export"},
			{errs.ReplayRecordInvalid, "A recorded round is contradictory and cannot be replayed.", "switchyard ledger verify shows what was changed"},
			{errs.ReplayTooVaried, "The rounds name more policies or destinations than a report can list.", "replay fewer of them: --since, --through"},
		}},
	}
}

// spawnErrors lists the codes about running agents: their definitions, command lines,
// budgets, and the working tree.
func spawnErrors() []errorGroup {
	return []errorGroup{
		{"Agents and prompts", []errorEntry{
			{errs.AgentNameInvalid, "An agent's name has something else in it than letters, digits, _ and -, or is longer than 128.", "give the name alone, without a path or .md"},
			{errs.AgentNotFound, "Neither the project nor Switchyard defines the agent.", "put NAME.md into .switchyard/agents; switchyard doctor lists what there is"},
			{errs.AgentEmpty, "The agent's definition has no text below its front matter.", "write what the agent is to do, or delete the file"},
			{errs.AgentInvalidDefinition, "The agent's definition cannot be read: its front matter is not valid or names another agent, or the file is too large, not UTF-8, or outside the project.", "docs/agents.md has the keys"},
			{errs.AgentIsModule, "The name is that of a part of another agent's prompt.", "name the agent that uses it: critic"},
			{errs.AgentEdits, "The agent is meant to edit the working tree, by its name or by a tool that it lists.", "start it yourself; spawn agents that only read and report"},
			{errs.PromptTemplateInvalid, "The project's template of a prompt cannot be read, has an unknown field or an unfinished section, or leaves out what the agent needs.", "docs/agents.md has the fields; without the file ours is used"},
			{errs.PromptValueInvalid, "A value at the head of the prompt is empty, or has a line break or an invisible character in it.", "use a temporary folder with a plain name"},
			{errs.PromptTooLarge, "The prompt would have more than 4 MiB.", "shorten the template or the modules, or give long texts as files to read"},
			{errs.ResearchOutputInvalid, "A researcher's final message does not hold its answer: one JSON object with decisions, in the form of the agent's definition.", "the other researchers count all the same; docs/agents.md has the form"},
		}},
		{"Adapters", []errorEntry{
			{errs.AdapterUnknown, "There is no adapter of that name; details.known lists those that there are.", "name one of them, or add your own to spawn.adapters in switchyard.yaml"},
			{errs.AdapterInvalid, "An adapter's file breaks the rules of docs/adapters.md, or cannot be given what this spawn needs; details.problems has each place.", "fix the file; docs/adapters.md has its fields"},
			{errs.AdapterRepositorySettings, "The repository brings settings that the agent's CLI would obey and cannot be told not to.", "remove the file that is named, or choose another adapter"},
			{errs.SpawnBinaryMissing, "The program that an adapter runs is not there.", "install it, name it with SWITCHYARD_<ADAPTER>_BIN, choose another adapter with --adapter, or give the round its --report; switchyard doctor lists the programs"},
			{errs.SpawnCommandMissing, "The adapter exec runs a command of the project, and there is none.", "set spawn.command in switchyard.yaml, as in command: [sh, agent.sh], or choose another adapter with --adapter"},
			{errs.SpawnBinaryUnusable, "What should be an adapter's program cannot be executed.", "check the path and its permissions; switchyard doctor lists the programs"},
		}},
		{"Spawns", []errorEntry{
			{errs.RoundRunning, "Another process runs the task's round, with its agents.", "wait for it; switchyard status TASK --wait returns when the task changes"},
			{errs.SpawnFailed, "The agent ran, but its result cannot be used; details.reason says why. Nothing was written but the record.", "details.stderr and .switchyard/spawns.jsonl have what is known; docs/verdict.md has the reasons"},
			{errs.SpawnAuth, "The agent's program is not logged in, or not allowed. The task is as it was: nothing is decided, and no round is used up. details.said has the program's own words.", "log in with the agent's own program, or pass its credential (docs/adapters.md has the variables), or choose another adapter with --adapter or spawn.fallback_on_error; then run the command again"},
			{errs.SpawnQuota, "The quota of the agent's account is used up. The task is as it was: nothing is decided, and no round is used up. details.said has the program's own words.", "wait until the account may go on, or add to it, or choose another adapter with --adapter or spawn.fallback_on_error; then run the command again"},
			{errs.SpawnReentrant, "The command runs inside an agent that Switchyard spawned: it can neither spawn agents nor decide.", "leave it to the process that spawned the agent"},
			{errs.SpawnDepthExceeded, "The command runs inside as many hooks as there may be, or the environment holds no valid depth.", "call it from outside, or raise NUBOS_PILOT_MAX_HOOK_DEPTH"},
			{errs.SpawnLocked, "As many spawns of the agent run in the project as may at once.", "wait for one to end, or raise spawn.concurrency in switchyard.yaml"},
			{errs.SpawnSlotUnusable, "The folder .switchyard/run, which says which agents and verifications run, or a file in it, cannot be used.", "check the permissions of .switchyard; delete the file that is named if its process has ended"},
			{errs.SpawnPathOutside, "The prompt or the output lies neither in the project nor in the folder for temporary files, or a symbolic link leads out of them.", "put the file into the project, or into the folder that TMPDIR names"},
			{errs.SpawnBaseMissing, "The project's folder or the one for temporary files cannot be opened.", "check that the folder exists that TMPDIR names"},
			{errs.SpawnPromptUnreadable, "The prompt is not there, is not a regular file, is too large or may not be read.", "check the path of --prompt-path"},
			{errs.SpawnOutputUnsafe, "Where the output is to be written there is a symbolic link, a folder or a device, or the state of the project.", "remove it, or name another file"},
			{errs.SpawnOutputUnwritable, "The output's folder is missing, or the output cannot be written.", "make the folder, or make room"},
			{errs.SpawnTrailFailed, "The record of a spawn cannot be made durable, so that its output is not handed on.", "make room, and check that .switchyard/spawns.jsonl is a file that you can write"},
			{errs.SpawnFolderFailed, "The private folder of a run cannot be made or used, or it would lie in the project.", "make room in the folder that TMPDIR names, or let TMPDIR name one outside of the project"},
			{errs.SpawnJobInvalid, "A spawn has no prompt, no adapter or no limit.", "report it: a command never asks for that"},
			{errs.SpawnRunUnknown, "The task has no such run, or its end is recorded already.", "switchyard status TASK --output json lists the task's runs under spawns"},
			{errs.StateFileUnwritable, "A file of the state folder cannot be written, such as a report or a handoff to the executor.", "make room, and check the permissions of .switchyard"},
			{errs.BudgetExhausted, "The rest of a budget of the task or its round does not cover the limits of a spawn. The round puts the task aside as stuck.", "raise the budget in switchyard.yaml, then switchyard resume TASK; details.unit says which one"},
		}},
		{"The working tree", []errorEntry{
			{errs.TreeUnreadable, "Something in the working tree or in .git cannot be read, keeps changing, or is damaged, so that the changes of an agent cannot be determined.", "make it readable, or repair the repository (git fsck), and try again"},
			{errs.TreeNoGit, "A diff is wanted, and git is not installed or the project is in no repository.", "install git, or run git init in the project"},
			{errs.TreeBaseUnknown, "Git knows no commit of the name that the draft is compared with.", "name a branch, a tag or a commit of this repository with --base; one that was recorded may be gone after a rebase"},
			{errs.DraftEmpty, "The critic would review nothing: the draft differs in nothing from the task's base. The round is as it was.", "change something; name the commit where the work began with --base, as HEAD~1; or give --allow-empty"},
		}},
	}
}

// taskErrors lists the codes of a task's loop: its rounds, evidence, questions and
// verification.
func taskErrors() []errorGroup {
	return []errorGroup{
		{"Tasks and rounds", []errorEntry{
			{errs.TaskInvalidID, "A task's id is a letter or digit, then up to 127 letters, digits, dots, underscores and dashes.", "choose another id"},
			{errs.TaskNotFound, "Nothing is recorded for the task.", "switchyard status lists the tasks"},
			{errs.TaskExists, "The task that should be imported is recorded already.", "switchyard status TASK shows it"},
			{errs.TaskStarted, "The work on the task is already under way.", "continue it, or begin again with --force --reason TEXT"},
			{errs.TaskWaiting, "The task waits for the user's answer.", "switchyard status TASK shows the question, switchyard answer TASK answers it"},
			{errs.TaskNotWaiting, "The task has no question that waits for an answer.", "switchyard status TASK shows where it stands"},
			{errs.TaskStuck, "The task is stuck and takes no more rounds.", "switchyard explain TASK shows why; switchyard resume TASK lets it go on once that is fixed"},
			{errs.TaskNotStuck, "The task is not stuck, so that there is nothing to resume.", "switchyard status TASK shows where it stands"},
			{errs.TaskCommitted, "The task is done and takes no more rounds.", "switchyard phase start TASK begins again; or give further work a new task id"},
			{errs.RoundNotFound, "The task has no decision of that round.", "switchyard explain TASK lists its rounds"},
			{errs.RoundShifted, "The task is in another round than the caller means, or another command was first in it.", "look at switchyard status TASK, and run the critic again if the round is over"},
			{errs.RoundsExhausted, "The task would be in a round past 100, past its own cap, or would get a cap that is not from 1 to 100.", "ask for a cap between the round it would be in and 100, or go on under a new task id"},
			{errs.DecisionTooLarge, "The event to record has more than 64 MiB, the limit of the ledger.", "report on less at a time"},
			{errs.WaitTimeout, "Nothing changed before the timeout of status --wait.", "wait longer, or look at switchyard status"},
		}},
		{"Evidence", []errorEntry{
			{errs.EvidenceMissing, "The agent of a phase has no attestation in this round, or too few.", "run the agent, then attest it with switchyard audit; or pass the gate with --force --reason TEXT, which is recorded permanently"},
			{errs.ReportReplayed, "The report would have the task committed, names this round, and a decision of this round has used it already.", "run the critic again, and attest it with switchyard audit if its report is the same"},
			{errs.StampsTooMany, "The round has 256 attestations, searches, reports or runs, the task has 16 open runs or as many test files, or as many violations wait to be routed.", "decide the round, or begin again with switchyard phase start --force, which ends the test files too; --run attests a run only once"},
			{errs.NameTooLong, "A run's id, or the name of a test file, has more than 1,024 bytes.", "give it a shorter one"},
			{errs.AgentInvalid, "An agent's name is up to 128 letters, digits, underscores and dashes.", "give the name of the agent's definition, such as np-executor"},
			{errs.ToolUseLogInvalid, "The log of an agent's tools is not a JSON list of names, or of objects with a name.", `give a list such as ["Read", "knowledge-search"], or [] for none`},
			{errs.ForceReasonMissing, "--force is given without a reason.", "add --reason TEXT; the force, its user, time and reason are recorded permanently"},
			{errs.CommitPreconditionMissing, "The task may not be committed: details.missing lists what its round lacks.", "verify the draft, then have it reviewed, in this order and in this round"},
			{errs.CommitUnverified, "There are no findings, but the project, or an earlier round of the task, has a verification, and this round has no green one.", "add --verify-cmd, or --verify green if it ran elsewhere"},
		}},
		{"Questions", []errorEntry{
			{errs.QuestionUnknown, "The task has no such question, or has several and the answer does not say which it is for.", "switchyard status TASK shows the questions; name one with --question FINGERPRINT"},
			{errs.QuestionAnswered, "The question has another answer already.", "an answer is not taken back; the next round may ask again"},
			{errs.QuestionStale, "The question belongs to a round that is over.", "switchyard status TASK shows what is asked now, if anything"},
			{errs.AnswerInvalid, "The answer is empty, longer than 64 KiB, or not one of the choices.", "switchyard status TASK shows the choices"},
		}},
		{"Verification", []errorEntry{
			{errs.VerifyMissing, "The draft is done, but the result of its verification is unknown.", "add --verify-cmd COMMAND, or verify: COMMAND to switchyard.yaml"},
			{errs.VerifyNested, "A verification command, or a command for a report, calls Switchyard to decide a task of the same project, which could go on without end.", "the command may only verify or report; decide the round outside of it"},
			{errs.ReportCommandFailed, "A command under reports in switchyard.yaml could not run, ended with an exit code that does not mean findings, took too long, or printed no report; or the working tree changed while it ran. Nothing was decided.", "run the command by hand in the project's root; its output and its errors are in .switchyard/reports; exit_codes names the codes that mean findings; it must not change files"},
			{errs.VerifyExitCodeInvalid, "The exit code of the verification is not a decimal number from 0 to 4294967295. An empty text, a sign, a space or a leading zero does not count as success.", `pass the exit status of the shell: "$?"`},
			{errs.ConfigForeign, "switchyard.yaml belongs to another user, so its settings that run or pass on something are ignored: its verification command, its commands for reports, or the command, the adapters and the variables of its spawn section.", "check it, then make yourself its owner; a verification can be passed with --verify-cmd"},
			{errs.VerifyPlanInvalid, "The verification has a blank command, less than one run, or a negative limit.", "set the command and the number of runs under verify in switchyard.yaml, or pass --verify-cmd"},
			{errs.VerifyOutputUnsafe, "The folder for the verification's output, .switchyard/verify, is not a folder, or is a symbolic link, or the task's id cannot be part of a file's name. Nothing was run.", "remove what is at the path; it may have come with the repository"},
			{errs.VerifyOutputFailed, "The verification's output cannot be created, written or read.", "make room, and check the permissions of .switchyard/verify"},
			{errs.ProcessStart, "A program cannot be started, its folder does not exist, it lacks a limit or a regular file for its input, or the system does not let us look after child processes.", "check that the program is installed and in PATH; on Linux, /proc has to be mounted"},
			{errs.ProcessLost, "A program was started and cannot be accounted for: it or what it started outlived being killed, or its output cannot be measured, or what an earlier, killed run left cannot be told from others or contains this very program. Its result is not used.", "look for processes that run as another user or wait for a disk that does not answer, end them, and run it again; do not clean up from inside the agent that is to be ended"},
		}},
	}
}
