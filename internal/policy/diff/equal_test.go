package diff_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// equals returns policies with the meaning of routing@1.2.0.
func equals(t *testing.T) map[string]*routing.Policy {
	t.Helper()
	text := source(t, "routing@1.2.0")
	tables := replaced(t, text,
		"\t\"commit\": {\"kind\": \"terminal\", \"advances_round\": false},\n", "",
		"\t\"stuck\": {\"kind\": \"terminal\", \"advances_round\": false},\n",
		"\t\"stuck\": {\"advances_round\": false, \"kind\": \"terminal\"},\n\t\"commit\": {\"kind\": \"terminal\", \"advances_round\": false},\n",
		"\t\"style\": \"executor\",\n", "",
		"route_table := {\n", "route_table := {\n\t\"style\": \"executor\",\n",
		`precedence := ["stuck", "askuser"`, `precedence := ["askuser"`) // stuck comes first without being listed
	return map[string]*routing.Policy{
		"texts": build(t, strings.ReplaceAll(replaced(t, text,
			"_present contains destination if {", "# Who has work?\n_present contains  destination if { # here",
			"# title: Routing\n", "# title: Something else\n", "#   adr: ADR-0003", "#   adr: ADR-0099",
			"# title: Precedence\n", "# title: Ranks\n"), "\t", "    ")),
		"order and names": build(t, reversed(t, strings.NewReplacer("_present", "_waiting", "_strongest", "_first").Replace(tables))),
		"conditions": amend(t,
			"input.round >= input.max_rounds", "not input.round < input.max_rounds",
			`} else := {"next_action": "executor", "reason": "verify-red"} if {`,
			`} else := {"next_action": "stuck", "reason": "never"} if {`+"\n\tinput.finding_count > 0\n"+
				`} else := {"next_action": "executor", "reason": "verify-red"} if {`),
		"rules in place of elses": build(t, separate(t, text)),
	}
}

// reversed reverses the order of the paragraphs after the package clause.
func reversed(t *testing.T, text string) string {
	t.Helper()
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	if len(paragraphs) < 7 {
		t.Fatalf("the policy has %d paragraphs, want its package clause and at least 6 rules", len(paragraphs))
	}
	out := paragraphs[0]
	for i := len(paragraphs) - 1; i > 0; i-- {
		out += "\n\n" + paragraphs[i]
	}
	return out + "\n"
}

// separate turns the branches into separate rules, each with the negated conditions of
// the branches before it.
func separate(t *testing.T, text string) string {
	t.Helper()
	start := strings.Index(text, "decision := {")
	end := strings.Index(text, "# The destinations that have work")
	if start < 0 || end < start {
		t.Fatal("the policy does not have its decision where the test looks for it")
	}
	return text[:start] + `
decision := {"next_action": "stuck", "reason": "stuck-finding"} if _blocked

decision := {"next_action": "stuck", "reason": "max-rounds"} if {
	not _blocked
	_ended
}

decision := {"next_action": "stuck", "reason": "no-progress"} if {
	not _blocked
	not _ended
	_stalled
}

decision := {"next_action": _strongest, "reason": "routed"} if {
	not _blocked
	not _ended
	not _stalled
	input.finding_count > 0
}

decision := {"next_action": "executor", "reason": "verify-red"} if {
	not _ended
	input.finding_count == 0
	input.verify == "red"
}

decision := {"next_action": "commit", "reason": "no-findings"} if {
	input.finding_count == 0
	input.verify != "red"
}

_blocked if "stuck" in _present

_ended if {
	count(_present) > 0
	input.round >= input.max_rounds
}

_stalled if {
	input.stalled_rounds >= 2
	_strongest != "askuser"
}

` + text[end:]
}

func TestTextsOfEqualMeaningDoNotDiffer(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	released := load(t, "routing@1.2.0")
	for name, p := range equals(t) {
		t.Run(name, func(t *testing.T) {
			if name != "rules in place of elses" {
				exhaustive.Require(t, "the text that differs most stands for the others")
			}
			d := compare(t, released, p)
			wantNoDifference(t, d)
			if d.From.Digest == d.To.Digest {
				t.Error("it is the same text")
			}
		})
	}
}

// A record remains valid if only the text of its version changes.
func TestTextsOfEqualMeaningHaveOneDigest(t *testing.T) {
	before := load(t, "routing@1.1.0")
	rewritten := build(t, separate(t, source(t, "routing@1.2.0")))
	want := compare(t, before, load(t, "routing@1.2.0")).Digest()
	if got := compare(t, before, rewritten).Digest(); got != want {
		t.Errorf("compared with %s, the digest is %s, want that of the released text, %s", before, got, want)
	}
}

// The same comparison with a number can be written in two ways.
func TestThresholdsOfEqualMeaningDoNotDiffer(t *testing.T) {
	wantNoDifference(t, compare(t, load(t, "routing@1.2.0"), amend(t, "input.stalled_rounds >= 2", "input.stalled_rounds > 1")))
}

func wantNoDifference(t *testing.T, d diff.Diff) {
	t.Helper()
	if !d.Empty() {
		t.Errorf("it differs: %s", d.Summary())
	}
	wantTablesAlike(t, d)
	wantDecisionsAlike(t, d)
	wantStep(t, d, diff.None, "nothing changes in meaning")
	if got := d.Summary(); got != "no difference in meaning" {
		t.Errorf("summary is %q", got)
	}
	if !strings.Contains(d.Markdown(), "\nNothing changes in meaning.\n") {
		t.Errorf("Markdown does not say so:\n%s", d.Markdown())
	}
}
