package project

import (
	"net/url"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Metrics has the destinations to which the project's metrics are written after each
// change.
type Metrics struct {
	// Textfile is a file for node_exporter's textfile collector, or "". Its name ends in
	// .prom; a relative path is relative to the project's root.
	Textfile string
	// Push is the URL of a Pushgateway, or "". Job and Grouping are the group's labels; ""
	// and nil mean the defaults.
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

func (m *Metrics) read(v value) {
	ok := v.mapping(fields{
		"textfile": func(v value) { m.Textfile = readTextfile(v) },
		"push":     func(v value) { m.Push = readGateway(v) },
		"job":      func(v value) { m.Job = readLabelValue(v) },
		"grouping": func(v value) { m.Grouping = readLabels(v) },
		"labels":   func(v value) { m.Labels = readLabels(v) },
	})
	if ok && m.Push == "" && (m.Job != "" || m.Grouping != nil) {
		v.fail(".job and %s.grouping are for %[1]s.push, which is missing", v.path)
	}
}

// readTextfile reads the path of a metrics file. node_exporter reads only names that end in
// .prom, and a repository must not be able to replace any other file.
func readTextfile(v value) string {
	path := v.text()
	if v.isText() && (filepath.Ext(path) != ".prom" || filepath.Base(path) == ".prom") {
		v.expected("a file whose name ends in .prom")
	}
	return path
}

func readGateway(v value) string {
	text := v.text()
	u, err := url.Parse(text)
	if v.isText() && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "") {
		v.fail(" must be the http or https URL of a Pushgateway, without a query") // It may contain a password.
	}
	return text
}

func readLabels(v value) map[string]string {
	if v.node.Kind != yaml.MappingNode || len(v.node.Content)/2 > maxLabels {
		v.expected("a mapping of at most %d labels to their values", maxLabels)
		return nil
	}
	labels := make(map[string]string)
	v.entries(func(key, content value) {
		labels[key.word(labelName, "labels of "+labelRule)] = readLabelValue(content)
	})
	return labels
}

func readLabelValue(v value) string {
	text := v.text()
	if v.isText() && (text == "" || len(text) > maxLabelValue || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f })) {
		v.expected("a text of 1 to %d bytes without control characters", maxLabelValue)
	}
	return text
}
