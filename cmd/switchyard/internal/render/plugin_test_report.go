package render

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
)

// Conformance prints the checks of a plugin and their outcomes.
func (p *Printer) Conformance(r plugintest.Report) {
	if r.Plugin.Name == "" {
		p.Line("%s  %s", p.Paint(Bold, "a plugin that does not load"), Size(int64(r.Size)))
	} else {
		p.Line("%s %s  %s, %s", p.Paint(Bold, r.Plugin.Name), r.Plugin.Version, shortDigest(r.Plugin.Digest), Size(int64(r.Size)))
	}
	skipped := 0
	for _, group := range plugintest.Groups() {
		passed, failed, shown := 0, 0, []plugintest.Check(nil)
		for _, c := range r.Checks {
			if c.Group != group {
				continue
			}
			switch c.Status {
			case plugintest.Pass:
				passed++
			case plugintest.Fail:
				failed++
			case plugintest.Skip:
				skipped++
			}
			if c.Detail != "" || c.Status != plugintest.Pass {
				shown = append(shown, c)
			}
		}
		if passed+failed+len(shown) == 0 {
			continue
		}
		p.Line("")
		words := fmt.Sprintf("%d passed", passed)
		if failed > 0 {
			words += fmt.Sprintf(", %d failed", failed)
		}
		p.Line("%s: %s", p.Paint(Bold, string(group)), words)
		for _, c := range shown {
			p.Line("  %s  %s: %s", p.Paint(statusWord(c.Status)), c.Name, c.Detail)
		}
	}
	p.Line("")
	counts := fmt.Sprintf("%s: %d passed, %d failed, %d skipped", textutil.Count(len(r.Checks), "check"), r.Passed, r.Failed, skipped)
	if r.OK() {
		p.Line("%s  %s", p.Paint(Green, "passed"), counts)
	} else {
		p.Line("%s  %s", p.Paint(Red, "failed"), counts)
	}
}

// statusWord returns a check's outcome and its colour.
func statusWord(s plugintest.Status) (color, word string) {
	switch s {
	case plugintest.Pass:
		return Green, "pass"
	case plugintest.Fail:
		return Red, "FAIL"
	default:
		return Yellow, "skip"
	}
}
