package metrics

import (
	"bufio"
	"fmt"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// Format is a text format of metrics.
type Format string

// The formats.
const (
	// Text is Prometheus' text format 0.0.4, which every consumer reads. It has only classic
	// histograms, without creation times and exemplars.
	Text Format = "text"
	// OpenMetrics is OpenMetrics 1.0, with units, exemplars and creation times.
	OpenMetrics Format = "openmetrics"
)

// Formats lists the formats.
func Formats() []Format { return []Format{Text, OpenMetrics} }

// Write writes metrics from Gather. The same metrics give the same bytes.
func Write(w io.Writer, families []*dto.MetricFamily, f Format) error {
	buffered := bufio.NewWriter(w)
	for _, family := range families {
		var err error
		if f == OpenMetrics {
			_, err = expfmt.MetricFamilyToOpenMetrics(buffered, family, expfmt.WithCreatedLines())
		} else {
			_, err = expfmt.MetricFamilyToText(buffered, family)
		}
		if err != nil {
			return fmt.Errorf("write the metric %s: %w", family.GetName(), err)
		}
	}
	if f == OpenMetrics {
		if _, err := expfmt.FinalizeOpenMetrics(buffered); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
