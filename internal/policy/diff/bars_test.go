package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// barred is the small policy with a bar.
func barred(t *testing.T, bar string, pairs ...string) *routing.Policy {
	t.Helper()
	return small(t, append([]string{"\n_work if input.verify", "\nbar := " + bar + "\n\n_work if input.verify"}, pairs...)...)
}

// A difference that only some confinement levels have names them.
func TestLevelsOfAChange(t *testing.T) {
	from := barred(t, `"all"`)
	for condition, want := range map[string][]confinement.Level{
		`input.confinement == "none"`:               {confinement.None},
		`input.confinement in {"none", "files"}`:    {confinement.None, confinement.Files},
		`input.confinement != "files+network"`:      {confinement.None, confinement.Files, confinement.Ports},
		`input.confinement in {"files", "files+x"}`: {confinement.Files},
		`input.round >= 5`:                          nil,
	} {
		const commits = `} else := {"next_action": "commit", "reason": "no-findings"} if {`
		to := barred(t, `"all"`, commits, `} else := {"next_action": "stuck", "reason": "refused"} if {`+"\n\t"+condition+"\n"+commits)
		d := compare(t, from, to)
		if len(d.Decisions.Changed) != 1 || !slices.Equal(d.Decisions.Changed[0].Confinement, want) {
			t.Errorf("%s: %+v, want the levels %q", condition, d.Decisions.Changed, want)
			continue
		}
		var names []string
		for _, l := range want {
			names = append(names, string(l))
		}
		if text := "confinement " + strings.Join(names, " or "); strings.Contains(d.Markdown(), text) != (want != nil) {
			t.Errorf("%s: the record does not say %q:\n%s", condition, text, d.Markdown())
		}
		if step, _ := d.Step(); step != diff.Minor {
			t.Errorf("%s: a %s step", condition, step)
		}
	}
}

func TestBarsAreCompared(t *testing.T) {
	if d := compare(t, small(t), small(t)); d.Bars != nil {
		t.Errorf("without bars: %+v", d.Bars)
	}
	const low, high = `"risk" if input.reviews_since_low >= 2 else := "all"`, `"fail" if input.reviews_since_low >= 2 else := "all"`
	extends := []string{"\t_work\n\tinput.round >=", "\t_work\n\tnot input.may_extend\n\tinput.round >="}
	for name, c := range map[string]struct {
		from, to *routing.Policy
		step     diff.Step
		because  string
		bars     []string
	}{
		"the first bar":       {small(t), barred(t, low), diff.Minor, "the bar all is risk", []string{"all>risk"}},
		"a higher bar":        {barred(t, low), barred(t, high), diff.Major, "the bar risk is fail", []string{"risk>fail"}},
		"a lower bar":         {barred(t, high), barred(t, low), diff.Minor, "the bar fail is risk", []string{"fail>risk"}},
		"the same bar":        {barred(t, low), barred(t, low), diff.None, "nothing changes in meaning", nil},
		"no bar any more":     {barred(t, low), small(t), diff.Minor, "the bar risk is all", []string{"risk>all"}},
		"facts not seen yet":  {small(t), barred(t, `"all"`, extends...), diff.Minor, "", nil},
		"facts seen long ago": {barred(t, `"all"`), barred(t, `"all"`, extends...), diff.Major, "", nil},
		"a bar that is none":  {barred(t, low), barred(t, `["x"][0]`), diff.Major, "", []string{"all>undecided", "risk>undecided"}},
	} {
		d := compare(t, c.from, c.to)
		if step, because := d.Step(); step != c.step || c.because != "" && !slices.Contains(because, c.because) {
			t.Errorf("%s: %s because of %q, want %s, %q", name, step, because, c.step, c.because)
		}
		var bars []string
		if d.Bars != nil {
			for _, b := range d.Bars.Changed {
				bars = append(bars, b.From+">"+b.To)
			}
		}
		if !slices.Equal(bars, c.bars) {
			t.Errorf("%s: %q changes, want %q", name, bars, c.bars)
		}
		if len(bars) > 0 && (!strings.Contains(d.Markdown(), "The bar, for ") || !strings.Contains(d.Summary(), "bar")) {
			t.Errorf("%s: the record does not show it: %s\n%s", name, d.Summary(), d.Markdown())
		}
	}
	// The record's digest covers the bars.
	one, other := compare(t, small(t), barred(t, low)), compare(t, small(t), barred(t, high))
	if one.Digest() == other.Digest() || one.Decisions.Digest != other.Decisions.Digest {
		t.Errorf("two bars have one digest: %s, %s", one.Digest(), other.Digest())
	}
}
