// Package fakeagent is a scriptable fake of an agent's command line, for tests of
// programs that spawn agents. It writes the output of the real CLIs and reproduces all of
// their observed failures.
//
// The program is in the directory fakeagent below this package. A test builds it with Build
// and writes its script with Write; Calls returns a description of each call. A release has
// only ReadBrief and Critique, for switchyard demo.
//
// # Scripts
//
// The program runs a script, a JSON file that the variable SWITCHYARD_FAKE_SCENARIO
// names. Without the variable it is the file beside the program with the program's name
// and .json. Unknown members are errors, and an invalid script ends the program with code
// 70 and a message.
//
//	{"version": "2.1.197", "help": "--print --model",
//	 "calls": [{"play": "rate-limit"},
//	           {"steps": [{"read": {}}, {"report": {}}, {"final": {}}]}]}
//
// The first call runs the first entry of calls, the second the second, and each call beyond
// the last repeats the last. Calls are counted across processes: each one takes its own
// directory, 1, 2 and so on, below the script's path with .calls added. A call writes its
// description into its directory. With --version alone, or with --help among its arguments,
// the program prints that text and counts nothing.
//
// A script may also have scenarios for roles, in "roles". A call for such a role runs the
// entry of its round, so that agents of several tasks can run at once.
//
//	{"roles": {"executor": [{"play": "executor"}],
//	           "critic": [{"play": "findings"}, {"play": "clean"}]}}
//
// # Scenarios
//
// A call's scenario is a list of steps, run in order, each an object with one member; see
// type Step. "play" names one of the presets instead. The call ends with code 0 after its
// last step, or with that of a failure if there was one. A scenario without a read step
// leaves standard input alone.
//
// The CLI to imitate follows from the arguments: claude's stream or single object, codex,
// gemini, opencode, copilot, and plain text for anything else. "cli" selects one
// explicitly.
//
// # Prompts
//
// A critic finds its task in its prompt: the last lines that begin with "task_id: ", "round:
// ", "run_id: " and "report_path: ". Missing values are taken from the variables
// SWITCHYARD_TASK, _ROUND, _RUN and _REPORT. In the paths and texts of steps, {task_id},
// {round}, {run_id} and {report_path} stand for those values.
package fakeagent
