package nubospilot

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/digest"
)

// schema is the supported version of checkpoints.
const schema = 1

// checkpoint reads one checkpoint.
type checkpoint struct {
	*reader
	shared *shared
	// file is its name in messages.
	file string
	task Task
	// action is the decision of the last phase.
	action string
}

// parse reads a checkpoint. Its error says why the task cannot be imported at all.
func (c *checkpoint) parse(id string, data []byte) error {
	top, ok := objectOf(data)
	if !ok {
		return errors.New("it is not a JSON object, or it is damaged")
	}
	if err := version(top); err != nil {
		return err
	}
	statuses := []string{"in-progress", "verifying", "pre-commit", "done", "stuck"}
	c.task = Task{ID: id, Status: top.text("status"), Round: 1, Digest: digest.Of(data)}
	switch {
	case len(id) > maxID:
		return fmt.Errorf("its task id has more than %d characters", maxID)
	case top.text("task_id") != id:
		return errors.New("it is about another task than its name says")
	case !slices.Contains(statuses, c.task.Status):
		return fmt.Errorf("its status is not one of %s", strings.Join(statuses, ", "))
	}
	if top.says("nubosloop") {
		loop, ok := objectOf(top["nubosloop"])
		if !ok {
			return errors.New("its nubosloop is not an object")
		}
		if err := c.loop(loop); err != nil {
			return err
		}
	}
	groups := topGroups()
	c.shared.add(id, top, groups)
	if names := unknown(top, groups, "schema_version", "task_id", "status", "started_at", "last_update", "nubosloop"); len(names) > 0 {
		c.leave(c.file+": "+some(names), "these keys are unknown")
	}
	return nil
}

func version(top object) error {
	n, ok := countOf(top["schema_version"])
	switch {
	case !top.says("schema_version"):
		return errors.New("it has no schema version")
	case !ok:
		return errors.New("its schema version is damaged")
	case n > schema:
		return fmt.Errorf("it has schema version %d, which is newer than %d", n, schema)
	}
	return nil
}

// loop reads the state of a task's loop.
func (c *checkpoint) loop(loop object) error {
	phases := []string{"", "preflight", "post-researcher", "post-architect", "post-test-writer", "post-executor", "post-critics", "commit", "stuck"}
	c.task.Phase = loop.text("last_phase")
	c.action = loop.text("last_action")
	if loop.says("last_phase") && loop["last_phase"].Kind() != '"' || !slices.Contains(phases, c.task.Phase) {
		return errors.New("its last phase is none that nubos-pilot has")
	}
	if loop.says("round") {
		round, ok := countOf(loop["round"])
		if !ok {
			return errors.New("its round is not a whole number of 1 or more")
		}
		c.task.Round = round
	} else if c.task.Phase != "" {
		return errors.New("it has a last phase and no round")
	}
	c.cap(loop)
	c.stuck(loop)
	c.findings(loop)
	c.violations(loop)
	forced := c.forced(loop)
	groups := loopGroups()
	c.shared.add(c.task.ID, loop, groups)
	taken := []string{"round", "last_phase", "last_action", "max_rounds_override", "stuck", "stuck_reason", "findings", "findings_per_round"}
	if names := unknown(loop, groups, append(taken, forced...)...); len(names) > 0 {
		c.leave(c.file+": nubosloop: "+some(names), "these keys are unknown")
	}
	return nil
}

// cap reads the task's own cap of rounds.
func (c *checkpoint) cap(loop object) {
	const name = "max_rounds_override"
	if !loop.says(name) {
		return
	}
	n, ok := countOf(loop[name])
	if !ok {
		c.leave(c.file+": "+name, "it is no whole number of 1 or more")
		return
	}
	if n > maxRounds {
		c.leave(c.file+": "+name, "it is %d, which is taken as %d", n, maxRounds)
		n = maxRounds
	}
	c.task.MaxRounds = n
}

// stuck reads why the task is stuck. nubos-pilot does not clear the flag when a task
// restarts, so only the status is reliable.
func (c *checkpoint) stuck(loop object) {
	if c.task.Status == "stuck" {
		c.task.StuckReason = loop.text("stuck_reason")
	} else if loop.holds("stuck") {
		c.leave(c.file+": stuck, stuck_reason", "the task's status is %s, so these are of an earlier time", c.task.Status)
	}
}

// forced reads the overridden gates and returns their keys.
func (c *checkpoint) forced(loop object) (keys []string) {
	gate := regexp.MustCompile(`^forced_([a-z_]{1,64})$`)
	for _, key := range slices.Sorted(maps.Keys(loop)) {
		match := gate.FindStringSubmatch(key)
		if match == nil {
			continue
		}
		keys = append(keys, key)
		// Any other value was set on purpose.
		if loop.says(key) && loop[key].Kind() != 'f' {
			c.task.Forced = append(c.task.Forced, strings.ReplaceAll(match[1], "_", "-"))
		}
	}
	return keys
}

// violations reads the audits that report a missing search and are still open.
func (c *checkpoint) violations(loop object) {
	audits, ok := listOf(loop["tool_use_audit"])
	damaged := 0
	if !ok {
		damaged++
	}
	valid := agentName()
	for _, entry := range audits {
		audit, ok := objectOf(entry)
		if ok && (!audit.holds("violation") || c.settled(audit)) {
			continue
		}
		round, known := countOf(audit["round"])
		v := Violation{Agent: audit.text("agent"), Kind: audit.text("violation"), Round: round}
		switch {
		case !ok, !valid.MatchString(v.Agent), v.Kind == "", !known, round > c.task.Round:
			damaged++
		case !slices.Contains(c.task.Violations, v):
			c.task.Violations = append(c.task.Violations, v)
		}
	}
	if damaged > 0 {
		c.leave(c.file+": tool_use_audit", "%d damaged entries; audit the agents again", damaged)
	}
}

// settled reports whether a round routed the violation to an agent that could fix it.
// nubos-pilot also marks it as routed if the round ended in stuck or in a question, and
// never returns to it.
func (c *checkpoint) settled(audit object) bool {
	routed, ok := countOf(audit["routed_in_round"])
	if !ok {
		return false
	}
	stuck := c.task.Status == "stuck" || c.task.Phase == "stuck" || c.action == "stuck"
	switch {
	case stuck && routed == c.task.Round:
		return false
	case c.action == "askuser" && routed >= c.task.Round-1: // Newer versions advance the round.
		return false
	}
	return true
}

// The limits on findings: per task, and for all tasks together.
const (
	maxFindings    = 10_000
	maxAllFindings = 100_000
)

// findings reads the findings of all rounds: the lists by round, and the entries of the
// latest list, which has no round, that are not among them.
func (c *checkpoint) findings(loop object) {
	wrong := make(problems)
	byRound, ok := objectOf(loop["findings_per_round"])
	if loop.says("findings_per_round") && !ok {
		wrong[noList]++
	}
	lists := make(map[int]jsontext.Value, len(byRound))
	for name, list := range byRound {
		round, ok := countOf(jsontext.Value(name))
		if !ok || round > c.task.Round {
			wrong["rounds that the task was not in: %d"]++
			continue
		}
		lists[round] = list
	}
	for _, round := range slices.Sorted(maps.Keys(lists)) {
		c.addAll(lists[round], round, true, wrong)
	}
	stored := make(map[Finding]bool, len(c.task.Findings))
	for _, f := range c.task.Findings {
		f.Round = 0
		stored[f] = true
	}
	before := len(c.task.Findings)
	c.addAll(loop["findings"], c.task.Round, true, wrong)
	newest := slices.DeleteFunc(slices.Clone(c.task.Findings[before:]), func(f Finding) bool {
		f.Round = 0
		return stored[f]
	})
	c.task.Findings = append(c.task.Findings[:before], newest...)
	for _, why := range slices.Sorted(maps.Keys(wrong)) {
		c.leave(c.file+": findings", why, wrong[why])
	}
}

// problems counts a task's findings with the same problem, by its message.
type problems map[string]int

const noList = "%d are no lists, or not by round"

// addAll adds the findings of a list. If reports is true, an entry may also be a whole
// report, as in tasks that became stuck by a report's path.
func (c *checkpoint) addAll(list jsontext.Value, round int, reports bool, wrong problems) {
	entries, ok := listOf(list)
	if !ok {
		wrong[noList]++
	}
	for _, entry := range entries {
		fields, ok := objectOf(entry)
		switch {
		case !ok:
			wrong["%d are no objects"]++
		case len(c.task.Findings) >= maxFindings || c.reader.findings >= maxAllFindings:
			wrong["%d are too many"]++
		case reports && fields.text("category") == "" && fields["findings"].Kind() == '[':
			c.addAll(fields["findings"], round, false, wrong)
		default:
			c.reader.findings++
			c.task.Findings = append(c.task.Findings, finding(fields, round, wrong))
		}
	}
}

// finding reads a finding. A damaged field gets its strictest value, so that no finding
// is lost.
func finding(fields object, round int, wrong problems) Finding {
	f := Finding{
		Round: round, Category: fields.text("category"), Severity: fields.text("severity"),
		File: fields.text("file"), Remediation: fields.text("remediation"),
	}
	repaired := false
	if f.Category == "" {
		f.Category, repaired = "unknown", true
	}
	if !slices.Contains([]string{"fail", "risk", "nit"}, f.Severity) {
		repaired = repaired || fields.says("severity")
		f.Severity = "fail"
	}
	for _, name := range []string{"file", "remediation"} {
		repaired = repaired || fields.says(name) && fields[name].Kind() != '"'
	}
	if fields.says("line") {
		line, err := strconv.Atoi(string(fields["line"]))
		if err != nil || line < 1 {
			line, repaired = 0, true
		}
		f.Line = line
	}
	if repaired {
		wrong["%d have a damaged field; they are taken over as severity fail, category unknown or without a place"]++
	}
	return f
}

// group is a set of checkpoint keys that are not imported for one reason.
type group struct {
	names []string
	why   string
}

// loopGroups are the keys of a task's loop that are not imported.
func loopGroups() []group {
	return []group{
		{[]string{"verify_exit_code", "verify_output_excerpt"}, "nothing proves which round and which draft a verification was of; verify again"},
		{[]string{"tool_use_audit", "search_evidence"}, "attestations that only their agents claim; only open violations are taken over, so attest the current round again"},
		{[]string{"pending_askuser_spec", "user_reply"}, "a question and its answer belong to a finding; the critic's next report asks again"},
		{[]string{"skill_expect", "skill_evidence", "skill_routed_rounds"}, "Switchyard does not know skills"},
		{[]string{"cache_hit", "cache_miss_reason", "bypass_swarm", "degraded"}, "Switchyard has no store of knowledge or learnings"},
		{[]string{"committed_at", "commit_skipped", "files_ignored"}, "a commit needs its evidence in the same round; give it again"},
		{[]string{"tdd_tests", "spawn_headless_fallbacks"}, "they have no counterpart"},
		{[]string{"stuck_at", "restart_count", "restarted_at"}, "they stay in the checkpoint"},
	}
}

// topGroups are the top-level keys that are not imported.
func topGroups() []group {
	return []group{
		{[]string{"phase", "plan", "wave", "files_touched", "resume_hint"}, "Switchyard does not plan the work"},
	}
}

// shared collects the tasks with the same message, so that it is reported once.
type shared struct {
	entries []*entry
}

type entry struct {
	names []string
	why   string
	tasks []string
}

// add notes the names of a group that a task's object has.
func (s *shared) add(task string, o object, groups []group) {
	for _, g := range groups {
		var held []string
		for _, name := range g.names {
			if o.holds(name) {
				held = append(held, name)
			}
		}
		if len(held) == 0 {
			continue
		}
		at := slices.IndexFunc(s.entries, func(e *entry) bool { return e.why == g.why })
		if at < 0 {
			at = len(s.entries)
			s.entries = append(s.entries, &entry{why: g.why})
		}
		e := s.entries[at]
		e.tasks = append(e.tasks, task)
		for _, name := range held {
			if !slices.Contains(e.names, name) {
				e.names = append(e.names, name)
			}
		}
	}
}

// report lists all messages.
func (s *shared) report(r *reader) {
	for _, e := range s.entries {
		r.leave(strings.Join(e.names, ", ")+" of "+some(e.tasks), "%s", e.why)
	}
}

// unknown returns the names that are neither in the groups nor in others, in byte order.
func unknown(o object, groups []group, others ...string) []string {
	var names []string
	for name := range o {
		known := slices.Contains(others, name) ||
			slices.ContainsFunc(groups, func(g group) bool { return slices.Contains(g.names, name) })
		if !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
