package project

import (
	"net/url"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Metrics says where the project's metrics are written after each change. The zero value
// means nowhere.
type Metrics struct {
	// Textfile is a file for node_exporter's textfile collector, "" for none. Its name
	// ends in .prom; a relative path is relative to the project's root.
	Textfile string
	// Push is the URL of a Pushgateway, "" for none. Job and Grouping are the group's
	// labels; "" and nil mean the defaults.
	Push     string
	Job      string
	Grouping map[string]string
	// Labels are added to every metric.
	Labels map[string]string
	FileOwner
}

// IsSet reports whether metrics have a destination.
func (m Metrics) IsSet() bool { return m.Textfile != "" || m.Push != "" }

// The limits of metrics.
const (
	maxLabels     = 16
	maxLabelValue = 128

	labelName = `^[a-z][a-z0-9_]{0,62}$`
	labelRule = "1 to 63 small letters, digits and _, a letter first"
)

// read reads the metrics section.
func (m *Metrics) read(r *reader, v value) {
	before := r.problemCount()
	r.mapping(v, fields{
		"textfile": func(v value) { m.Textfile = r.textfile(v) },
		"push":     func(v value) { m.Push = r.gateway(v) },
		"job":      func(v value) { m.Job = r.labelValue(v) },
		"grouping": func(v value) { m.Grouping = r.labels(v) },
		"labels":   func(v value) { m.Labels = r.labels(v) },
	})
	if r.problemCount() == before && m.Push == "" && (m.Job != "" || m.Grouping != nil) {
		r.addProblem(v.line, "%s.job and %[1]s.grouping are for %[1]s.push, which is missing", v.path)
	}
}

// textfile reads the path of a metrics file. node_exporter reads no other names, and a
// repository must not be able to replace any other file.
func (r *reader) textfile(v value) string {
	path := r.text(v)
	switch {
	case !v.isText():
	case strings.ContainsRune(path, 0):
		r.addProblem(v.line, "%s holds a zero byte", v.path)
	case filepath.Ext(path) != ".prom" || filepath.Base(path) == ".prom":
		r.expected(v, "a file whose name ends in .prom")
	}
	return path
}

// gateway reads the URL of a Pushgateway.
func (r *reader) gateway(v value) string {
	text := r.text(v)
	if !v.isText() {
		return text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		r.addProblem(v.line, "%s must be the http or https URL of a Pushgateway, without a query", v.path) // It may contain a password.
	}
	return text
}

// labels reads labels with their values.
func (r *reader) labels(v value) map[string]string {
	if v.node.Kind != yaml.MappingNode || len(v.node.Content)/2 > maxLabels {
		r.expected(v, "a mapping of at most %d labels to their values", maxLabels)
		return nil
	}
	labels := make(map[string]string)
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key := valueOf(v.node.Content[i], v.path)
		name := r.name(key, labelName, "labels of "+labelRule)
		if _, twice := labels[name]; twice {
			r.addProblem(key.line, "%s has %s twice", v.path, name)
		}
		labels[name] = r.labelValue(valueOf(v.node.Content[i+1], join(v.path, v.node.Content[i].Value)))
	}
	return labels
}

func (r *reader) labelValue(v value) string {
	text := r.text(v)
	if v.isText() && (text == "" || len(text) > maxLabelValue || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f })) {
		r.expected(v, "a text of 1 to %d bytes without control characters", maxLabelValue)
	}
	return text
}
