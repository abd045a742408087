package mixin

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// schemaVersion is that of Grafana 12. Newer ones read it too, and so does 11.
const schemaVersion = 41

type object = map[string]any

// json writes the dashboard as Grafana imports it.
func (b Board) json() ([]byte, error) {
	var panels []object
	id, y := 0, 0
	next := func() int { id++; return id }
	for _, r := range b.Rows {
		panels = append(panels, object{
			"id": next(), "type": "row", "title": r.Title, "collapsed": false, "panels": []object{},
			"gridPos": place{0, y, columns, 1}.json(),
		})
		var places []place
		places, y = layout(r.Panels, y+1)
		for i, p := range r.Panels {
			panels = append(panels, p.json(next(), places[i]))
		}
	}
	var variables, annotations []object
	for _, v := range b.Variables {
		variables = append(variables, v.json())
	}
	for _, m := range b.Annotations {
		annotations = append(annotations, m.json())
	}
	text, err := json.Marshal(object{
		"title": b.Title, "uid": b.UID, "tags": []string{"switchyard"}, "schemaVersion": schemaVersion, "version": 1,
		"editable": true, "graphTooltip": 1, "timezone": "browser", "refresh": "1m",
		"time":        object{"from": "now-7d", "to": "now"},
		"templating":  object{"list": variables},
		"annotations": object{"list": annotations},
		"panels":      panels,
	}, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("mixin: the dashboard cannot be JSON: %w", err)
	}
	return append(text, '\n'), nil
}

func (p place) json() object { return object{"x": p.x, "y": p.y, "w": p.width, "h": p.height} }

// source is the data source that is chosen at the top.
func source() object { return object{"type": "prometheus", "uid": "${datasource}"} }

func (v Variable) json() object {
	if v.Metric == "" {
		return object{"name": v.Name, "label": v.Title, "type": "datasource", "query": "prometheus"}
	}
	query := fmt.Sprintf("label_values(%s, %s)", v.Metric, v.Name)
	return object{
		"name": v.Name, "label": v.Title, "type": "query", "datasource": source(),
		"query": object{"query": query, "refId": v.Name}, "refresh": 2, "sort": 1,
		// .* also fits where there is no such label, unlike a list of all values.
		"multi": true, "includeAll": true, "allValue": ".*",
		"current": object{"selected": true, "text": "All", "value": "$__all"},
	}
}

func (m Mark) json() object {
	return object{
		"name": m.Name, "datasource": source(), "enable": true, "iconColor": "purple",
		"target": object{"expr": m.Expr, "refId": m.Name}, "titleFormat": m.Text, "useValueForTime": "on",
	}
}

func (p Panel) json(id int, at place) object {
	var targets []object
	for i, q := range p.Queries {
		targets = append(targets, q.json(string(rune('A'+i)), p.View))
	}
	panel := object{
		"id": id, "type": p.View.grafana(), "title": p.Title, "gridPos": at.json(), "datasource": source(), "targets": targets,
		"fieldConfig": object{"defaults": p.defaults(), "overrides": []object{}},
		"options":     p.View.options(),
	}
	if p.Help != "" {
		panel["description"] = p.Help
	}
	if p.View == List {
		hidden := object{"Time": true, "Value": true, "__name__": true}
		panel["transformations"] = []object{{"id": "organize", "options": object{"excludeByName": hidden}}}
	}
	return panel
}

func (q Query) json(ref string, v View) object {
	target := object{"refId": ref, "datasource": source(), "expr": q.Expr, "legendFormat": q.Legend, "editorMode": "code"}
	switch {
	case v == List:
		target["format"] = "table"
	case q.Buckets:
		target["format"] = "heatmap"
	default:
		target["format"] = "time_series"
	}
	newest := v == Levels || v == List || v == Numbers
	target["instant"], target["range"] = newest, !newest
	return target
}

// grafana is what Grafana calls the view's panel.
func (v View) grafana() string {
	switch v {
	case Numbers:
		return "stat"
	case Levels:
		return "bargauge"
	case List:
		return "table"
	}
	return "timeseries"
}

// defaults is how the values look.
func (p Panel) defaults() object {
	d := object{"unit": p.Unit, "color": object{"mode": "palette-classic"}}
	if p.Unit != unitAgo {
		d["min"] = 0
	}
	if p.Unit == unitCount && (p.View == Numbers || p.View == Levels) {
		d["decimals"] = 0 // increase() extrapolates: 101.77 rounds
	}
	if p.Unit == unitShare {
		d["noValue"] = "empty on the first day: a share of a day or of a week needs counters that have grown since the first scrape"
	}
	switch p.View {
	case Bars:
		d["custom"] = object{"drawStyle": "bars", "fillOpacity": 80, "lineWidth": 0, "stacking": object{"mode": "normal", "group": "A"}}
	case Lines:
		d["custom"] = object{"drawStyle": "line", "fillOpacity": 5, "lineWidth": 1, "spanNulls": false}
	}
	return d
}

// options are those of the view's panel.
func (v View) options() object {
	newest := object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false}
	switch v {
	case Numbers:
		return object{
			"reduceOptions": newest, "orientation": "auto", "colorMode": "value", "graphMode": "none", "justifyMode": "auto",
			"textMode": "auto", "wideLayout": true, "showPercentChange": false, "percentChangeColorMode": "standard",
		}
	case Levels:
		return object{
			"reduceOptions": newest, "orientation": "horizontal", "displayMode": "basic", "showUnfilled": true, "valueMode": "text",
			"namePlacement": "left", "sizing": "auto", "minVizWidth": 8, "minVizHeight": 16, "maxVizHeight": 300,
			"legend": object{"showLegend": false, "displayMode": "list", "placement": "bottom", "calcs": []string{}},
		}
	case List:
		return object{"showHeader": true, "frameIndex": 0}
	}
	return object{
		"legend":  object{"showLegend": true, "displayMode": "list", "placement": "bottom", "calcs": []string{}},
		"tooltip": object{"mode": "multi", "sort": "desc"},
	}
}
