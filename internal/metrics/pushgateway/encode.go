package pushgateway

import (
	"bytes"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
)

// format is what metrics are sent as.
func format() expfmt.Format { return expfmt.NewFormat(expfmt.TypeProtoDelim) }

// encode writes families as they are sent to a target. It leaves them as they are.
func encode(to Target, families []*dto.MetricFamily) ([]byte, error) {
	var b bytes.Buffer
	enc := expfmt.NewEncoder(&b, format())
	for _, family := range families {
		if err := distinct(to, family); err != nil {
			return nil, err
		}
		if err := enc.Encode(plain(family)); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// distinct makes sure that no metric has a label of the group: the gateway would
// overwrite it in silence.
func distinct(to Target, family *dto.MetricFamily) error {
	for _, m := range family.GetMetric() {
		for _, l := range m.GetLabel() {
			if _, ok := to.grouping[l.GetName()]; ok {
				return invalid("%s has the label %s, and the group too", family.GetName(), l.GetName())
			}
		}
	}
	return nil
}

// plain is a family without exemplars.
func plain(family *dto.MetricFamily) *dto.MetricFamily {
	has := func(m *dto.Metric) bool { return m.GetCounter().GetExemplar() != nil || m.GetHistogram() != nil }
	for _, m := range family.GetMetric() {
		if has(m) {
			family = proto.CloneOf(family)
			break
		}
	}
	for _, m := range family.GetMetric() {
		if !has(m) {
			continue
		}
		if c := m.GetCounter(); c != nil {
			c.Exemplar = nil
		}
		if h := m.GetHistogram(); h != nil {
			h.Exemplars = nil
			for _, b := range h.GetBucket() {
				b.Exemplar = nil
			}
		}
	}
	return family
}

// series counts what is sent.
func series(families []*dto.MetricFamily) int {
	n := 0
	for _, family := range families {
		n += len(family.GetMetric())
	}
	return n
}
