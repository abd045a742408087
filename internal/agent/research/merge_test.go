package research_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/research"
)

// says returns an answer with decisions of these texts.
func says(index int, texts ...string) research.Answer {
	out := &research.Output{}
	for _, text := range texts {
		out.Decisions = append(out.Decisions, research.Decision{Text: text, Provenance: research.Assumed})
	}
	return research.Answer{Index: index, Output: out}
}

// crashed returns a failed answer.
func crashed(index int) research.Answer {
	return research.Answer{Index: index, Failure: "timed-out"}
}

// texts returns the texts of decisions with their agreement.
func texts(decisions []research.Decision) []string {
	var all []string
	for _, d := range decisions {
		all = append(all, fmt.Sprintf("%s %d", d.Text, d.Agreement))
	}
	return all
}

// same compares two values.
func same(t interface {
	Helper()
	Errorf(string, ...any)
}, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestMajority(t *testing.T) {
	c := research.Merge([]research.Answer{says(1, "Use  a Queue"), says(2, "use a queue"), says(3, "poll")})
	same(t, texts(c.Decisions), []string{"Use  a Queue 2"})
	same(t, texts(c.Flagged), []string{"poll 1"})
	same(t, c.Decisions[0].SeenBy, []int{1, 2})
}

func TestProvenanceIsRaised(t *testing.T) {
	answers := []research.Answer{says(1, "a"), says(2, "A")}
	answers[1].Output.Decisions[0].Provenance = research.Verified
	same(t, research.Merge(answers).Decisions[0].Provenance, research.Verified)
	answers[1].Output.Decisions[0].Provenance = research.Cited
	same(t, research.Merge(answers).Decisions[0].Provenance, research.Assumed)
}

func TestThreeSolosAreFlagged(t *testing.T) {
	c := research.Merge([]research.Answer{says(1, "a"), says(2, "b"), says(3, "c")})
	same(t, texts(c.Decisions), []string(nil))
	same(t, texts(c.Flagged), []string{"a 1", "b 1", "c 1"})
	same(t, c.Meta, research.Meta{K: 3, AgreementScore: 0.333, FlaggedCount: 3})
}

func TestUnion(t *testing.T) {
	answers := []research.Answer{
		{Index: 1, Output: &research.Output{
			Risks:     []research.Risk{{Text: "It leaks", Severity: research.Low}, {Text: "It hangs"}},
			Questions: []research.Question{{Text: "How long?"}},
			Sources:   []research.Source{{URL: "https://Example.com/A", Credibility: research.High}},
		}},
		{Index: 2, Output: &research.Output{
			Risks:     []research.Risk{{Text: "it leaks", Severity: research.Critical}},
			Questions: []research.Question{{Text: "how  long?"}, {Text: "By whom?"}},
			Sources:   []research.Source{{URL: "https://example.com/a", Title: "A", Credibility: research.Medium}},
		}},
	}
	c := research.Merge(answers)
	same(t, c.Risks, []research.Risk{
		{Text: "It leaks", Severity: research.Critical, Seen: research.Seen{SeenBy: []int{1, 2}}},
		{Text: "It hangs", Seen: research.Seen{SeenBy: []int{1}}},
	})
	same(t, c.Questions, []research.Question{
		{Text: "How long?", Seen: research.Seen{SeenBy: []int{1, 2}}},
		{Text: "By whom?", Seen: research.Seen{SeenBy: []int{2}}},
	})
	same(t, c.Sources, []research.Source{
		{URL: "https://Example.com/A", Title: "A", Credibility: research.High, Seen: research.Seen{SeenBy: []int{1, 2}}},
	})
}

// sees returns an answer with one verified pattern.
func sees(index int, text string) research.Answer {
	return research.Answer{Index: index, Output: &research.Output{Patterns: []research.Pattern{{Text: text, Provenance: research.Verified}}}}
}

func TestPatternOfOneIsDemoted(t *testing.T) {
	c := research.Merge([]research.Answer{sees(1, "outbox"), sees(2, "Outbox"), sees(3, "saga")})
	same(t, c.Patterns, []research.Pattern{{Text: "outbox", Provenance: research.Verified, Seen: research.Seen{SeenBy: []int{1, 2}}}})
	same(t, c.Demoted, []research.Pattern{{Text: "saga", Provenance: research.Assumed, Seen: research.Seen{SeenBy: []int{3}}}})
}

func TestPatternOfTheOnlyOneIsAccepted(t *testing.T) {
	c := research.Merge([]research.Answer{sees(1, "saga")})
	same(t, c.Patterns, []research.Pattern{{Text: "saga", Provenance: research.Verified, Seen: research.Seen{SeenBy: []int{1}}}})
	same(t, len(c.Demoted), 0)
}

func TestNothingScoresNothing(t *testing.T) {
	same(t, research.Merge(nil), research.Consensus{})
	same(t, research.Merge([]research.Answer{sees(1, "saga"), sees(2, "saga")}).Meta, research.Meta{K: 2})
}

func TestOrderDoesNotDependOnTheAnswers(t *testing.T) {
	answers := []research.Answer{says(1, "b", "a"), says(2, "c", "b"), says(3, "B", "Z")}
	first := research.Merge(answers)
	same(t, append(texts(first.Decisions), texts(first.Flagged)...), []string{"b 3", "Z 1", "a 1", "c 1"})
	slices.Reverse(answers)
	same(t, research.Merge(answers), first)
}

func TestScores(t *testing.T) {
	for want, answers := range map[float64][]research.Answer{
		1:     {says(1, "a"), says(2, "a"), says(3, "a")},
		0.333: {says(1, "a"), says(2, "b"), says(3, "c")},
		0.667: {says(1, "a", "b"), says(2, "a"), says(3, "a")}, // (3/3 + 1/3) / 2
	} {
		same(t, research.Merge(answers).Meta.AgreementScore, want)
	}
}

func TestOrderOfWordsMatters(t *testing.T) {
	c := research.Merge([]research.Answer{says(1, "cache before queue"), says(2, "queue before cache"), says(3)})
	same(t, texts(c.Flagged), []string{"cache before queue 1", "queue before cache 1"})
}

func TestAgreementVerifiesNothing(t *testing.T) {
	c := research.Merge([]research.Answer{says(1, "a"), says(2, "a"), says(3, "a"), says(4, "a"), says(5, "a")})
	same(t, c.Decisions[0].Provenance, research.Assumed)
}

func TestOneWhoVerifiedIsEnough(t *testing.T) {
	answers := []research.Answer{says(1, "a"), says(2, "a"), says(3, "a")}
	answers[2].Output.Decisions[0].Provenance = research.Verified
	same(t, research.Merge(answers).Decisions[0].Provenance, research.Verified)
}

// TestThresholds checks that a majority is at least half of the researchers asked,
// including failed ones.
func TestThresholds(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []research.Answer
		want    bool
	}{
		{"one of one", []research.Answer{says(1, "a")}, true},
		{"one of two", []research.Answer{says(1, "a"), says(2)}, true},
		{"one of two, the other crashed", []research.Answer{says(1, "a"), crashed(2)}, true},
		{"one of three, the others crashed", []research.Answer{says(1, "a"), crashed(2), crashed(3)}, false},
		{"two of three, the other crashed", []research.Answer{says(1, "a"), says(2, "a"), crashed(3)}, true},
		{"two of four", []research.Answer{says(1, "a"), says(2, "a"), says(3), says(4)}, true},
		{"two of five", []research.Answer{says(1, "a"), says(2, "a"), says(3), says(4), says(5)}, false},
		{"one who says it three times", []research.Answer{says(1, "a", "A", " a"), says(2), says(3)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			merged := research.Merge(c.answers)
			same(t, len(merged.Decisions) == 1 && len(merged.Flagged) == 0, c.want)
			same(t, len(merged.Decisions)+len(merged.Flagged), 1)
		})
	}
}

// TestFirstConfidence checks that the confidence is that of the lowest index, in any
// order of answers.
func TestFirstConfidence(t *testing.T) {
	sure, unsure := 0.9, 0.2
	answers := []research.Answer{says(2, "A"), says(1, "a")}
	answers[0].Output.Decisions[0].Confidence = &sure
	answers[1].Output.Decisions[0].Confidence = &unsure
	d := research.Merge(answers).Decisions[0]
	same(t, d.Text, "a")
	same(t, *d.Confidence, unsure)
}

func TestCrashedAnswersAreReported(t *testing.T) {
	c := research.Merge([]research.Answer{crashed(3), says(2, "a"), {Index: 1, Failure: "quota"}})
	same(t, c.Silent, []research.Silence{{1, "quota"}, {3, "timed-out"}})
	same(t, c.Meta.K, 3)
	same(t, research.Merge([]research.Answer{crashed(1), crashed(2)}).Meta, research.Meta{K: 2})
}

// draw generates up to five answers from few words, so that they sometimes agree.
func draw(t *rapid.T) []research.Answer {
	word := rapid.SampledFrom([]string{"a", "A", " a ", "b", "b  c", "B c", "é", "É"})
	level := rapid.SampledFrom([]research.Level{"", research.Low, research.Medium, research.High, research.Critical})
	proof := rapid.SampledFrom([]research.Provenance{research.Verified, research.Cited, research.Assumed})
	answers := make([]research.Answer, rapid.IntRange(0, 5).Draw(t, "k"))
	for i := range answers {
		answers[i].Index = i + 1
		if rapid.IntRange(0, 3).Draw(t, "crash") == 0 {
			answers[i].Failure = "crashed"
			continue
		}
		out := &research.Output{}
		for range rapid.IntRange(0, 4).Draw(t, "entries") {
			confidence := rapid.Float64Range(0, 1).Draw(t, "confidence")
			out.Decisions = append(out.Decisions, research.Decision{Text: word.Draw(t, "decision"), Confidence: &confidence, Provenance: proof.Draw(t, "proof")})
			out.Risks = append(out.Risks, research.Risk{Text: word.Draw(t, "risk"), Severity: level.Draw(t, "severity")})
			out.Questions = append(out.Questions, research.Question{Text: word.Draw(t, "question")})
			out.Sources = append(out.Sources, research.Source{URL: word.Draw(t, "url"), Title: word.Draw(t, "title"), Credibility: level.Draw(t, "credibility")})
			out.Patterns = append(out.Patterns, research.Pattern{Text: word.Draw(t, "pattern"), Provenance: proof.Draw(t, "pattern's proof")})
		}
		answers[i].Output = out
	}
	return answers
}

// TestAnyAnswers checks that the order does not matter, that the score is between 0 and
// 1, and that every decision is accepted or flagged with its number of answers.
func TestAnyAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answers := draw(t)
		c := research.Merge(answers)
		same(t, research.Merge(rapid.Permutation(answers).Draw(t, "order")), c)
		if s := c.Meta.AgreementScore; s < 0 || s > 1 || math.Abs(s*1000-math.Round(s*1000)) > 1e-9 {
			t.Errorf("the score is %v", s)
		}
		same(t, c.Meta.FlaggedCount, len(c.Flagged))
		for _, d := range append(slices.Clone(c.Decisions), c.Flagged...) {
			if d.Agreement != len(d.SeenBy) || d.Agreement < 1 || !slices.IsSorted(d.SeenBy) {
				t.Errorf("%+v", d)
			}
		}
		for _, p := range c.Demoted {
			same(t, p.Provenance, research.Assumed)
		}
	})
}

// TestACrashTakesNothingFromTheOthers checks that all texts of the other researchers
// stay, with their indexes.
func TestACrashTakesNothingFromTheOthers(t *testing.T) {
	said := func(c research.Consensus, but int) []string {
		var all []string
		add := func(list, text string, seenBy []int) {
			for _, i := range seenBy {
				if i != but {
					all = append(all, fmt.Sprintf("%s %d %s", list, i, strings.ToLower(strings.Join(strings.Fields(text), " "))))
				}
			}
		}
		for _, d := range append(slices.Clone(c.Decisions), c.Flagged...) {
			add("decision", d.Text, d.SeenBy)
		}
		for _, r := range c.Risks {
			add("risk", r.Text, r.SeenBy)
		}
		for _, q := range c.Questions {
			add("question", q.Text, q.SeenBy)
		}
		for _, s := range c.Sources {
			add("source", s.URL, s.SeenBy)
		}
		for _, p := range append(slices.Clone(c.Patterns), c.Demoted...) {
			add("pattern", p.Text, p.SeenBy)
		}
		slices.Sort(all)
		return all
	}
	rapid.Check(t, func(t *rapid.T) {
		answers := draw(t)
		if len(answers) == 0 {
			return
		}
		before := research.Merge(answers)
		i := rapid.IntRange(0, len(answers)-1).Draw(t, "who crashes")
		answers[i] = crashed(i + 1)
		after := research.Merge(answers)
		same(t, said(after, i+1), said(before, i+1))
		same(t, after.Meta.K, before.Meta.K)
	})
}
