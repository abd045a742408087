package stats

import (
	"bufio"
	"embed"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/DataDog/datadog-agent/pkg/template/html"
)

//go:embed page.html evaluation.html page.css
var pageFiles embed.FS

// Marker returns the beginning of every page of a command, stats or evaluate. Each of them
// recognises its own pages by it.
func Marker(command string) string {
	return "<!DOCTYPE html>\n<!-- switchyard " + command + " -->\n"
}

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
	return p.write(w, "stats", "page.html", func(style template.CSS) any { return s.view(p, style) })
}

// write writes a page of a command with a template. data returns the template's data for a style sheet.
func (p Page) write(w io.Writer, command, name string, data func(template.CSS) any) error {
	style, err := pageFiles.ReadFile("page.css")
	if err != nil {
		return err
	}
	t, err := template.New(name).Funcs(template.FuncMap{
		"label": label, "grouped": grouped, "percent": Percent, "dollars": Dollars, "minute": minute,
		"plus": plus, "width": widthOf, "digest": shortDigest, "empty": func(v view) bool { return v.Empty() },
		"age": func(since string) string {
			at, ok := timeOf(since)
			if !ok {
				return ""
			}
			return formatDuration(max(0, p.Now.Sub(at).Truncate(time.Second).Seconds()))
		},
	}).ParseFS(pageFiles, "*.html")
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(w)
	// html/template removes comments.
	if _, err := buffered.WriteString(Marker(command)); err != nil {
		return err
	}
	if err := t.Execute(buffered, data(template.CSS(style))); err != nil {
		return err
	}
	return buffered.Flush()
}

func (p Page) made() string { return p.Now.UTC().Format("2 Jan 2006 15:04") }

// view is the template's data besides the numbers.
type view struct {
	Stats
	Page
	Style   template.CSS
	Made    string
	Events  string
	Figures []Figure

	// The lists of Stats, cut to their maximum rows.
	Standing, StandingFolded []Standing
	Agents                   []Agent
	Policies                 []Policy

	StandingMore, AgentsMore, CategoriesMore, PoliciesMore string

	Routes, Ended, Fallbacks, Runs, Cost *chart
	TaskBars, Categories, Severities     *barTable

	// Sentences.
	TaskHead, Converges, Spawned, FindingsHead string

	// AgentsTotal is the total of the agents' bars.
	AgentsTotal int64
	Left        bool
}

// Figure is one of the most important numbers, with its name and its parts.
type Figure struct{ Value, Name, Note string }

func (s Stats) view(p Page, style template.CSS) view {
	line := newTimeline(s.Days)
	v := view{
		Stats: s, Page: p, Style: style, Made: p.made(), Events: counted(s.Ledger.Events, "event"),
		Figures: s.Figures(), Routes: routesChart(s, line), Ended: endedChart(line), Left: line.left,
		Agents: s.Spawns.Agents[:min(len(s.Spawns.Agents), maxAgents)], AgentsMore: more(len(s.Spawns.Agents), maxAgents, "agent"),
		Policies: s.Policies[:min(len(s.Policies), maxPolicies)],
	}
	shown := min(len(s.Standing), MaxStanding)
	unfolded := min(shown, maxUnfolded)
	v.Standing, v.StandingFolded = s.Standing[:unfolded], s.Standing[unfolded:shown]
	v.StandingMore = more(len(s.Standing), MaxStanding, "task")
	if n := len(s.Policies) - maxPolicies; n > 0 {
		v.PoliciesMore = "and " + countedAs(int64(n), "more policy", "more policies")
	}
	v.rounds()
	v.agents(line)
	v.findings()
	return v
}

// Figures returns the most important numbers.
func (s Stats) Figures() []Figure {
	tasks := fmt.Sprintf("%s committed, %s open", grouped(s.Tasks.Committed), grouped(s.Tasks.Open))
	if n := plus(s.Tasks.Parked, s.Tasks.Merging); n > 0 {
		tasks += fmt.Sprintf(", %s parked or merging", grouped(n))
	}
	all := []Figure{
		{grouped(s.Tasks.Total), "tasks", tasks},
		{grouped(plus(s.Tasks.Stuck, s.Tasks.Waiting)), "need a person", fmt.Sprintf("%s stuck, %s waiting", grouped(s.Tasks.Stuck), grouped(s.Tasks.Waiting))},
		{grouped(s.Rounds.Total), "decisions", counted(s.Rounds.Forced, "forced gate")},
	}
	if t := s.TaskRounds; t.Count > 0 {
		all = append(all, Figure{decimal(t.Median, 1), "rounds to commit", fmt.Sprintf("median; 90 %% within %s", decimal(t.P90, 1))})
	}
	if u := s.Spawns; u.Spawns > 0 {
		all = append(all, Figure{Percent(u.Fallbacks, u.Spawns), "fallback rate", fmt.Sprintf("%s of %s", grouped(u.Fallbacks), counted(u.Spawns, "run"))})
	}
	if micro := s.Spawns.MicroDollars; micro > 0 {
		note := "as the agents' CLIs say"
		if s.Tasks.Committed > 0 {
			note = Dollars(micro/s.Tasks.Committed) + " a committed task"
		}
		all = append(all, Figure{Dollars(micro), "cost", note})
	}
	all = append(all, Figure{grouped(s.Findings.Total), "findings", counted(s.Findings.Stalled, "round") + " without progress"})
	if n := sumOf(s.Findings.Deferred); n > 0 {
		all = append(all, Figure{grouped(n), "deferred findings", counted(s.Findings.Induced, "finding") + " induced by fixes"})
	}
	if q := s.Questions; q.Asked > 0 {
		note := "none answered yet"
		if q.Wait.Count > 0 {
			note = "half answered in " + formatDuration(q.Wait.Median)
		}
		all = append(all, Figure{grouped(q.Asked), "questions", note})
	}
	return all
}

func (v *view) rounds() {
	t := v.TaskRounds
	if t.Count == 0 {
		return
	}
	v.TaskHead = fmt.Sprintf("%s committed, after %s rounds on average.", counted(t.Count, "task"), decimal(t.Mean, 2))
	if t.Count == 1 {
		v.TaskHead = "1 task committed, after " + counted(int64(t.Histogram[0].Rounds), "round") + "."
	}
	v.TaskBars = &barTable{"Committed tasks by their rounds", "Rounds", "Tasks", bars(t.groups(), t.Count)}
	var words []string
	for _, c := range v.Findings.Progress {
		words = append(words, grouped(c.Count)+" "+label(c.Name))
	}
	if len(words) > 0 {
		v.Converges = "Against the review before, findings were: " + strings.Join(words, ", ") + "."
	}
}

// singleRounds is the highest number of rounds with its own bar. The bars above it are for
// ranges, such as 13 to 20.
const singleRounds = 12

// groups returns the bars of the histogram, from 1 to the maximum number of rounds,
// without gaps among the single ones.
func (t TaskRounds) groups() []Count {
	var all []Count
	for i := range singleRounds + 1 {
		all = append(all, Count{Name: strconv.Itoa(i)})
	}
	all = append(all, Count{Name: "13 to 20"}, Count{Name: "21 to 50"}, Count{Name: "51 to 100"}, Count{Name: "more than 100"})
	last := 0
	for _, h := range t.Histogram {
		i := h.Rounds
		if i > singleRounds {
			i = singleRounds + 1 + sort.SearchInts([]int{20, 50, 100}, i)
		}
		all[i].Count = plus(all[i].Count, h.Tasks)
		last = max(last, i)
	}
	all = all[:last+1]
	if all[0].Count == 0 {
		all = all[1:] // A task is committed in no round only by a forced gate.
	}
	return all
}

func (v *view) agents(line timeline) {
	u := v.Spawns
	if len(u.Agents) == 0 {
		return
	}
	v.Spawned = fmt.Sprintf("%s, %s after which another adapter or the caller took over (%s), %s.", counted(u.Spawns, "run"),
		grouped(u.Fallbacks), Percent(u.Fallbacks, u.Spawns), countedAs(u.Retries, "retry", "retries"))
	if u.Run.Count > 0 {
		v.Spawned += fmt.Sprintf(" Half of the runs took at most %s, nine in ten at most %s.", formatDuration(u.Run.Median), formatDuration(u.Run.P90))
	}
	v.Fallbacks, v.Runs, v.AgentsTotal = fallbacksChart(v.Stats, line), runsChart(v.Stats, line), u.Spawns
	if u.MicroDollars > 0 {
		v.Cost, v.AgentsTotal = costChart(v.Stats, line), u.MicroDollars
	}
}

func (v *view) findings() {
	f := v.Findings
	if f.Total == 0 {
		return
	}
	v.FindingsHead = fmt.Sprintf("%s of all decisions, in %s.", counted(f.Total, "finding"), categories(len(f.Categories)))
	v.Categories = &barTable{"Findings by category", "Category", "Findings", bars(f.Categories[:min(len(f.Categories), maxCategories)], f.Total)}
	if rest := f.Categories[min(len(f.Categories), maxCategories):]; len(rest) > 0 {
		v.CategoriesMore = fmt.Sprintf("and %s more with %s", categories(len(rest)), counted(sumOf(rest), "finding"))
	}
	v.Severities = &barTable{"Findings by severity", "Severity", "Findings", bars(f.Severities, f.Total)}
}

func categories(n int) string { return countedAs(int64(n), "category", "categories") }

// shortDigest returns enough of a digest to distinguish it.
func shortDigest(digest string) string {
	algorithm, hex, ok := strings.Cut(digest, ":")
	if ok && len(hex) > 12 {
		return label(algorithm + ":" + hex[:12])
	}
	return label(digest)
}

// more says how many rows are not shown, or returns "".
func more(n, shown int, noun string) string {
	if n <= shown {
		return ""
	}
	return "and " + counted(int64(n-shown), "more "+noun) + " (switchyard stats --output json lists all)"
}
