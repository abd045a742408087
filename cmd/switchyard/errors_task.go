package main

import "github.com/switchyard-dev/switchyard/internal/errs"

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
