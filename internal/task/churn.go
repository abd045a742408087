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
	choiceCut  = "cut or restructure"
	choiceLand = "land with the residual risk"
	goOnPrefix = "go on for "
	choiceGoOn = goOnPrefix + "2 rounds"
)

// ReasonChurn is a policy's reason if the last fixes caused the findings of a review.
const ReasonChurn = "churn"

// AskAboutChurn returns the question how to go on if the last fixes caused all failures of
// a review. The task can go on to the round hardCap.
func AskAboutChurn(round, inducedRounds, hardCap int) Question {
	return Question{
		Fingerprint: fmt.Sprintf("churn-%d", round),
		Text: fmt.Sprintf("The fixes caused all failures of the last %s. Cut or restructure the work, land it with the residual risk "+
			"(risks and nits are deferred, failures are not), or go on for some rounds, to round %d at most?", textutil.Count(inducedRounds, "review"), hardCap),
		Choices: []string{choiceCut, choiceLand, choiceGoOn}, Churn: true,
	}
}

// settleChurn applies the answer to the question of AskAboutChurn.
func (s State) settleChurn(answer string) State {
	s.InducedRounds = 0
	if strings.EqualFold(strings.TrimSpace(answer), choiceLand) {
		s = s.withBar(highestBar, s.Round)
	}
	if rounds, _ := parseGoOn(answer); rounds > 0 {
		s.MaxRounds, s.CustomCap = min(max(s.MaxRounds, s.Round+rounds-1), s.hardCap()), true
	}
	return s
}

// parseGoOn reads an answer such as "go on for 3 rounds". asked is false for any other
// answer, and rounds is 0 if the number is not valid.
func parseGoOn(answer string) (rounds int, asked bool) {
	text, asked := strings.CutPrefix(strings.ToLower(strings.TrimSpace(answer)), goOnPrefix)
	number, _, _ := strings.Cut(text, " round")
	rounds, err := strconv.Atoi(number)
	if !asked || err != nil || rounds < 1 || rounds > MaxRounds {
		return 0, asked
	}
	return rounds, true
}
