package mixin

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/metrics"
)

// Vocabulary is what expressions may speak of: the metrics of Switchyard, what our
// own rules record, and the few series of others that tell whether ours arrive.
type Vocabulary struct {
	series map[string]series
}

// series is what is known of a metric's.
type series struct {
	// grows says that the values only grow, so that an increase of them means
	// something.
	grows bool
	// labels have their values, nil where there can be any.
	labels map[string][]string
}

// NewVocabulary returns the words of the families and of what the groups record.
// It fails where a name does not say what its labels are.
func NewVocabulary(families []metrics.Family, groups ...Group) (*Vocabulary, error) {
	v := &Vocabulary{foreign()}
	known := make(map[string][]string) // labels of ours, with any value
	for _, f := range families {
		labels := make(map[string][]string)
		for _, l := range f.Labels {
			labels[l.Name], known[l.Name] = l.Values, nil
		}
		if f.Kind != metrics.Histogram {
			v.series[f.Name] = series{f.Kind == metrics.Counter, labels}
			continue
		}
		v.series[f.Name] = series{true, labels} // as a native histogram
		v.series[f.Name+"_sum"], v.series[f.Name+"_count"] = series{true, labels}, series{true, labels}
		buckets := map[string][]string{"le": nil}
		for name, values := range labels {
			buckets[name] = values
		}
		v.series[f.Name+"_bucket"] = series{true, buckets}
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Record == "" {
				continue
			}
			labels, err := level(r.Record, known)
			if err != nil {
				return nil, err
			}
			if _, twice := v.series[r.Record]; twice {
				return nil, fmt.Errorf("mixin: %s is recorded twice", r.Record)
			}
			v.series[r.Record] = series{strings.HasSuffix(r.Record, ":sum"), labels}
		}
	}
	return v, nil
}

// level reads the labels of what is recorded from its name, level:metric:operations:
// the level is switchyard and the labels that are left beside those that tell
// ledgers apart.
func level(name string, known map[string][]string) (map[string][]string, error) {
	parts := strings.Split(name, ":")
	rest, ours := strings.CutPrefix(parts[0], "switchyard")
	if len(parts) != 3 || !ours || parts[1] == "" || parts[2] == "" {
		return nil, fmt.Errorf("mixin: %s is not level:metric:operations with a level of switchyard", name)
	}
	labels := make(map[string][]string)
next:
	for rest != "" {
		for label := range known {
			if after, ok := strings.CutPrefix(rest, "_"+label); ok && (after == "" || after[0] == '_') {
				labels[label], rest = nil, after
				continue next
			}
		}
		return nil, fmt.Errorf("mixin: the level of %s ends in %s, which is no label", name, rest)
	}
	return labels, nil
}

// foreign are the series of Prometheus, node_exporter and Pushgateway.
func foreign() map[string]series {
	return map[string]series{
		"up":                         {},
		"node_textfile_scrape_error": {},
		"push_time_seconds":          {},
		"push_failure_time_seconds":  {},
	}
}

// target reports whether a label tells ledgers apart: the scrape's, and the one that
// pushes and the documentation call a project.
func target(label string) bool {
	return slices.Contains([]string{"job", "instance", "project"}, label)
}

// Check says everything that is wrong with the names in an expression, nil if nothing
// is. Whether it is well-formed otherwise is for promtool to say.
func (v *Vocabulary) Check(expr string) error {
	read, grouping, err := uses(expr)
	if err != nil {
		return err
	}
	var wrong []error
	about := make(map[string]bool) // the labels of everything that is read
	for _, u := range read {
		s, ok := v.series[u.Metric]
		if !ok {
			wrong = append(wrong, fmt.Errorf("there is no metric %s", u.Metric))
			continue
		}
		for name := range s.labels {
			about[name] = true
		}
		if counts(u.Function) && !s.grows {
			wrong = append(wrong, fmt.Errorf("%s of %s, which also falls", u.Function, u.Metric))
		}
		for _, m := range u.Matchers {
			wrong = append(wrong, s.match(u.Metric, m))
		}
	}
	for _, name := range grouping {
		if !about[name] && !target(name) {
			wrong = append(wrong, fmt.Errorf("nothing that is read here has a label %s", name))
		}
	}
	return errors.Join(wrong...)
}

// match says what is wrong with a condition on a metric's label.
func (s series) match(metric string, m Matcher) error {
	values, ok := s.labels[m.Label]
	switch {
	case target(m.Label) || ok && values == nil:
		return nil
	case !ok:
		return fmt.Errorf("%s has no label %s", metric, m.Label)
	}
	if m.Operator == "=" || m.Operator == "!=" {
		if !slices.Contains(values, m.Value) {
			return fmt.Errorf("the label %s of %s is never %q", m.Label, metric, m.Value)
		}
		return nil
	}
	// Each alternative has to fit something.
	for alternative := range strings.SplitSeq(m.Value, "|") {
		re, err := regexp.Compile("^(?:" + alternative + ")$")
		if err != nil {
			return fmt.Errorf("the label %s of %s: %w", m.Label, metric, err)
		}
		if !slices.ContainsFunc(values, re.MatchString) {
			return fmt.Errorf("the label %s of %s is never like %q", m.Label, metric, alternative)
		}
	}
	return nil
}

// counts reports whether a function is one of counters.
func counts(function string) bool {
	return slices.Contains([]string{"rate", "irate", "increase", "resets"}, function)
}

// Labels are those that the series of a metric have, beside those that tell ledgers
// apart, in order. ok is false for a metric that there is not.
func (v *Vocabulary) Labels(metric string) (labels []string, ok bool) {
	s, ok := v.series[metric]
	for name := range s.labels {
		labels = append(labels, name)
	}
	slices.Sort(labels)
	return labels, ok
}
