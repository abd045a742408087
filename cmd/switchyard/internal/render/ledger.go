package render

import (
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// LedgerReport is the JSON output of ledger verify.
type LedgerReport struct {
	ledger.Report
	// Decisions is nil unless the decisions were checked, too.
	Decisions *api.DecisionsReport `json:"decisions,omitzero"`
}

// Ledger prints the result of a ledger check, and its chains if chains is set.
func (p *Printer) Ledger(r LedgerReport, chains bool) {
	if r.Sound() {
		p.Line("%s  %s in %s", p.Paint(Green, "intact"), textutil.Count(r.Events, "event"), textutil.Count(r.Tasks, "chain"))
	}
	p.ledgerProblems(r.Problems, r.Omitted)
	if chains && len(r.Heads) > 0 {
		p.Line("")
		rows := make([][]cell, len(r.Heads))
		for i, h := range r.Heads {
			rows[i] = []cell{{h.Task, Plain}, {strconv.FormatInt(h.N, 10), Plain}, {h.Hash, Plain}}
		}
		p.table([]string{"CHAIN", "EVENTS", "LATEST HASH"}, rows)
	}
	d := r.Decisions
	if d == nil {
		return
	}
	if d.Sound() {
		p.Line("%s  %s decided again, all as recorded", p.Paint(Green, "sound"), textutil.Count(d.Decisions, "round"))
	}
	p.ledgerProblems(d.Problems, d.Omitted)
	for _, policy := range d.Lost {
		p.Line("%s  policy %s decided %s", p.Paint(Red, "lost"), PolicyID(policy.Policy), textutil.Count(policy.Decisions, "round"))
	}
}

// maxLedgerProblems is the number of a ledger's problems that are shown; JSON has more.
const maxLedgerProblems = 10

func (p *Printer) ledgerProblems(all []ledger.Problem, omitted int64) {
	for _, problem := range all[:min(len(all), maxLedgerProblems)] {
		p.Line("%s  %s", p.Paint(Red, "changed"), problem)
	}
	if more := int64(max(len(all)-maxLedgerProblems, 0)) + omitted; more > 0 {
		p.Line("and %d more", more)
	}
}
