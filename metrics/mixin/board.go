package mixin

import "slices"

// Board describes a dashboard of Grafana: as much of one as ours has.
type Board struct {
	Title, UID  string
	Variables   []Variable
	Annotations []Mark
	Rows        []Row
}

// Variable is a choice at the top of the dashboard.
type Variable struct {
	Name, Title string
	// Metric is the one whose label of the variable's name has the values to choose
	// from, "" for the choice of the data source.
	Metric string
}

// Mark draws a line into all panels at each of the times that an expression yields,
// in milliseconds.
type Mark struct {
	Name, Expr string
	// Text is what the line says: {{label}} stands for a label's value.
	Text string
}

// Row is a part of a dashboard under a title of its own.
type Row struct {
	Title  string
	Panels []Panel
}

// Panel shows the results of queries.
type Panel struct {
	// Title is short, and Help says what is not obvious.
	Title, Help string
	View        View
	// Width is in columns, of which there are 24, and Height in Grafana's rows.
	Width, Height int
	// Unit is one of Grafana's.
	Unit    string
	Queries []Query
}

// View is how a panel shows its results.
type View string

// The views.
const (
	// Lines over time.
	Lines View = "lines"
	// Bars over time, stacked, for what is counted.
	Bars View = "bars"
	// Numbers are the newest values, large.
	Numbers View = "numbers"
	// Levels are the newest values as bars, each with its name.
	Levels View = "levels"
	// List is a table of the newest values' labels.
	List View = "list"
)

// Units of panels, as Grafana calls them.
const (
	unitCount   = "short"
	unitShare   = "percentunit"
	unitSeconds = "s"
	unitDollars = "currencyUSD"
	unitAgo     = "dateTimeFromNow"
)

// Query is one expression of a panel.
type Query struct {
	// Expr has Grafana's variables in it.
	Expr string
	// Legend names the series: {{label}} stands for a label's value.
	Legend string
	// Buckets says that the series are the buckets of a histogram, each of which
	// holds those below it.
	Buckets bool
}

// place is where something stands on the dashboard.
type place struct{ x, y, width, height int }

// columns is how wide a dashboard is.
const columns = 24

// layout places the panels of a row from the line y on, one beside the other as long
// as they fit, and returns the first free line below.
func layout(panels []Panel, y int) (places []place, below int) {
	x, height := 0, 0
	for _, p := range panels {
		if x+p.Width > columns {
			x, y, height = 0, y+height, 0
		}
		places = append(places, place{x, y, p.Width, p.Height})
		x, height = x+p.Width, max(height, p.Height)
	}
	return places, y + height
}

// exprs lists all expressions of a dashboard with what they are for.
func (b Board) exprs() []labelled {
	var all []labelled
	for _, m := range b.Annotations {
		all = append(all, labelled{"the annotation " + m.Name, m.Expr, m.Text})
	}
	for _, r := range b.Rows {
		for _, p := range r.Panels {
			for _, q := range p.Queries {
				all = append(all, labelled{r.Title + ": " + p.Title, q.Expr, q.Legend})
			}
		}
	}
	return slices.Clip(all)
}

// labelled is an expression, where it stands, and the text that its labels go into.
type labelled struct{ where, expr, text string }
