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
