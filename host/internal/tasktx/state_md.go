package tasktx

import (
	"context"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// markFindings is the number of findings listed per task in STATE.md.
const markFindings = 20

// writeStateMD updates STATE.md, which says whether the task is stuck. The ledger is
// authoritative, so a failure is only a warning: the next command that finds the task stuck
// tries again.
func (tx *Tx) writeStateMD(ctx context.Context) {
	ctx = context.WithoutCancel(ctx) // The event is already recorded.
	for again := true; again; {
		var err error
		if again, err = tx.tryStateMD(ctx); err != nil {
			tx.Project.Warn(fmt.Errorf("STATE.md does not say how task %s stands: %w", tx.ID, err))
		}
	}
}

// tryStateMD writes the task's section while it holds the ledger's lock, unless the task
// has changed since its findings were read.
func (tx *Tx) tryStateMD(ctx context.Context) (again bool, err error) {
	now := tx.Task
	if err := now.Load(ctx); err != nil || now.Head.N == 0 {
		return false, err
	}
	text := ""
	if now.Status.Status == task.Stuck {
		findings, err := now.OpenFindings(ctx)
		if err != nil {
			return false, err
		}
		text = markText(now.Status.TaskStatus, findings)
	}
	err = tx.Ledger.WithLock(ctx, tx.ID, func(held ledger.Head) error {
		if again = held.N != now.Head.N; again {
			return nil
		}
		return tx.Project.UpdateStateMD(tx.ID, text)
	})
	if text == "" && errs.CodeOf(err) == errs.MarkerUnsafe {
		err = nil // An unsafe file has no section to remove.
	}
	return again, err
}

// markText returns the Markdown text about a stuck task.
func markText(t api.TaskStatus, findings []finding.Finding) string {
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
	if t.Branch != nil {
		fmt.Fprintf(&b, "\nIts work is on branch %s in %s\n", inline(t.Branch.Name), inline(t.Branch.Worktree))
	}
	if t.MergeFailed() {
		fmt.Fprintf(&b, "\n`git merge %s` in a checkout of %s shows what is in the way; `switchyard run %s --merge` tries again.\n", t.Branch.Name, inline(t.Merge.Into), t.TaskID)
	} else {
		fmt.Fprintf(&b, "\n`switchyard explain %s` shows why; `switchyard resume %s` lets it go on, with --rounds, --replan, --manual or --reset.\n", t.TaskID, t.TaskID)
	}
	return b.String()
}

// inline formats a report's text as one short line, which Markdown shows verbatim.
func inline(text string) string { return textutil.MarkdownCode(text, 300) }
