package research

// The limits on the number of researchers.
const (
	// MinAnswers and MaxAnswers limit how many researchers may be asked at once.
	MinAnswers = 1
	MaxAnswers = 5
)

// Perspective is one researcher's method.
type Perspective struct {
	// Index counts from 1.
	Index int
	// Nudge is a sentence for its prompt.
	Nudge string
}

// Perspectives returns the first k of five perspectives. k is clamped to MinAnswers and
// MaxAnswers.
//
// A nudge is about method and never about a topic: researchers of different parts of a
// question cannot agree.
func Perspectives(k int) []Perspective {
	nudges := [MaxAnswers]string{
		"Do not trust your memory: state only what you have read, in this session, in the code or in a source that you name.",
		"Before you decide, write down every way to do it, the simple ones too, and give the reason for each one that you reject.",
		"Take the first answer that comes to mind and try to refute it: look for a case in which it is wrong before you look for support.",
		"Separate what can be checked from what cannot: report anything that you could not check yourself as a question, not as a decision.",
		"Assume that the preferred way was taken and failed a month later: find the most probable cause, and what would have shown it in time.",
	}
	k = min(max(k, MinAnswers), MaxAnswers)
	all := make([]Perspective, k)
	for i := range all {
		all[i] = Perspective{Index: i + 1, Nudge: nudges[i]}
	}
	return all
}
