package stats

import (
	"bufio"
	"embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"
)

//go:embed page.html page.css
var pageFiles embed.FS

// Marker is the beginning of every page. Programs use it to recognise their own pages.
const Marker = "<!DOCTYPE html>\n<!-- switchyard stats -->\n"

// Page is the content of a page besides the numbers.
type Page struct {
	// Project is the name of the ledger's project.
	Project string
	// Now is the time of the page; the ages of stuck and waiting tasks are relative to it.
	Now time.Time
	// Version is the version of the program.
	Version string
}

// The maximum rows of each list on the page. The command's JSON has all of them.
const (
	maxCategories = 20
	maxAgents     = 40
	maxUnfolded   = 10 // of the stuck and waiting tasks; the others are collapsed
	maxPolicies   = 40
)

// MaxStanding is the maximum number of stuck and waiting tasks on the page.
const MaxStanding = 100

// HTML writes the numbers as a self-contained page without scripts and links, which loads
// no file, font or picture. It is also well-formed XML. The same numbers and the same
// Page give the same bytes.
func (s Stats) HTML(w io.Writer, p Page) error {
	style, err := pageFiles.ReadFile("page.css")
	if err != nil {
		return err
	}
	t, err := template.New("page.html").ParseFS(pageFiles, "page.html")
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(w)
	// html/template removes comments.
	if _, err := buffered.WriteString(Marker); err != nil {
		return err
	}
	if err := t.Execute(buffered, s.view(p, template.CSS(style))); err != nil {
		return err
	}
	return buffered.Flush()
}

// view is the template's data: formatted texts only.
type view struct {
	Style   template.CSS
	Project string
	Made    string
	Version string
	Empty   bool

	Events, Since, Until string
	Figures              []figure

	Standing       []standingRow
	StandingFolded []standingRow
	StandingMore   string

	Routes    chart
	TaskHead  string
	TaskBars  *barTable
	Converges string
	Ended     *chart

	Fallbacks, Runs *chart
	Cost            *chart
	Spawned         string
	Agents          []agentRow
	AgentsMore      string

	FindingsHead   string
	Categories     *barTable
	CategoriesMore string
	Severities     *barTable

	Policies     []policyRow
	PoliciesMore string
	Left         bool
}

// figure is a number in large type.
type figure struct{ Value, Name, Note string }

type standingRow struct{ Task, Status, Age, Since, Why string }

type agentRow struct {
	Agent, Runs, Fallbacks, Rate, Tokens, Cost string
	Width                                      string
}

type policyRow struct{ Version, Digest, ADR, Decisions, Last, Adopted string }

func (s Stats) view(p Page, style template.CSS) view {
	line := newTimeline(s.Days)
	v := view{
		Style: style, Project: label(p.Project), Made: p.Now.UTC().Format("2 Jan 2006 15:04"), Version: label(p.Version),
		Empty: s.Empty(), Events: counted(s.Ledger.Events, "event"), Since: minute(s.Ledger.Since), Until: minute(s.Ledger.Until),
		Figures: s.figures(), Routes: routed(s, line), Ended: ended(line), Left: line.left,
	}
	v.standing(s, p.Now)
	v.rounds(s)
	v.agents(s, line)
	v.findings(s)
	v.policies(s)
	return v
}

// figures returns the most important numbers.
func (s Stats) figures() []figure {
	all := []figure{
		{grouped(s.Tasks.Total), "tasks", fmt.Sprintf("%s committed, %s open", grouped(s.Tasks.Committed), grouped(s.Tasks.Open))},
		{grouped(plus(s.Tasks.Stuck, s.Tasks.Waiting)), "need somebody", fmt.Sprintf("%s stuck, %s waiting", grouped(s.Tasks.Stuck), grouped(s.Tasks.Waiting))},
		{grouped(s.Rounds.Total), "decisions", counted(s.Rounds.Forced, "forced gate")},
	}
	if t := s.TaskRounds; t.Count > 0 {
		all = append(all, figure{decimal(t.Median, 1), "rounds to commit", fmt.Sprintf("median; 90 %% within %s", decimal(t.P90, 1))})
	}
	if u := s.Spawns; u.Spawns > 0 {
		all = append(all, figure{Percent(u.Fallbacks, u.Spawns), "fallback rate", fmt.Sprintf("%s of %s", grouped(u.Fallbacks), counted(u.Spawns, "run"))})
	}
	if micro := s.Spawns.MicroDollars; micro > 0 {
		note := "as the agents' CLIs say"
		if s.Tasks.Committed > 0 {
			note = Dollars(micro/s.Tasks.Committed) + " a committed task"
		}
		all = append(all, figure{Dollars(micro), "cost", note})
	}
	all = append(all, figure{grouped(s.Findings.Total), "findings", counted(s.Findings.Stalled, "round") + " without progress"})
	if q := s.Questions; q.Asked > 0 {
		note := "none answered yet"
		if q.Wait.Count > 0 {
			note = "half answered in " + FormatDuration(q.Wait.Median)
		}
		all = append(all, figure{grouped(q.Asked), "questions", note})
	}
	return all
}

func (v *view) standing(s Stats, now time.Time) {
	for _, t := range s.Standing[:min(len(s.Standing), MaxStanding)] {
		age := ""
		if since, ok := timeOf(t.Since); ok {
			age = FormatDuration(max(0, now.Sub(since).Truncate(time.Second).Seconds()))
		}
		v.Standing = append(v.Standing, standingRow{label(t.Task), label(t.Status), age, minute(t.Since), label(t.Why)})
	}
	unfolded := min(len(v.Standing), maxUnfolded)
	v.Standing, v.StandingFolded = v.Standing[:unfolded], v.Standing[unfolded:]
	v.StandingMore = more(len(s.Standing), MaxStanding, "task")
}

func (v *view) rounds(s Stats) {
	t := s.TaskRounds
	if t.Count == 0 {
		return
	}
	v.TaskHead = fmt.Sprintf("%s committed, after %s rounds on average.", counted(t.Count, "task"), decimal(t.Mean, 2))
	if t.Count == 1 {
		v.TaskHead = "1 task committed, after " + counted(int64(t.Histogram[0].Rounds), "round") + "."
	}
	v.TaskBars = &barTable{"Committed tasks by their rounds", "Rounds", "Tasks", bars(t.groups(), t.Count)}
	var words []string
	for _, c := range s.Findings.Progress {
		words = append(words, grouped(c.Count)+" "+label(c.Name))
	}
	if len(words) > 0 {
		v.Converges = "Against the review before, findings were: " + strings.Join(words, ", ") + "."
	}
}

// singleRounds is the highest number of rounds with its own bar; above it, a bar stands
// for ten or more.
const singleRounds = 12

// groups returns the bars of the histogram, from 1 to the maximum number of rounds,
// without gaps among the single ones.
func (t TaskRounds) groups() []Count {
	most, beyond := 0, 0
	for _, h := range t.Histogram {
		if most = max(most, h.Rounds); h.Rounds > singleRounds {
			beyond++
		}
	}
	all := make([]Count, min(most, singleRounds)+1)
	for i := range all {
		all[i].Name = strconv.Itoa(i)
	}
	wide := []Count{{Name: "13 to 20"}, {Name: "21 to 50"}, {Name: "51 to 100"}, {Name: "more than 100"}}
	for _, h := range t.Histogram {
		to := &wide[3].Count
		switch {
		case h.Rounds <= singleRounds:
			to = &all[h.Rounds].Count
		case h.Rounds <= 20:
			to = &wide[0].Count
		case h.Rounds <= 50:
			to = &wide[1].Count
		case h.Rounds <= 100:
			to = &wide[2].Count
		}
		*to = plus(*to, h.Tasks)
	}
	if beyond > 0 {
		for len(wide) > 0 && wide[len(wide)-1].Count == 0 {
			wide = wide[:len(wide)-1]
		}
		all = append(all, wide...)
	}
	if all[0].Count == 0 {
		all = all[1:] // A task is committed in no round only by a forced gate.
	}
	return all
}

func (v *view) agents(s Stats, line timeline) {
	u := s.Spawns
	if len(u.Agents) == 0 {
		return
	}
	v.Spawned = fmt.Sprintf("%s, %s after which another adapter or the caller took over (%s), %s.", counted(u.Spawns, "run"),
		grouped(u.Fallbacks), Percent(u.Fallbacks, u.Spawns), countedAs(u.Retries, "retry", "retries"))
	if u.Run.Count > 0 {
		v.Spawned += fmt.Sprintf(" Half of the runs took at most %s, nine in ten at most %s.", FormatDuration(u.Run.Median), FormatDuration(u.Run.P90))
	}
	fallbacks, runs := fallbackRate(s, line), runs(s, line)
	v.Fallbacks, v.Runs = &fallbacks, &runs
	if u.MicroDollars > 0 {
		c := cost(s, line)
		v.Cost = &c
	}
	var total int64
	weight := func(a Agent) int64 {
		if u.MicroDollars > 0 {
			return a.MicroDollars
		}
		return a.Spawns
	}
	for _, a := range u.Agents {
		total = plus(total, weight(a))
	}
	for _, a := range u.Agents[:min(len(u.Agents), maxAgents)] {
		v.Agents = append(v.Agents, agentRow{
			Agent: label(a.Agent), Runs: grouped(a.Spawns), Fallbacks: grouped(a.Fallbacks), Rate: Percent(a.Fallbacks, a.Spawns),
			Tokens: grouped(plus(a.TokensIn, a.TokensOut)), Cost: Dollars(a.MicroDollars), Width: widthOf(weight(a), total),
		})
	}
	v.AgentsMore = more(len(u.Agents), maxAgents, "agent")
}

func (v *view) findings(s Stats) {
	f := s.Findings
	if f.Total == 0 {
		return
	}
	v.FindingsHead = fmt.Sprintf("%s of all decisions, in %s.", counted(f.Total, "finding"), categories(len(f.Categories)))
	v.Categories = &barTable{"Findings by category", "Category", "Findings", bars(f.Categories[:min(len(f.Categories), maxCategories)], f.Total)}
	if rest := f.Categories[min(len(f.Categories), maxCategories):]; len(rest) > 0 {
		var n int64
		for _, c := range rest {
			n = plus(n, c.Count)
		}
		v.CategoriesMore = fmt.Sprintf("and %s more with %s", categories(len(rest)), counted(n, "finding"))
	}
	v.Severities = &barTable{"Findings by severity", "Severity", "Findings", bars(f.Severities, f.Total)}
}

func categories(n int) string { return countedAs(int64(n), "category", "categories") }

func (v *view) policies(s Stats) {
	for _, p := range s.Policies[:min(len(s.Policies), maxPolicies)] {
		row := policyRow{label(p.Version), shortDigest(p.Digest), label(p.ADR), grouped(p.Decisions), minute(p.LastAt), "–"}
		if p.AdoptedAt != "" {
			row.Adopted = minute(p.AdoptedAt)
		}
		v.Policies = append(v.Policies, row)
	}
	if len(s.Policies) > maxPolicies {
		v.PoliciesMore = "and " + countedAs(int64(len(s.Policies)-maxPolicies), "more policy", "more policies")
	}
}

// shortDigest returns enough of a digest to distinguish it.
func shortDigest(digest string) string {
	algorithm, hex, ok := strings.Cut(digest, ":")
	if ok && len(hex) > 12 {
		return label(algorithm + ":" + hex[:12])
	}
	return label(digest)
}

// more says how many rows are not shown, or "" if all are.
func more(n, shown int, noun string) string {
	if n <= shown {
		return ""
	}
	return "and " + counted(int64(n-shown), "more "+noun) + " (switchyard stats --output json lists all)"
}
