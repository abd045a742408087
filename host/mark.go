package host

import (
	"context"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// markFindings is how many findings a mark names.
const markFindings = 20

// mark makes STATE.md say whether the task is stuck, as the ledger has it at
// that moment. The ledger is what counts, so that a failure is a warning: the
// next command that finds the task stuck tries again.
func (s *session) mark(ctx context.Context) {
	ctx = context.WithoutCancel(ctx) // What it tells of is recorded already.
	for {
		again, err := s.tryMark(ctx)
		if err != nil {
			s.warn(fmt.Errorf("STATE.md does not say how task %s stands: %w", s.id, err))
		}
		if !again {
			return
		}
	}
}

// tryMark writes the mark with the ledger held, unless the task has changed
// since its findings were read.
func (s *session) tryMark(ctx context.Context) (again bool, err error) {
	head, err := s.ledger.Head(ctx, s.id)
	if err != nil || head.N == 0 {
		return false, err
	}
	now, err := status(head)
	if err != nil {
		return false, err
	}
	text := ""
	if now.Status == task.Stuck {
		findings, err := openFindings(ctx, s.ledger, now)
		if err != nil {
			return false, err
		}
		text = markText(now.TaskStatus, findings)
	}
	err = s.ledger.WithLock(ctx, s.id, func(held ledger.Head) error {
		if again = held.N != head.N; again {
			return nil
		}
		return s.project.UpdateStateMD(s.id, text)
	})
	if text == "" && errs.CodeOf(err) == errs.MarkerUnsafe {
		err = nil // Whatever lies there, no mark of ours is in it.
	}
	return again, err
}

// markText is what STATE.md says of a stuck task, in Markdown.
func markText(t TaskStatus, findings []finding.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s is stuck** in round %d (%s), put there by %s at %s.\n", t.TaskID, t.Stop.Round, inline(t.Stop.Reason), inline(t.Stop.By), t.UpdatedAt)
	for i, f := range findings {
		if i == 0 {
			b.WriteByte('\n')
		}
		if i == markFindings {
			fmt.Fprintf(&b, "- and %d more\n", len(findings)-i)
			break
		}
		fmt.Fprintf(&b, "- %s %s %s: %s\n", inline(string(f.Severity)), inline(f.Category), inline(f.Location()), inline(f.Remediation))
	}
	fmt.Fprintf(&b, "\n`switchyard explain %s` shows why; `switchyard resume %s` lets it go on, with --rounds, --replan, --manual or --reset.\n", t.TaskID, t.TaskID)
	return b.String()
}

// inline makes a report's text one short line that Markdown shows as it is.
func inline(text string) string {
	const limit = 300
	text = strings.Join(strings.Fields(text), " ")
	if points := []rune(text); len(points) > limit {
		text = string(points[:limit-1]) + "…"
	}
	return strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;", "#", "\\#", "|", "\\|").Replace(text)
}
