package task

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// QuestionAsked records questions that no decision asked: a plan-checker's questions, and
// whether to raise a budget.
type QuestionAsked struct {
	Round     int        `json:"round"`
	Questions []Question `json:"questions"`
}

// AskUser makes an open task wait for the user's answer.
type AskUser struct{ Question Question }

func (c AskUser) decide(s State) (Event, error) {
	return QuestionAsked{Round: s.Round, Questions: []Question{c.Question}}, nil
}

func (e QuestionAsked) round() int { return e.Round }

func (e QuestionAsked) apply(s State) (State, error) {
	if len(e.Questions) == 0 {
		return s, fmt.Errorf("round %d asks the user nothing", e.Round)
	}
	s.Status, s.Questions = Waiting, &Questions{Round: e.Round, Open: e.Questions, Inserted: true}
	return s, nil
}

// choiceStop ends a task instead of raising its budget.
const choiceStop = "stop"

// AskForBudget returns the question whether to raise the budget that err names, which is a
// budget-exhausted of ReserveRuns. It suggests doubling the budget, or adding the amount
// that the next run lacks if that is more.
func AskForBudget(s State, err *errs.Error) Question {
	budget, _ := err.Details["unit"].(string)
	limit := detail(err, "limit")
	missing := addSaturating(addSaturating(detail(err, "spent"), detail(err, "reserved")), detail(err, "wanted")) - limit
	return Question{
		Fingerprint: fmt.Sprintf("budget-%s-%d-%d", budget, s.Round, s.Spent.Runs),
		Text:        upperFirst(err.Message) + ". Raise it by how much, or stop?",
		Choices:     []string{raiseText(unitOf(budget), max(limit, missing)), choiceStop}, Budget: budget,
	}
}

// unitOf returns the unit of a budget such as task-tokens, without its scope.
func unitOf(budget string) string {
	_, unit, _ := strings.Cut(budget, "-")
	return unit
}

func detail(err *errs.Error, name string) int64 {
	n, _ := err.Details[name].(int64)
	return n
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

const raisePrefix = "raise by "

// raiseText names an amount in the form that parseRaise reads.
func raiseText(unit string, n int64) string {
	switch unit {
	case unitTime:
		return raisePrefix + textutil.Millis(n)
	case unitDollars:
		return raisePrefix + dollars(n)
	case unitRounds:
		return raisePrefix + textutil.Count(min(n, MaxRounds), "round")
	default:
		return fmt.Sprintf("%s%d %s", raisePrefix, n, unit)
	}
}

// parseRaise reads an answer about a budget: a positive amount such as "raise by $2.50",
// "10m" or "50000 tokens", or "stop", which is the zero Raise.
func parseRaise(budget, answer string) (Raise, bool) {
	text := strings.TrimSpace(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(answer)), raisePrefix))
	if text == choiceStop {
		return Raise{}, true
	}
	unit := unitOf(budget)
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text, unit), strings.TrimSuffix(unit, "s")))
	var r Raise
	switch unit {
	case unitTime:
		n, ok := textutil.ParseMillis(text)
		r.Millis = n
		return r, ok
	case unitDollars:
		whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "$"), ".")
		if len(fraction) > 6 {
			return r, false
		}
		n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", 6-len(fraction)), 10, 64)
		r.MicroDollars = n
		return r, err == nil && n > 0
	case unitTokens:
		n, err := strconv.ParseInt(text, 10, 64)
		r.Tokens = n
		return r, err == nil && n > 0
	default:
		n, err := strconv.Atoi(text)
		r.Rounds = n
		return r, err == nil && n > 0 && n <= MaxRounds
	}
}

// Raise is the amount that the user added to the budgets of a task.
type Raise struct {
	Amount
	Rounds int `json:"rounds,omitzero"`
}

func (r Raise) add(more Raise) Raise {
	return Raise{Amount: r.Amount.Add(more.Amount), Rounds: r.Rounds + more.Rounds}
}

// raiseBy returns the limits, raised by the user. A raise applies to the task and to each of
// its rounds, because the next step needs both.
func (l Limits) raiseBy(by Raise) Limits {
	for _, limit := range []*Amount{&l.Task, &l.Round} {
		for _, part := range []struct {
			limit *int64
			more  int64
		}{{&limit.Millis, by.Millis}, {&limit.Tokens, by.Tokens}, {&limit.MicroDollars, by.MicroDollars}} {
			if *part.limit > 0 {
				*part.limit = addSaturating(*part.limit, part.more)
			}
		}
	}
	if l.Rounds > 0 {
		l.Rounds += by.Rounds
	}
	return l
}
