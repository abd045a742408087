package task_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// audited returns the attestation of an agent that must search, with its claimed tools.
func audited(agent string, tools ...string) task.AttestAgent {
	return task.AttestAgent{
		Agent: agent, Source: task.ByHand, By: "somebody", Tools: tools,
		Audited:     []string{task.AgentResearcher, task.AgentExecutor, task.AgentFixer},
		SearchTools: []string{"knowledge-search"},
	}
}

func looked(agent string) task.RecordSearch {
	return task.RecordSearch{Agent: agent, Query: "how", Source: task.ByHand, By: "somebody"}
}

func newest(s task.State) task.Attestation { return s.Attestations[len(s.Attestations)-1] }

func TestRule9(t *testing.T) {
	open := do(t, task.State{}, begin)
	for _, c := range []struct {
		id       string
		before   []task.Command
		audit    task.AttestAgent
		credited int
		want     task.ViolationKind
	}{
		{"no search", nil, audited(task.AgentExecutor, "edit"), 0, task.NoSearch},
		{"a tool that does not search", []task.Command{looked(task.AgentExecutor)}, audited(task.AgentExecutor, "web-search-pro"), 0, task.NoSearch},
		{"another agent's search", []task.Command{looked(task.AgentResearcher)}, audited(task.AgentExecutor, "knowledge-search"), 0, task.SearchUnverified},
		{"its own search", []task.Command{looked(task.AgentExecutor)}, audited(task.AgentExecutor, "edit", "knowledge-search", "knowledge-search"), 2, ""},
		{"a search without an agent", []task.Command{looked("")}, audited(task.AgentExecutor, "knowledge-search"), 1, ""},
		{"a search without an agent beside a named one", []task.Command{looked(""), looked(task.AgentResearcher)}, audited(task.AgentExecutor, "knowledge-search"), 0, task.SearchUnverified},
		{"its own search beside one without an agent", []task.Command{looked(""), looked(task.AgentExecutor)}, audited(task.AgentExecutor, "knowledge-search"), 1, ""},
		{"an agent that need not search", nil, audited(task.AgentCritic), 0, ""},
		{"a claimed search", nil, audited(task.AgentExecutor, "knowledge-search"), 0, task.SearchUnverified},
		{"searched but not used", []task.Command{looked(task.AgentExecutor)}, audited(task.AgentExecutor), 0, task.NoSearch},
		{"a critic without a log", nil, audited(task.AgentCritic), 0, ""},
	} {
		t.Run(c.id, func(t *testing.T) {
			s := do(t, open, append(c.before, c.audit)...)
			if st := newest(s); st.Violation != c.want || st.Credited != c.credited || st.ToolUses != len(c.audit.Tools) {
				t.Errorf("%+v", st)
			}
			if got := len(s.Violations) == 1; got != (c.want != "") {
				t.Errorf("violations %v", s.Violations)
			}
		})
	}
	t.Run("what the host saw needs no other evidence", func(t *testing.T) {
		c := audited(task.AgentExecutor, "knowledge-search")
		c.Source = task.ByHost
		if st := newest(do(t, open, c)); st.Violation != "" || st.Credited != 1 {
			t.Errorf("%+v", st)
		}
		c.Tools = nil
		if st := newest(do(t, open, looked(task.AgentExecutor), c)); st.Violation != task.NoSearch {
			t.Errorf("it saw no search: %+v", st)
		}
	})
	t.Run("an invalid agent or log", func(t *testing.T) {
		for _, name := range []string{"", "a b", "np/x", "é", strings.Repeat("a", 129)} {
			refuse(t, open, ran(name), errs.AgentInvalid)
			if name != "" {
				refuse(t, open, looked(name), errs.AgentInvalid)
			}
		}
	})
	t.Run("an attestation of an earlier round", func(t *testing.T) {
		if st := newest(do(t, inRound2(t), ran(task.AgentFixer))); st.Round != 2 {
			t.Errorf("round %d", st.Round)
		}
	})
	t.Run("a search of an earlier round", func(t *testing.T) {
		s := do(t, decide(t, do(t, open, looked(task.AgentFixer)), onRed), audited(task.AgentFixer, "knowledge-search"))
		if st := newest(s); st.Violation != task.SearchUnverified || st.SearchEvidence != 0 {
			t.Errorf("%+v", st)
		}
	})
	t.Run("the same run counts once", func(t *testing.T) {
		c := ran(task.AgentResearcher)
		c.Run = "r1"
		s := do(t, open, c)
		nothing(t, s, c)
		other, another := c, c
		other.Agent, another.Run = task.AgentExecutor, "r2"
		if s = do(t, s, other, another); s.CountAttestations(task.AgentResearcher) != 2 {
			t.Errorf("%d stamps", s.CountAttestations(task.AgentResearcher))
		}
	})
	t.Run("a round has so many stamps and searches", func(t *testing.T) {
		s := open
		for i := range 256 {
			c := ran(task.AgentCritic)
			c.Run = fmt.Sprint(i)
			s = do(t, s, c, looked(""))
		}
		refuse(t, s, ran(task.AgentCritic), errs.StampsTooMany)
		refuse(t, s, looked(""), errs.StampsTooMany)
		do(t, decide(t, s, toExecutor), ran(task.AgentCritic), looked(""))
	})
	t.Run("a query is cut between two code points", func(t *testing.T) {
		for _, query := range []string{strings.Repeat("é", 150), "x" + strings.Repeat("é", 150), strings.Repeat("\U0001f9ea", 60)} {
			s := do(t, open, task.RecordSearch{Query: query})
			if got := s.Searches[0].Query; len(got) > 200 || len(got) < 197 || !utf8.ValidString(got) || !strings.HasPrefix(query, got) {
				t.Errorf("%d bytes: %q", len(got), got)
			}
		}
	})
}

func TestViolations(t *testing.T) {
	broken := do(t, task.State{}, begin, audited(task.AgentExecutor))
	t.Run("a finding of the audit", func(t *testing.T) {
		found := broken.AuditFindings()
		if len(found) != 1 {
			t.Fatalf("%d findings", len(found))
		}
		f := found[0]
		if f.Critic != "audit" || !slices.Equal(f.ConfirmedBy, []string{"audit"}) || f.Category != "rule-9-violation" ||
			f.Severity != finding.Fail || f.File == nil || *f.File != "-" || f.Line != nil {
			t.Errorf("%+v", f)
		}
		if !strings.Contains(f.Remediation, task.AgentExecutor) || strings.Contains(f.Remediation, "Carried") {
			t.Errorf("%q", f.Remediation)
		}
	})
	t.Run("a red draft routes nothing", func(t *testing.T) {
		later := decide(t, broken, onRed)
		before, after := broken.AuditFindings()[0], later.AuditFindings()[0]
		if !strings.HasPrefix(after.Remediation, before.Remediation) || !strings.Contains(after.Remediation, "from round 1") {
			t.Errorf("%q", after.Remediation)
		}
		if fingerprint(before) != fingerprint(after) {
			t.Error("it is another finding in the next round")
		}
	})
	t.Run("each kind is a finding of its own", func(t *testing.T) {
		s := do(t, broken, audited(task.AgentExecutor, "knowledge-search"), audited(task.AgentResearcher))
		seen := make(map[string]bool)
		for _, f := range s.AuditFindings() {
			seen[fingerprint(f)] = true
		}
		if len(seen) != 3 {
			t.Errorf("%d of 3 violations can be told apart", len(seen))
		}
	})
	settled, stored := 0, 1
	for _, c := range []struct {
		id   string
		s    task.State
		want int
	}{
		{"routed", decide(t, broken, toExecutor), settled},
		{"routed twice", decide(t, decide(t, broken, toExecutor), toExecutor), settled},
		{"plan-checker", decide(t, broken, toPlanChecker), settled},
		{"red", decide(t, broken, onRed), stored},
		{"red, then routed", decide(t, decide(t, broken, onRed), toExecutor), settled},
		{"stuck", decide(t, broken, toStuck), stored},
		{"stuck, resumed", do(t, decide(t, broken, toStuck), task.ResumeTask{Mode: task.Replan, Fallback: 3}), stored},
		{"question", decide(t, broken, asking(true, task.Question{Fingerprint: "q1"})), stored},
		{"question, answered", do(t, decide(t, broken, asking(true, task.Question{Fingerprint: "q1"})), task.AnswerQuestion{Text: "yes"}), stored},
		{"put aside", do(t, broken, task.StopTask{Reason: "enough"}), stored},
		{"begun anew", do(t, broken, task.StartWork{Fallback: 3, Force: force}), stored},
		{"committed by force", do(t, broken, task.CommitTask{Force: force}), settled},
	} {
		t.Run(c.id, func(t *testing.T) {
			if got := len(c.s.AuditFindings()); got != c.want {
				t.Errorf("%d findings, want %d", got, c.want)
			}
		})
	}
	t.Run("the same violation again is the same finding, of its oldest round", func(t *testing.T) {
		s := do(t, decide(t, do(t, broken, audited(task.AgentExecutor)), onRed), audited(task.AgentExecutor))
		if want := []task.Violation{{Round: 1, Agent: task.AgentExecutor, Kind: task.NoSearch}}; !slices.Equal(s.Violations, want) {
			t.Errorf("violations %v", s.Violations)
		}
		if len(s.Attestations) != 1 || newest(s).Violation != task.NoSearch {
			t.Errorf("the stamp itself says nothing of it: %+v", s.Attestations)
		}
	})
	t.Run("so many violations wait, and refuse one more", func(t *testing.T) {
		i := task.TaskImported{Round: 1, MaxRounds: 3}
		for n := range 256 {
			i.Violations = append(i.Violations, task.Violation{Round: 1, Agent: fmt.Sprint("agent-", n), Kind: task.NoSearch})
		}
		i.Violations[7].Agent = task.AgentExecutor
		s := do(t, task.State{}, task.ImportTask{TaskImported: i})
		refuse(t, s, audited(task.AgentResearcher), errs.StampsTooMany)
		refuse(t, s, audited(task.AgentExecutor, "knowledge-search"), errs.StampsTooMany) // It is another kind.
		s = do(t, s, audited(task.AgentExecutor), ran(task.AgentCritic), looked(task.AgentResearcher), audited(task.AgentResearcher, "knowledge-search"))
		if len(s.Violations) != 256 {
			t.Errorf("%d violations", len(s.Violations))
		}
	})
	t.Run("attestations are used up", func(t *testing.T) {
		s := do(t, task.State{}, begin, looked(task.AgentResearcher), audited(task.AgentResearcher, "knowledge-search"),
			audited(task.AgentResearcher), audited(task.AgentCritic))
		if len(s.Violations) != 1 {
			t.Errorf("violations %v", s.Violations)
		}
	})
}

func fingerprint(f finding.Finding) string {
	return finding.Fingerprint(f.Category, f.File, f.Line, f.Remediation)
}
