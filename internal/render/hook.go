package render

import (
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// SessionRelease is the result of hook release.
type SessionRelease struct {
	Tasks []string `json:"tasks"`
}

// SessionRelease prints the tasks that no longer block sessions.
func (p *Printer) SessionRelease(r SessionRelease) {
	p.Line("sessions may end with the findings of %s until the next decision", strings.Join(r.Tasks, ", "))
}

// HookSettings is the result of hook install and hook uninstall.
type HookSettings struct {
	Files []SettingsFile `json:"files"`
	// Written reports whether the changes were written.
	Written bool `json:"written"`
}

// SettingsFile is a file of settings with its change.
type SettingsFile struct {
	Path string `json:"path"`
	// Diff is "" if the file does not change.
	Diff string `json:"diff"`
	// Removed reports whether the file is removed, since it would be empty.
	Removed bool `json:"removed,omitzero"`
}

// HookSettings prints the changes of settings.
func (p *Printer) HookSettings(s HookSettings) {
	changed := false
	for _, f := range s.Files {
		if f.Diff == "" {
			p.Line("nothing to do  %s", f.Path)
			continue
		}
		changed = true
		for line := range strings.Lines(f.Diff) {
			p.Line("%s", strings.TrimSuffix(line, "\n"))
		}
		p.lineIf(s.Written && !f.Removed, "written  %s", f.Path)
		p.lineIf(s.Written && f.Removed, "removed  %s", f.Path)
	}
	p.lineIf(changed && !s.Written, "nothing is written yet; --yes writes it")
}

// sessions prints how often the Stop hook has blocked sessions because of a task.
func (p *Printer) sessions(s *api.SessionBlock) {
	if s == nil {
		return
	}
	p.lineIf(s.Blocks > 0, "  the Stop hook blocked %s in round %d, last session %s, %s", textutil.Count(s.Blocks, "time"), s.Round, s.Session, eventTime(s.At))
	if r := s.Released; r != nil {
		p.Line("  sessions may end in round %d, says %s, %s: %s", s.Round, r.By, eventTime(r.At), r.Reason)
	}
}
