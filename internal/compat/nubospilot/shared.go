package nubospilot

import (
	"slices"
	"strings"
)

// group is a set of checkpoint keys that are not imported for one reason.
type group struct {
	names []string
	why   string
}

// loopGroups are the keys of a task's loop that are not imported.
func loopGroups() []group {
	return []group{
		{[]string{"verify_exit_code", "verify_output_excerpt"}, "nothing proves which round and which draft a verification was of; verify again"},
		{[]string{"tool_use_audit", "search_evidence"}, "stamps that nobody but their agents vouches for; only open violations are taken over, so stamp the current round again"},
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
