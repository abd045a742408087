package mixin

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"
)

// grid is what Grafana knows of a panel's place.
type grid struct {
	ID      int    `json:"id"`
	Type    string `json:"type"`
	Title   string `json:"title"`
	GridPos struct {
		X, Y, W, H int
	} `json:"gridPos"`
	Targets []struct {
		RefID  string `json:"refId"`
		Expr   string `json:"expr"`
		Source struct {
			UID string `json:"uid"`
		} `json:"datasource"`
	} `json:"targets"`
}

func dashboard(t *testing.T) (panels []grid, variables []string) {
	t.Helper()
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels     []grid `json:"panels"`
		Templating struct {
			List []struct {
				Name string `json:"name"`
			} `json:"list"`
		} `json:"templating"`
	}
	if err := json.Unmarshal(text, &d, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	return d.Panels, variables
}

func TestPanelsDoNotOverlap(t *testing.T) {
	t.Parallel()
	panels, _ := dashboard(t)
	if len(panels) < 40 {
		t.Fatalf("only %d panels", len(panels))
	}
	taken := make(map[[2]int]string)
	ids := make(map[int]bool)
	for _, p := range panels {
		g := p.GridPos
		if g.X < 0 || g.Y < 0 || g.W < 1 || g.H < 1 || g.X+g.W > columns {
			t.Errorf("%s is at %+v", p.Title, g)
		}
		if p.ID < 1 || ids[p.ID] {
			t.Errorf("%s has the number %d", p.Title, p.ID)
		}
		ids[p.ID] = true
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok {
					t.Fatalf("%s and %s overlap", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// TestLayoutNeverOverlaps holds for any panels that are not wider than the dashboard.
func TestLayoutNeverOverlaps(t *testing.T) {
	t.Parallel()
	panel := rapid.Custom(func(t *rapid.T) Panel {
		return Panel{Width: rapid.IntRange(1, columns).Draw(t, "width"), Height: rapid.IntRange(1, 9).Draw(t, "height")}
	})
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.IntRange(0, 9).Draw(t, "first line")
		places, below := layout(rapid.SliceOf(panel).Draw(t, "panels"), first)
		for i, p := range places {
			if p.x < 0 || p.x+p.width > columns || p.y < first || p.y+p.height > below {
				t.Fatalf("%+v is outside", p)
			}
			for _, q := range places[:i] {
				if p.x < q.x+q.width && q.x < p.x+p.width && p.y < q.y+q.height && q.y < p.y+p.height {
					t.Fatalf("%+v and %+v overlap", p, q)
				}
			}
		}
	})
}

// TestQueriesAreWithinTheChoice: every query is narrowed down to the data source, job,
// instance and project that are chosen at the top, and there are no other variables.
func TestQueriesAreWithinTheChoice(t *testing.T) {
	t.Parallel()
	panels, variables := dashboard(t)
	known := map[string]bool{"__rate_interval": true, "__range": true}
	for _, name := range variables {
		known[name] = true
	}
	for _, p := range panels {
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 {
			t.Errorf("%s asks for nothing", p.Title)
		}
		refs := make(map[string]bool)
		for _, q := range p.Targets {
			if refs[q.RefID] || q.RefID == "" {
				t.Errorf("%s: two queries are called %q", p.Title, q.RefID)
			}
			refs[q.RefID] = true
			if q.Source.UID != "${datasource}" {
				t.Errorf("%s asks %s", p.Title, q.Source.UID)
			}
			read, _, err := uses(plain(q.Expr))
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range read {
				for _, label := range []string{"job", "instance", "project"} {
					if !slices.Contains(u.Matchers, Matcher{label, "=~", "$" + label}) {
						t.Errorf("%s: %s is not narrowed down by %s", p.Title, u.Metric, label)
					}
				}
			}
			for _, found := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(q.Expr, -1) {
				if !known[found[1]] {
					t.Errorf("%s: there is no variable %s", p.Title, found[0])
				}
			}
		}
	}
}
