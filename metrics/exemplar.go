package metrics

import (
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxExemplar limits the names and values of an exemplar's labels together, in code
// points (OpenMetrics 1.0).
const maxExemplar = 128

// exemplar returns the latest value of a cell with its task and round, or nil if the
// ledger has none.
func (f Family) exemplar(row ledger.Counter, cell string) (*dto.Exemplar, error) {
	if row.Exemplar == nil {
		return nil, nil
	}
	var sample counters.Observation
	if err := json.Unmarshal(row.Exemplar, &sample); err != nil {
		return nil, corrupt("%s has a sample that cannot be read: %w", f.measure.Name, err)
	}
	if f.scale.Cell(sample.Value) != cell || sample.Round < 0 {
		return nil, corrupt("%s has a sample %d in the cell %s", f.measure.Name, sample.Value, textutil.Clip(cell, maxShown))
	}
	at, err := moment(row.At)
	if err != nil {
		return nil, err
	}
	labels := exemplarLabels(sample)
	if labels == nil {
		return nil, nil
	}
	value := float64(sample.Value) / float64(f.per)
	return &dto.Exemplar{Label: labels, Value: &value, Timestamp: timestamppb.New(at)}, nil
}

// exemplarLabels returns the labels of a sample's task and round. It drops the round if
// both do not fit, and the task if it is too long itself: half an id identifies nothing.
func exemplarLabels(s counters.Observation) []*dto.LabelPair {
	task := pair("task", s.Task)
	if s.Task != "" && s.Round > 0 {
		if round := pair("round", strconv.Itoa(s.Round)); points(round, task) <= maxExemplar {
			return []*dto.LabelPair{round, task}
		}
	}
	if s.Task == "" || points(task) > maxExemplar {
		return nil
	}
	return []*dto.LabelPair{task}
}

// points counts the code points of labels.
func points(labels ...*dto.LabelPair) int {
	n := 0
	for _, l := range labels {
		n += utf8.RuneCountInString(l.GetName()) + utf8.RuneCountInString(l.GetValue())
	}
	return n
}

// newer returns the newer of two exemplars, and b if they have the same time.
func newer(a, b *dto.Exemplar) *dto.Exemplar {
	if a == nil || b != nil && !b.GetTimestamp().AsTime().Before(a.GetTimestamp().AsTime()) {
		return b
	}
	return a
}
