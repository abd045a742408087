// Package fakeagent is a scriptable fake of an agent's command line, for tests of
// whoever spawns one. It writes what the real CLIs write, and misbehaves in every
// way that they have been seen to.
//
// Its program is fakeagent, below this package. A test builds it with Build and
// writes what it shall play with Write; Calls returns what each call of it saw.
// It is no part of what users get.
//
// # Scripts
//
// The program plays a script, a JSON file that the variable
// SWITCHYARD_FAKE_SCENARIO names. Without the variable it is the file beside the
// program with the program's name and .json. Unknown members are errors, and a
// script that cannot be played ends the program with code 70 and a message.
//
//	{"version": "2.1.197", "help": "--print --model",
//	 "calls": [{"play": "rate-limit"},
//	           {"steps": [{"read": {}}, {"report": {}}, {"final": {}}]}]}
//
// The first call plays the first of calls, the second the second, and each call
// beyond the last plays the last again. Calls are counted across processes: each
// one takes a folder of its own, 1, 2 and so on, in the script's path with .calls
// added, or where SWITCHYARD_FAKE_CALLS names another place. A place inside the
// project under test would count as a change of its tree. Into its folder a call
// puts what it saw. With --version alone, or with --help among its arguments, the
// program prints that text and counts nothing.
//
// # Scenarios
//
// A call's scenario is a list of steps, taken in turn, each an object with one
// member; type Step has them all. "play" names one of the presets instead. The
// call ends with code 0 after its last step, or with that of a failure if there
// was one. A scenario that does not read leaves standard input alone.
//
// The CLI that speaks is told from the arguments, as the real one is asked to be:
// claude's stream or single object, codex, gemini, opencode, copilot, and plain
// text for anything else. "cli" names one.
//
// # Prompts
//
// What a critic is asked for, it finds in its prompt: the last lines that begin
// with "task_id: ", "round: ", "run_id: " and "report_path: ". In the paths and
// texts of steps, {task_id}, {round}, {run_id} and {report_path} stand for those.
package fakeagent
