package main

import "github.com/switchyard-dev/switchyard/internal/errs"

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
