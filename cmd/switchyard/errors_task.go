package main

// loopErrors are those of a task's loop: its rounds, its evidence, its questions
// and its verification.
func loopErrors() []errorGroup {
	return []errorGroup{
		{"Tasks and rounds", []errorEntry{
			{"task-invalid-id", "A task's id is a letter or digit, then up to 127 letters, digits, dots, underscores and dashes.", "choose another id"},
			{"task-not-found", "Nothing is recorded for the task.", "switchyard status lists the tasks"},
			{"task-exists", "The task that should be imported is recorded already.", "switchyard status TASK shows it"},
			{"task-started", "The work on the task has begun and goes on.", "go on with it, or begin anew with --force --reason TEXT"},
			{"task-waiting", "The task waits for the user's answer.", "switchyard status TASK shows the question, switchyard answer TASK answers it"},
			{"task-not-waiting", "The task has no question that waits for an answer.", "switchyard status TASK shows where it stands"},
			{"task-stuck", "The task is stuck and takes no more rounds.", "switchyard explain TASK shows why; switchyard resume TASK lets it go on once that is mended"},
			{"task-not-stuck", "The task is not stuck, so that there is nothing to resume.", "switchyard status TASK shows where it stands"},
			{"task-committed", "The task is done and takes no more rounds.", "switchyard phase start TASK begins anew; or give further work a new task id"},
			{"round-not-found", "The task has no decision of that round.", "switchyard explain TASK lists its rounds"},
			{"round-shifted", "The task is in another round than the caller means, or another command was first in it.", "look at switchyard status TASK, and run the critic again if the round is over"},
			{"rounds-exhausted", "The task would be in a round past 100, past its own cap, or would get a cap that is not from 1 to 100.", "ask for a cap between the round it would be in and 100, or go on under a new task id"},
			{"decision-too-large", "What is to be recorded has more than 64 MiB, which the ledger does not take.", "report on less at a time"},
			{"wait-timeout", "Nothing changed in the time that status --wait was to wait.", "wait longer, or look at switchyard status"},
		}},
		{"Evidence", []errorEntry{
			{"evidence-missing", "The agent whose work a phase is has left no stamp in this round, or too few.", "run the agent, then stamp it with switchyard audit; or pass the gate with --force --reason TEXT, which is recorded for ever"},
			{"report-replayed", "The report would have the task committed, names this round, and a decision of this round has used it already.", "run the critic again, and stamp it with switchyard audit where its report comes out the same"},
			{"stamps-too-many", "The round has 256 stamps, searches, reports or runs already, the task 16 open runs or so many test files, or so many violations wait to be routed.", "decide the round, or begin anew with switchyard phase start --force, which ends the test files too; --run stamps a run only once"},
			{"name-too-long", "A run's id, or the name of a test file, has more than 1,024 bytes.", "give it a shorter one"},
			{"agent-invalid", "An agent's name is up to 128 letters, digits, underscores and dashes.", "give the name of the agent's definition, such as np-executor"},
			{"tool-use-log-invalid", "The log of an agent's tools is no JSON list of names, or of objects with a name.", `give a list such as ["Read", "knowledge-search"], or [] for none`},
			{"force-reason-missing", "A gate is to be forced, and nobody says why.", "add --reason TEXT; who forced what, when and why is recorded for ever"},
			{"commit-precondition-missing", "The task may not be committed: details.missing lists what its round lacks.", "verify the draft, then have it reviewed, in this order and in this round"},
			{"commit-unverified", "There are no findings, but the project, or an earlier round of the task, has a verification, and this round has no green one.", "add --verify-cmd, or --verify green if it ran elsewhere"},
		}},
		{"Questions", []errorEntry{
			{"question-unknown", "The task has no such question, or has several and the answer does not say which it is for.", "switchyard status TASK shows the questions; name one with --question FINGERPRINT"},
			{"question-answered", "The question has another answer already.", "an answer is not taken back; the next round may ask again"},
			{"question-stale", "The question belongs to a round that is over.", "switchyard status TASK shows what is asked now, if anything"},
			{"answer-invalid", "The answer is empty, longer than 64 KiB, or none of the choices.", "switchyard status TASK shows the choices"},
		}},
		{"Verification", []errorEntry{
			{"verify-missing", "A draft is done, and nothing says how its verification ended.", "add --verify-cmd COMMAND, or verify: COMMAND to switchyard.yaml"},
			{"verify-nested", "A verification command, or a command for a report, calls Switchyard to decide a task of the same project, which could go on without end.", "let the command only verify or report; decide the round around it"},
			{"report-command-failed", "A command under reports in switchyard.yaml could not run, ended with an exit code that does not mean findings, took too long, or printed no report; or the working tree changed while it ran. Nothing was decided.", "run the command by hand in the project's root; its output and its errors are in .switchyard/reports; exit_codes names the codes that mean findings; it must not change files"},
			{"verify-exit-code-invalid", "What was given as the verification's exit code is no decimal number from 0 to 4294967295. An empty text, a sign, a space or a leading zero is not taken for success.", `pass the exit status as the shell has it: "$?"`},
			{"config-foreign", "switchyard.yaml belongs to another user, so that what it would run or hand out is not used: its verification command, its commands for reports, or the command, the adapters and the variables of its spawn section.", "look at it, then make the file your own; a verification can be passed with --verify-cmd"},
			{"verify-plan-invalid", "The verification has a blank command, less than one run, or a negative limit.", "set the command and the number of runs under verify in switchyard.yaml, or pass --verify-cmd"},
			{"verify-output-unsafe", "The folder for the verification's output, .switchyard/verify, is a symbolic link or no folder, or the task's id cannot be part of a file's name. Nothing was run.", "remove what is at the path; it may have come with the repository"},
			{"verify-output-failed", "The verification's output cannot be created, written or read.", "make room, and check the permissions of .switchyard/verify"},
			{"process-start", "A program cannot be started, its folder does not exist, it lacks a limit or a regular file for its input, or the system does not let us look after child processes.", "check that the program is installed and in PATH; on Linux, /proc has to be mounted"},
			{"process-lost", "A program was started and cannot be accounted for: it or what it started outlived being killed, or its output cannot be measured, or what an earlier, killed run left cannot be told from others or contains this very program. Its result is not used.", "look for processes that run as another user or wait for a disk that does not answer, end them, and run it again; do not clean up from inside the agent that is to be ended"},
		}},
	}
}
