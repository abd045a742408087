package stats_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/doccheck"
	"github.com/switchyard-dev/switchyard/internal/stats"
)

func about() stats.Page {
	return stats.Page{Project: "shop", Now: sampleStart().AddDate(0, 0, 121), Version: "v1.2.3"}
}

func html(t testing.TB, s stats.Stats, p stats.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.HTML(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// number parses a number with commas.
func number(t testing.TB, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPageSaysWhatTheNumbersSay(t *testing.T) {
	t.Parallel()
	s := of(t, newSample(212, 120))
	page := parse(t, html(t, s, about()))

	var bars [][2]string
	for _, row := range page.table(t, "Findings by category") {
		bars = append(bars, [2]string{row[0], row[1]})
	}
	var want [][2]string
	for _, c := range s.Findings.Categories {
		want = append(want, [2]string{c.Name, strconv.FormatInt(c.Count, 10)})
	}
	if !slices.Equal(bars, want) {
		t.Errorf("categories %v, want %v", bars, want)
	}

	agents := page.table(t, "Runs and cost by agent")
	if len(agents) != len(s.Spawns.Agents) {
		t.Fatalf("%d agents, want %d", len(agents), len(s.Spawns.Agents))
	}
	for i, a := range s.Spawns.Agents {
		row := agents[i]
		cost := fmt.Sprintf("$%.2f", float64(a.MicroDollars)/1e6)
		if row[0] != a.Agent || number(t, row[1]) != a.Spawns || number(t, row[3]) != a.TokensIn+a.TokensOut || row[4] != cost {
			t.Errorf("agent %v, want %+v", row, a)
		}
		if want := fmt.Sprintf("%d%.1f %%", a.Fallbacks, 100*a.FallbackRate); row[2] != want {
			t.Errorf("fallbacks %q, want %q", row[2], want)
		}
	}

	standing := page.table(t, "Tasks that need a person, those that stand there longest first")
	if len(standing) != len(s.Standing) || len(standing) == 0 {
		t.Fatalf("%d tasks need a person, want %d", len(standing), len(s.Standing))
	}
	for i, task := range s.Standing {
		if row := standing[i]; row[0] != task.Task || !strings.Contains(row[1], task.Status+" for ") || row[2] != task.Why {
			t.Errorf("task %v, want %+v", row, task)
		}
	}

	var rounds, tasks int64
	for i, row := range page.table(t, "Committed tasks by their rounds") {
		if row[0] != strconv.Itoa(i+1) {
			t.Errorf("row %d is of round %s", i, row[0])
		}
		tasks += number(t, row[1])
		rounds += number(t, row[1]) * int64(i+1)
	}
	if tasks != s.TaskRounds.Count || math.Abs(float64(rounds)/float64(tasks)-s.TaskRounds.Mean) > 1e-9 {
		t.Errorf("%d tasks with %d rounds, want %+v", tasks, rounds, s.TaskRounds.Spread)
	}

	var decisions int64
	for _, row := range page.table(t, "The one that decided last first; times are UTC") {
		decisions += number(t, row[1])
	}
	if decisions != s.Rounds.Total {
		t.Errorf("the policies have %d decisions, want %d", decisions, s.Rounds.Total)
	}

	figures := make(map[string]string)
	for _, div := range page.named("dl")[0].children {
		figures[div.named("dt")[0].words()] = div.named("strong")[0].words()
	}
	for name, want := range map[string]int64{
		"tasks": s.Tasks.Total, "need a person": s.Tasks.Stuck + s.Tasks.Waiting, "decisions": s.Rounds.Total,
		"findings": s.Findings.Total, "questions": s.Questions.Asked,
	} {
		if got := number(t, figures[name]); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}

// TestChartsAreTheirNumbers checks that every chart's heights agree with its table, and
// the table with the statistics.
func TestChartsAreTheirNumbers(t *testing.T) {
	t.Parallel()
	s := of(t, newSample(212, 120))
	page := parse(t, html(t, s, about()))
	sums := func(caption string) []float64 {
		t.Helper()
		var sums []float64
		for _, row := range page.table(t, caption) {
			for i, cell := range row[1:] {
				if len(sums) <= i {
					sums = append(sums, 0)
				}
				n, err := strconv.ParseFloat(strings.NewReplacer(",", "", "$", "", " %", "", "–", "0").Replace(cell), 64)
				if err != nil {
					t.Fatal(err)
				}
				sums[i] += n
			}
		}
		return sums
	}
	routes := sums("Decisions by week and next action")
	if int64(routes[0]) != s.Rounds.Total {
		t.Errorf("the chart has %v decisions, want %d", routes[0], s.Rounds.Total)
	}
	legend := page.named("ul")[0].children
	if len(legend) != len(s.Rounds.NextActions) {
		t.Fatalf("the legend has %d entries, want %d", len(legend), len(s.Rounds.NextActions))
	}
	heights := heightsOf(t, page, "routes")
	for i, li := range legend {
		name, total, _ := strings.Cut(li.words(), " ")
		at := slices.IndexFunc(s.Rounds.NextActions, func(c stats.Count) bool { return c.Name == name })
		if at < 0 || number(t, total) != s.Rounds.NextActions[at].Count || int64(routes[i+1]) != s.Rounds.NextActions[at].Count {
			t.Errorf("%s has %s in the legend and %v in the table, want %v", name, total, routes[i+1], s.Rounds.NextActions)
		}
		top := topOf(t, page, "Decisions by week and next action")
		if got := heights["s-"+name] / 100 * top; math.Abs(got-routes[i+1]) > 0.1 {
			t.Errorf("the columns of %s come to %v, want %v", name, got, routes[i+1])
		}
	}

	fell := sums("Fallback rate by week")
	if int64(fell[0]) != s.Spawns.Spawns || int64(fell[1]) != s.Spawns.Fallbacks {
		t.Errorf("%v of %v runs fell back, want %+v", fell[1], fell[0], s.Spawns.Usage)
	}
	if got := heightsOf(t, page, "fallbacks")["s-fallback"] / 100 * topOf(t, page, "Fallback rate by week"); math.Abs(got-fell[2]) > 1 {
		t.Errorf("the columns of the rate come to %v, want %v", got, fell[2])
	}
	if got := heightsOf(t, page, "runs")["s-quiet"] / 100 * topOf(t, page, "Agents' runs by week"); math.Abs(got-float64(s.Spawns.Spawns)) > 0.1 {
		t.Errorf("the columns of runs come to %v, want %d", got, s.Spawns.Spawns)
	}
	if got, want := sums("Cost by week")[0], float64(s.Spawns.MicroDollars)/1e6; math.Abs(got-want) > 0.2 {
		t.Errorf("the cost is %v, want %v", got, want)
	}
	if ended := sums("Tasks committed and stuck by week"); int64(ended[0]) != s.TaskRounds.Count {
		t.Errorf("%v tasks committed, want %d", ended[0], s.TaskRounds.Count)
	}
}

// figureOf returns a chart's figure by its caption.
func figureOf(t testing.TB, page *node, caption string) *node {
	t.Helper()
	for _, f := range page.named("figure") {
		if f.named("figcaption")[0].words() == caption {
			return f
		}
	}
	t.Fatalf("there is no chart %q", caption)
	return nil
}

// topOf returns the number at the top of a chart's axis.
func topOf(t testing.TB, page *node, caption string) float64 {
	t.Helper()
	for n := range figureOf(t, page, caption).all() {
		if n.is("y") {
			top, err := strconv.ParseFloat(strings.Trim(n.children[0].words(), "$ %"), 64)
			if err != nil {
				t.Fatal(err)
			}
			return top
		}
	}
	t.Fatalf("the chart %q has no axis", caption)
	return 0
}

// heightsOf adds up the heights of a chart's parts by class. All parts must be inside the
// chart.
func heightsOf(t testing.TB, page *node, id string) map[string]float64 {
	t.Helper()
	sums := make(map[string]float64)
	for _, svg := range page.named("svg") {
		if svg.attrs["aria-labelledby"] != "t-"+id+" d-"+id {
			continue
		}
		for _, rect := range svg.named("rect") {
			var v [4]float64
			for i, name := range []string{"x", "y", "width", "height"} {
				n, err := strconv.ParseFloat(rect.attrs[name], 64)
				if err != nil {
					t.Fatal(err)
				}
				v[i] = n
			}
			if v[0] < 0 || v[1] < -0.01 || v[0]+v[2] > 1000.01 || v[1]+v[3] > 100.02 {
				t.Errorf("a part of %s is at %v", id, v)
			}
			sums[rect.attrs["class"]] += v[3]
		}
	}
	if len(sums) == 0 {
		t.Fatalf("there is no chart %s", id)
	}
	return sums
}

// pages returns the ledgers to test pages with.
func pages() map[string]*memLedger {
	return map[string]*memLedger{
		"empty": {}, "one task": newSample(1, 1), "a week": newSample(9, 6), "months": newSample(212, 120),
		"years": newSample(500, 1200), "hostile": newHostile(hostileNames()),
	}
}

// TestPageNeedsNothingElse checks that a page is well-formed, loads nothing, runs
// nothing, and states the numbers of its charts.
func TestPageNeedsNothingElse(t *testing.T) {
	t.Parallel()
	allowed := []string{
		"html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "div", "h1", "h2", "p", "span", "small", "strong", "code",
		"dl", "dt", "dd", "ul", "li", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "details", "summary",
		"svg", "g", "rect", "path", "desc",
	}
	attributes := []string{
		"lang", "charset", "http-equiv", "content", "name", "id", "class", "scope", "role", "aria-labelledby", "aria-hidden", "style",
		"viewBox", "preserveAspectRatio", "d", "vector-effect", "x", "y", "width", "height",
	}
	texts := map[string]string{
		"evaluation": evaluationHTML(t, hostileEvaluation()), "empty evaluation": evaluationHTML(t, api.Evaluation{}),
	}
	for name, l := range pages() {
		texts[name] = html(t, of(t, l), about())
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := "stats"
			if strings.Contains(name, "evaluation") {
				command = "evaluate"
			}
			if !strings.HasPrefix(text, stats.Marker(command)) {
				t.Errorf("it begins %.60q", text)
			}
			page := parse(t, text)
			ids := make(map[string]bool)
			var level int
			for n := range page.all() {
				if n.name == "" {
					continue
				}
				if !slices.Contains(allowed, n.name) {
					t.Errorf("there is an element %s", n.name)
				}
				for attr, value := range n.attrs {
					if !slices.Contains(attributes, attr) {
						t.Errorf("%s has an attribute %s", n.name, attr)
					}
					if attr == "style" && !regexp.MustCompile(`^width:[0-9.]+%$`).MatchString(value) {
						t.Errorf("%s is styled %q", n.name, value)
					}
				}
				if id := n.attrs["id"]; id != "" {
					if ids[id] {
						t.Errorf("there are two of id %s", id)
					}
					ids[id] = true
				}
				if n.name == "h1" || n.name == "h2" {
					if at := int(n.name[1] - '0'); at > level+1 || n.words() == "" {
						t.Errorf("heading %s %q stands behind one of level %d", n.name, n.words(), level)
					} else {
						level = at
					}
				}
				if n.name == "table" && (len(n.named("caption")) != 1 || len(n.named("th")) == 0) {
					t.Error("a table has no caption or no headings")
				}
			}
			for n := range page.all() {
				for _, id := range strings.Fields(n.attrs["aria-labelledby"]) {
					if !ids[id] {
						t.Errorf("nothing has the id %s", id)
					}
				}
				if n.name != "svg" || n.attrs["aria-hidden"] == "true" {
					continue // A bar has its numbers beside it.
				}
				if n.attrs["role"] != "img" || n.children[0].name != "title" || n.children[0].words() == "" || n.children[1].name != "desc" || n.children[1].words() == "" {
					t.Errorf("a chart does not say what it shows")
				}
			}
			style := page.named("style")
			if len(style) != 1 || regexp.MustCompile(`url\(|@import|@font-face|expression`).MatchString(style[0].text.String()) {
				t.Error("the style sheet asks for something")
			}
			policy := page.named("meta")[1].attrs
			if policy["http-equiv"] != "Content-Security-Policy" || !strings.HasPrefix(policy["content"], "default-src 'none'; style-src 'unsafe-inline';") {
				t.Errorf("the policy is %v", policy)
			}
			if page.children[0].attrs["lang"] != "en" || len(page.named("h1")) != 1 {
				t.Error("it has no language or not one first heading")
			}
		})
	}
}

// TestPageOfHostileNames checks that names from a ledger are shown as text.
func TestPageOfHostileNames(t *testing.T) {
	t.Parallel()
	hostile := `<b>"x'</b>`
	p := about()
	p.Project, p.Version = hostile+"\u202e", hostile
	page := parse(t, html(t, of(t, newHostile(hostileNames())), p))
	if got, want := page.named("h1")[0].words(), hostile+"<U+202E>"; got != want {
		t.Errorf("the project is shown as %q", got)
	}
	var shown []string
	for _, row := range page.table(t, "Findings by category") {
		shown = append(shown, row[0])
	}
	for _, name := range []string{`</script><script>alert(1)</script>`, `{{.Style}}`, "a<U+202E>b<U+2066>c<U+200F>", "nul<U+0000>esc<U+001B>[31m", "(none)", `&lt;&#x3c;&quot;`} {
		if !slices.Contains(shown, name) {
			t.Errorf("%q is not shown as it is", name)
		}
	}
	for _, name := range shown {
		if n := len([]rune(name)); n > 160 {
			t.Errorf("a name of %d code points is shown", n)
		}
	}
}

func TestPageIsTheSameForTheSameNumbers(t *testing.T) {
	t.Parallel()
	first, second := of(t, newSample(80, 50)), of(t, newSample(80, 50))
	if html(t, first, about()) != html(t, second, about()) {
		t.Error("two pages of the same numbers differ")
	}
	later := about()
	later.Now = later.Now.Add(48 * time.Hour)
	if html(t, first, about()) == html(t, first, later) {
		t.Error("the clock makes no difference")
	}
}

// TestPageOfManyNames checks that long lists are cut, and that the page says by how much.
func TestPageOfManyNames(t *testing.T) {
	t.Parallel()
	l := &memLedger{}
	for i := range 300 {
		name := fmt.Sprintf("n%03d", i)
		l.Record(sampleStart(), one(counters.Tasks(), "stuck"), one(counters.BlockedTasks(), "stuck", "", name, "x"),
			one(counters.Findings(), name, "fail", "executor"), one(counters.Spawns(), name, "claude", "ok"),
			one(counters.Policies(), name, "sha256:aa", "ADR-0001"), one(counters.Rounds(), name, "1.0.0"), one(counters.DailyRounds(), "2026-01-12", name))
	}
	page := parse(t, html(t, of(t, l), about()))
	var said []string
	for n := range page.all() {
		if n.is("more") {
			said = append(said, n.words())
		}
	}
	want := []string{
		"and 200 more tasks (switchyard stats --output json lists all)", "and 280 categories more with 280 findings",
		"and 260 more agents (switchyard stats --output json lists all)", "and 260 more policies",
	}
	if !slices.Equal(said, want) {
		t.Errorf("it says %q, want %q", said, want)
	}
	if got := page.named("summary")[0].words(); got != "90 more" {
		t.Errorf("the first tasks are followed by %q", got)
	}
	legend := page.named("ul")[0].children
	if got := legend[len(legend)-1].words(); len(legend) != 4 || got != "all others 297" {
		t.Errorf("the legend has %d entries, the last is %q", len(legend), got)
	}
}

// refuser accepts some bytes and then fails.
type refuser struct{ left int }

var errFull = errors.New("full")

func (r *refuser) Write(p []byte) (int, error) {
	if r.left -= len(p); r.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestPageThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := of(t, newSample(30, 20))
	for _, left := range []int{0, 5000} {
		if err := s.HTML(&refuser{left}, about()); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
}

// TestTestdata keeps the files that e2e opens in a browser up to date.
func TestTestdata(t *testing.T) {
	t.Parallel()
	short := slices.DeleteFunc(hostileNames(), func(s string) bool { return len(s) > 1000 })
	for name, l := range map[string]*memLedger{"empty": {}, "week": newSample(9, 6), "months": newSample(212, 120), "hostile": newHostile(short)} {
		text, err := json.Marshal(of(t, l), json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		doccheck.Page(t, filepath.Join("testdata", name+".json"), string(text))
	}
}
