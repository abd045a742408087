package explain

import (
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Words describes all of the changes, such as "without the 2 findings for researcher and
// with a green verification".
func (f Counterfactual) Words() string {
	var words []string
	emptied, gone := 0, 0 // destinations, and the findings that they had
	for _, c := range f.Changes {
		if c.Kind == Findings && c.Count.To == 0 {
			emptied++
			gone += c.Count.From
		}
	}
	// All are removed, so a list would be long and say nothing more.
	none := emptied > 1 && f.Input.FindingCount == 0
	if none {
		words = append(words, fmt.Sprintf("without any of the %d findings", gone))
	}
	for _, c := range f.Changes {
		if !none || c.Kind != Findings {
			words = append(words, c.Words)
		}
	}
	return strings.Join(words, " and ")
}

func (c Change) words() string {
	switch c.Kind {
	case Findings:
		return findingsWords(c.Destination, c.Count.From, c.Count.To)
	case Verification:
		if c.Verify.To == routing.Absent {
			return "without a verification"
		}
		return "with a " + string(c.Verify.To) + " verification"
	case Cap:
		return "with a cap of " + textutil.Count(c.Count.To, "round")
	case Round:
		return fmt.Sprintf("in round %d", c.Count.To)
	case News:
		return "with a new finding in place of a repeated one"
	default:
		return "after " + textutil.Count(c.Count.To, "review") + " without progress"
	}
}

func findingsWords(destination string, from, to int) string {
	switch {
	case to == 0 && from == 1:
		return "without the finding for " + destination
	case to == 0:
		return fmt.Sprintf("without the %d findings for %s", from, destination)
	case to < from:
		return fmt.Sprintf("without %d of the %d findings for %s", from-to, from, destination)
	case from == 0 && to == 1:
		return "with a finding for " + destination
	case from == 0:
		return fmt.Sprintf("with %d findings for %s", to, destination)
	default:
		return "with " + textutil.Count(to-from, "more finding") + " for " + destination
	}
}
