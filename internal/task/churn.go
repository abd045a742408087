package task

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The answers to the question how to end a loop in which fixes cause findings. Any other
// answer tells the executor what to cut or how to restructure.
const (
	choiceCut    = "cut or restructure"
	choiceLand   = "land with the residual risk"
	goOnPrefix   = "go on for "
	goOnSuggests = 2 // rounds
)

// AskAboutChurn returns the question how to go on after a review whose failures the last
// fixes caused.
func AskAboutChurn(round, inducedRounds int) Question {
	return Question{
		Fingerprint: fmt.Sprintf("churn-%d", round),
		Text: fmt.Sprintf("The fixes caused all failures of the last %s. Cut or restructure the work, "+
			"land it with the residual risk (risks and nits are deferred, failures are not), or go on for some rounds?", textutil.Count(inducedRounds, "review")),
		Choices: []string{choiceCut, choiceLand, goOnPrefix + textutil.Count(goOnSuggests, "round")}, Churn: true,
	}
}

// settleChurn applies an answer to AskAboutChurn.
func (s State) settleChurn(answer string) State {
	s.InducedRounds = 0
	if answer == choiceLand {
		s = s.withBar(highestBar, s.Round)
	}
	if rounds, ok := parseGoOn(answer); ok {
		s.MaxRounds, s.CustomCap = min(max(s.MaxRounds, s.Round+rounds-1), MaxRounds), true
		s.HardCap = max(s.hardCap(), s.MaxRounds)
	}
	return s
}

// parseGoOn reads an answer such as "go on for 3 rounds".
func parseGoOn(answer string) (rounds int, ok bool) {
	text, found := strings.CutPrefix(strings.ToLower(strings.TrimSpace(answer)), goOnPrefix)
	number, _, _ := strings.Cut(text, " round")
	n, err := strconv.Atoi(number)
	return n, found && err == nil && n > 0 && n <= MaxRounds
}
