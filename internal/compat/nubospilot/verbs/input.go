package verbs

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
)

// Input is the command line of a verb.
type Input struct {
	// TaskID is the argument, or "".
	TaskID string
	// Flags has the values of the given flags.
	Flags map[string]string
}

// Text returns the value of a flag. A value that begins with two dashes counts as absent: it is
// the next flag.
func (in Input) Text(flag string) string {
	text, _ := in.value(flag)
	return text
}

// Given reports whether a flag has a value, which may be empty.
func (in Input) Given(flag string) bool {
	_, given := in.value(flag)
	return given
}

func (in Input) value(flag string) (text string, given bool) {
	if text, given = in.Flags[flag]; strings.HasPrefix(text, "--") {
		return "", false
	}
	return text, given
}

// On reports whether a switch is given.
func (in Input) On(flag string) bool { return in.Flags[flag] == "true" }

// need returns the value of a flag, or an error if it is blank.
func (in Input) need(flag string, missing errs.Code) (string, error) {
	text := in.Text(flag)
	if strings.TrimSpace(text) == "" {
		return "", errs.New(missing, "--%s is missing", flag)
	}
	return text, nil
}

// Check checks the task id and the flags that the verb always needs.
func (v Verb) Check(in Input) error {
	// This is stricter than the rest of Switchyard, because scripts rely on the form.
	if v.InvalidTask != "" && (!regexp.MustCompile(`^M\d{3,}-S\d{3,}-T\d{4,}$`).MatchString(in.TaskID) || task.CheckID(in.TaskID) != nil) {
		return errs.New(v.InvalidTask, "%q is not a task id", in.TaskID).With("task_id", in.TaskID)
	}
	for _, f := range v.Flags {
		if f.Missing != "" && in.Text(f.Name) == "" {
			return errs.New(f.Missing, "--%s is missing", f.Name)
		}
	}
	return nil
}

// Phase returns the requested phase of loop-run-round.
func (in Input) Phase() (Phase, error) {
	name := in.Text("phase")
	for _, p := range Phases() {
		if p.Name == name {
			return p, nil
		}
	}
	if name == "" {
		return Phase{}, errs.New(errs.LoopRunRoundMissingPhase, "--phase is missing").With("phases", phaseNames())
	}
	return Phase{}, errs.New(errs.LoopRunRoundInvalidPhase, "there is no phase %q", name).With("phase", name).With("phases", phaseNames())
}

// Query returns the subject of the work, which preflight needs.
func (in Input) Query() (string, error) {
	return in.need("query", errs.LoopRunRoundPreflightMissingQuery)
}

// Reason returns the reason for stopping a task, and whether the task's own cap is dropped.
func (in Input) Reason() (reason string, forgetCap bool, err error) {
	reason, err = in.need("reason", errs.LoopStuckMissingReason)
	return reason, reason == "user-requested-replan" || reason == "manual-fix-pending", err
}

// ExitCode returns the exit code of the draft's verification. It must be a number, so that an
// unset variable does not pass for success.
func (in Input) ExitCode() (int, error) {
	text, given := in.value("verify-exit-code")
	if !given {
		return 0, errs.New(errs.LoopRunRoundPostExecutorMissingVerify, "--verify-exit-code is missing").With("got", nil)
	}
	code, err := verifycmd.ParseExitCode(text)
	if err != nil {
		return 0, errs.New(errs.LoopRunRoundPostExecutorMissingVerify, "%w", err).With("got", text)
	}
	return code, nil
}

// Timeout returns the time limit of spawn-headless.
func (in Input) Timeout(shortest, longest time.Duration) (time.Duration, error) {
	text := in.Text("timeout-ms")
	if _, typed := in.Flags["timeout-ms"]; !typed {
		text = "600000"
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < shortest.Milliseconds() || ms > longest.Milliseconds() {
		return 0, errs.New(errs.SpawnHeadlessInvalidTimeout, "--timeout-ms %.40q: the limit is from %d to %d", text, shortest.Milliseconds(), longest.Milliseconds())
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// AuditRequest returns the flag that selects the request of loop-audit-tool-use: read,
// search or tool-use-log.
func (in Input) AuditRequest() (string, error) {
	read, search, log := in.On("read"), in.Given("search"), in.Given("tool-use-log")
	_, typed := in.Flags["search"]
	switch {
	case read && search || search && log || log && read:
		return "", errs.New(errs.Usage, "--read, --search and --tool-use-log are three different requests; give one")
	case typed && strings.TrimSpace(in.Text("search")) == "":
		return "", errs.New(errs.Usage, "--search must not be empty")
	case read:
		return "read", nil
	case search:
		return "search", nil
	default:
		return "tool-use-log", nil
	}
}

// ToolLog returns the log of an agent's tool uses, or nil. Audited agents must have a log.
func (in Input) ToolLog(audited bool) ([]byte, error) {
	agent := in.Text("agent")
	log := jsontext.Value(in.Text("tool-use-log"))
	switch {
	case !in.Given("tool-use-log") && audited:
		return nil, errs.New(errs.LoopAuditMissingLog, "%s must search, but there is no log of its tools", agent).With("agent", agent)
	case !in.Given("tool-use-log"):
		return nil, nil
	case !log.IsValid():
		return nil, errs.New(errs.LoopAuditInvalidLog, "--tool-use-log is not JSON")
	case log.Kind() != '[':
		return nil, errs.New(errs.NubosloopAuditInvalidLog, "--tool-use-log is not a list")
	}
	return log, nil
}

// Recode returns an error of the engine with nubos-pilot's code from the first matching table,
// with the details that nubos-pilot's scripts read, and with the hint of the new code.
func Recode(err error, tables ...map[errs.Code]errs.Code) error {
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return err
	}
	for _, table := range tables {
		if code, ok := table[e.Code]; ok {
			c := *e
			c.Code, c.Hint = code, ""
			return withDetails(&c, e.Code)
		}
	}
	return err
}

// withDetails adds the details of an engine's error under nubos-pilot's names.
func withDetails(e *errs.Error, code errs.Code) *errs.Error {
	switch code {
	case errs.EvidenceMissing:
		return e.With("missing", []any{e.Details["agent"]}).With("required_count", e.Details["required"]).With("found_count", e.Details["found"])
	case errs.CommitPreconditionMissing:
		missing, _ := e.Details["missing"].([]string)
		names := make([]string, len(missing))
		for i, m := range missing {
			names[i] = "findings"
			if m == task.MissingVerification {
				names[i] = "verify_exit_code"
			}
		}
		return e.With("missing", names)
	default:
		return e
	}
}

// ReadFile reads a file that a flag names.
type ReadFile func(path string) ([]byte, error)

// CriticOutputs returns the critics' reports for post-critics, one or several, as JSON.
func (in Input) CriticOutputs(read ReadFile) ([]byte, error) {
	text, kind, reports, err := in.reports("critic-outputs", errs.LoopRunRoundPostCriticsConflictingOutputs, read)
	switch {
	case err != nil:
		return nil, err
	case len(text) == 0:
		return nil, errs.New(errs.LoopRunRoundPostCriticsMissingOutputs, "no report is given")
	case kind == 0:
		return nil, errs.New(errs.LoopRunRoundPostCriticsMissingOutputsInvalidJSON, "--critic-outputs is not JSON")
	case kind != '[' && in.Given("critic-outputs"):
		return nil, errs.New(errs.LoopRunRoundPostCriticsInvalidOutputs, "--critic-outputs is not a list")
	case len(reports) == 0:
		return nil, errs.New(errs.LoopRunRoundPostCriticsEmptyOutputs, "the list of reports is empty: no critic has reported")
	}
	return text, nil
}

// Findings returns a report with findings for a stopped task, or nil if the task keeps its own
// findings.
func (in Input) Findings(read ReadFile) ([]byte, error) {
	text, kind, items, err := in.reports("findings", errs.LoopRunRoundStuckConflictingFindings, read)
	switch {
	case err != nil || text == nil:
		return nil, err
	case kind != '[' && kind != '{':
		return nil, errs.New(errs.LoopRunRoundStuckInvalidFindings, "--findings is neither a JSON list nor a report")
	case !hasReport(items):
		text = append(append([]byte(`{"critic":"critic","findings":`), withoutMark(text)...), '}')
	}
	return text, nil
}

// reports returns the text of a flag, or of the file that FLAG-path names, and the result of
// parseReports. The text is nil if neither flag is given. A file must have a report or a list of
// reports.
func (in Input) reports(flag string, conflict errs.Code, read ReadFile) ([]byte, jsontext.Kind, []jsontext.Value, error) {
	pathFlag := flag + "-path"
	var text []byte
	switch {
	case in.Given(flag) && in.Given(pathFlag):
		return nil, 0, nil, errs.New(conflict, "--%s and --%s are both given", flag, pathFlag)
	case in.Given(flag):
		text = []byte(in.Text(flag))
	case in.Given(pathFlag):
		path := in.Text(pathFlag)
		var err error
		if text, err = read(path); err != nil {
			return nil, 0, nil, err
		}
		switch kind, _ := parseReports(text); kind {
		case '[', '{':
		case 0:
			return nil, 0, nil, errs.New(errs.LoopRunRoundCriticOutputsPathInvalidJSON, "%s is not JSON", path).With("path", path)
		default:
			return nil, 0, nil, errs.New(errs.LoopRunRoundCriticOutputsPathInvalidShape, "%s is neither a report nor a list of reports", path).With("path", path)
		}
	}
	kind, items := parseReports(text)
	return text, kind, items, nil
}

// parseReports returns the kind of a JSON value, or 0 if it is not JSON, and the items of a list,
// or else the value itself. The report's plugin checks the rest.
func parseReports(text []byte) (jsontext.Kind, []jsontext.Value) {
	lax := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	value := withoutMark(text)
	if !value.IsValid(lax) {
		return 0, nil
	}
	if value.Kind() != '[' {
		return value.Kind(), []jsontext.Value{value}
	}
	var items []jsontext.Value
	if err := json.Unmarshal(value, &items, lax); err != nil {
		return 0, nil
	}
	return '[', items
}

// withoutMark returns a text without its byte order mark, which the report's plugin skips too.
func withoutMark(text []byte) jsontext.Value { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// hasReport distinguishes a list of reports from a list of findings: only a report has lists.
func hasReport(items []jsontext.Value) bool {
	for _, item := range items {
		var report struct {
			Findings jsontext.Value `json:"findings"`
			Criteria jsontext.Value `json:"criteria"`
		}
		err := json.Unmarshal(item, &report, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if err == nil && (report.Findings != nil || report.Criteria != nil) {
			return true
		}
	}
	return false
}
