package task

import (
	"fmt"
	"strings"
)

// MaxPrompt is the maximum size of a task's text, in bytes: it is part of the task's
// state.
const MaxPrompt = 64 << 10

// CleanPrompt returns a task's text as it is recorded: trimmed, with invalid UTF-8
// replaced. The error says what is wrong with the text, and follows its name.
func CleanPrompt(text string) (string, error) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd"))
	switch {
	case text == "":
		return "", fmt.Errorf("is empty")
	case len(text) > MaxPrompt:
		return "", fmt.Errorf("has more than %d bytes", MaxPrompt)
	}
	return text, nil
}
