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
		"Treat what you remember as a rumour: state nothing that you have not read, in this session, in the code or in a source that you name.",
		"Before you settle on anything, write down every way there is to do it, the dull ones too, and say of each that you drop why.",
		"Take the answer that comes to mind first and try to break it: look for the case in which it is wrong before you look for more in its favour.",
		"Separate what can be checked from what cannot: whatever you could not check yourself is a question, not a decision.",
		"Assume that the favoured way was taken and went wrong a month later: find out what most probably did it, and what would have shown it in time.",
	}
	k = min(max(k, MinAnswers), MaxAnswers)
	all := make([]Perspective, k)
	for i := range all {
		all[i] = Perspective{Index: i + 1, Nudge: nudges[i]}
	}
	return all
}
