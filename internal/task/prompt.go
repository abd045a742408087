package task

import (
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// MaxPrompt is the maximum size of a task's text, in bytes: it is part of the task's
// state.
const MaxPrompt = 64 << 10

// CleanPrompt returns a task's text, trimmed. Errors name its source as name, such as a
// file or a flag.
//
// # Errors
//
// task-invalid-text if it is not UTF-8; usage if it is empty or larger than MaxPrompt.
func CleanPrompt(name, text string) (string, error) {
	if at := textutil.InvalidUTF8([]byte(text)); at >= 0 {
		return "", errs.New(errs.TaskInvalidText, "%s is not UTF-8 at byte %d", name, at).With("offset", at)
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", errs.New(errs.Usage, "%s is empty", name)
	case len(text) > MaxPrompt:
		return "", errs.New(errs.Usage, "%s has more than %d bytes", name, MaxPrompt)
	}
	return text, nil
}
