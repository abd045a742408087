package nubospilot

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
)

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
		c.leave(c.file+": nubosloop: "+some(names), "nobody here knows these keys")
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
		if !ok {
			damaged++
			continue
		}
		if !audit.holds("violation") || c.settled(audit) {
			continue
		}
		v := Violation{Agent: audit.text("agent"), Kind: audit.text("violation")}
		round, known := countOf(audit["round"])
		if !valid.MatchString(v.Agent) || v.Kind == "" || !known || round > c.task.Round {
			damaged++
			continue
		}
		v.Round = round
		if !slices.Contains(c.task.Violations, v) {
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
