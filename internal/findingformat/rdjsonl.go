package findingformat

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

var rdjsonSeverities = words{"ERROR", "WARNING", "INFO"}

type diagnostic struct {
	Message string `json:"message"`
	// Location is set even without a file, because reviewdog fails without it.
	Location struct {
		Path  string           `json:"path"`
		Range *diagnosticRange `json:"range,omitzero"`
	} `json:"location"`
	Severity string `json:"severity"`
	Source   struct {
		Name string `json:"name"`
	} `json:"source"`
	Code struct {
		Value string `json:"value"`
	} `json:"code"`
}

type diagnosticRange struct {
	Start struct {
		Line int `json:"line"`
	} `json:"start"`
}

// rdjsonl writes reviewdog's diagnostics, one per line.
func rdjsonl(w io.Writer, r Review) error {
	w = textutil.JSONWriter(w)
	for _, f := range r.Findings {
		d := diagnostic{Message: message(f), Severity: rdjsonSeverities.of(f.Severity)}
		d.Source.Name, d.Code.Value = tool, f.Category
		if f.File != nil {
			d.Location.Path = *f.File
			if f.Line != nil {
				d.Location.Range = &diagnosticRange{}
				d.Location.Range.Start.Line = *f.Line
			}
		}
		if err := json.MarshalWrite(w, d, jsontext.AllowInvalidUTF8(true)); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}
