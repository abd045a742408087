package plugintest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// goldenCase is a JSON file in the corpus: one report and one expectation. Unknown
// members are errors.
type goldenCase struct {
	Name string `json:"name"`
	// Config is the plugin's configuration.
	Config jsontext.Value `json:"config"`
	// Report is the report, ReportText the text of one that is invalid or not JSON, and
	// ReportFile the path of one, relative to the corpus.
	Report     jsontext.Value `json:"report"`
	ReportText string         `json:"report_text"`
	ReportFile string         `json:"report_file"`
	// Want is the expected answer, WantCounts its size, and WantError a refusal. Unmapped is
	// not compared if Want omits it.
	Want       *abi.Answer `json:"want"`
	WantCounts *counts     `json:"want_counts"`
	WantError  *wantError  `json:"want_error"`
}

// counts are the sizes of an answer.
type counts struct {
	Findings int `json:"findings"`
	Skipped  int `json:"skipped"`
}

// wantError is an expected refusal. Omitted members are not compared.
type wantError struct {
	Code    string         `json:"code"`
	Message string         `json:"message"` // a part of it
	Ref     *string        `json:"ref"`
	Details map[string]any `json:"details"`
}

// seed is a report for the plugin.
type seed struct {
	name   string
	doc    *document.Document
	config jsontext.Value
}

// corpus runs the golden cases. It stores the reports that the plugin accepts for the
// following checks.
func (k *kit) corpus() {
	if k.options.Corpus == "" {
		k.add(GroupCorpus, "golden cases", Skip, "no corpus is given: --corpus DIR")
		return
	}
	entries, err := os.ReadDir(k.options.Corpus)
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), caseSuffix) })
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("%s holds no case, no file *%s", k.options.Corpus, caseSuffix)
	}
	if err != nil {
		k.check(GroupCorpus, "golden cases", err)
		return
	}
	for _, e := range entries {
		if k.ctx.Err() != nil {
			return
		}
		c, err := k.load(e.Name())
		var doc *document.Document
		if err == nil {
			doc, err = k.golden(c)
		}
		k.check(GroupCorpus, strings.TrimSuffix(e.Name(), caseSuffix), err)
		if err == nil && c.WantError == nil && k.stored+len(doc.Bytes()) <= maxStored {
			k.stored += len(doc.Bytes())
			k.cases = append(k.cases, seed{e.Name(), doc, c.Config})
		}
	}
}

const caseSuffix = ".json"

// maxCase limits the file of a case, in bytes: a report, and an expectation of the same
// size. maxStored limits the bytes of the stored reports.
const (
	maxCase   = 2 * document.DefaultBytes
	maxStored = 2 * document.DefaultBytes
)

func (k *kit) read(path string, limit int64) ([]byte, error) {
	path = filepath.Join(k.options.Corpus, path)
	if k.options.Read != nil {
		return k.options.Read(k.ctx, path, limit)
	}
	f, err := safefile.OpenPath(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := safefile.ReadAll(f, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

func (k *kit) load(file string) (*goldenCase, error) {
	data, err := k.read(file, maxCase)
	if err != nil {
		return nil, err
	}
	var c goldenCase
	if err := json.Unmarshal(data, &c, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("not a case: %w", err)
	}
	if c.Config != nil && c.Config.Kind() != '{' {
		return nil, errors.New("a case's config is an object")
	}
	if count(c.Report != nil, c.ReportText != "", c.ReportFile != "") != 1 {
		return nil, errors.New("a case has exactly one of report, report_text and report_file")
	}
	if count(c.Want != nil, c.WantCounts != nil, c.WantError != nil) != 1 {
		return nil, errors.New("a case has exactly one of want, want_counts and want_error")
	}
	if c.WantError != nil && c.WantError.Code == "" {
		return nil, errors.New("want_error needs a code")
	}
	return &c, nil
}

func count(all ...bool) int {
	n := 0
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

// golden runs one case and returns its report in the form that the plugin gets.
func (k *kit) golden(c *goldenCase) (*document.Document, error) {
	text := []byte(c.Report)
	switch {
	case c.ReportText != "":
		text = []byte(c.ReportText)
	case c.ReportFile != "":
		var err error
		if text, err = k.read(filepath.FromSlash(c.ReportFile), document.DefaultBytes); err != nil {
			return nil, err
		}
	}
	var doc *document.Document
	var result abi.Result
	source, err := document.Read(text, document.Limits{})
	if err == nil {
		doc, err = k.plugin.Document(source, c.Config)
	}
	if err == nil {
		result, err = k.plugin.Normalize(k.ctx, doc, c.Config)
	}
	switch {
	case c.WantError != nil:
		return doc, c.WantError.compare(err)
	case err != nil:
		return nil, err
	case c.WantCounts != nil:
		return doc, compareCounts(result.Answer(), *c.WantCounts)
	}
	want := *c.Want
	for i := range want.Findings {
		want.Findings[i].Critic = cmp.Or(want.Findings[i].Critic, want.Critic)
	}
	return doc, compare(result.Answer(), want)
}

func (w *wantError) compare(err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	switch {
	case err == nil:
		return fmt.Errorf("it is accepted, want the error %s", w.Code)
	case !ok || string(f.Code) != w.Code:
		return fmt.Errorf("it fails with %s, want %s", explain(err), w.Code)
	case !strings.Contains(f.Message, w.Message):
		return fmt.Errorf("the error says %q, which lacks %q", f.Message, w.Message)
	case w.Ref != nil && f.Details["ref"] != *w.Ref:
		return fmt.Errorf("the error points to %v, want %q", f.Details["ref"], *w.Ref)
	}
	for name, want := range w.Details {
		if err := compareJSON("details."+name, f.Details[name], want); err != nil {
			return err
		}
	}
	return nil
}

func compareCounts(got abi.Answer, want counts) error {
	if got := (counts{len(got.Findings), len(got.Skipped)}); got != want {
		return fmt.Errorf("%d findings and %d skipped, want %d and %d", got.Findings, got.Skipped, want.Findings, want.Skipped)
	}
	return nil
}

// compare returns an error with the first difference between two answers.
func compare(got, want abi.Answer) error {
	err := compareCounts(got, counts{len(want.Findings), len(want.Skipped)})
	for i := range want.Findings {
		if err == nil {
			err = compareJSON(fmt.Sprintf("finding %d", i), got.Findings[i], want.Findings[i])
		}
	}
	for i := range want.Skipped {
		if err == nil {
			err = compareJSON(fmt.Sprintf("skipped entry %d", i), got.Skipped[i], want.Skipped[i])
		}
	}
	got.Findings, want.Findings, got.Skipped, want.Skipped = nil, nil, nil, nil
	if want.Unmapped == nil || len(got.Unmapped) == 0 && len(want.Unmapped) == 0 {
		got.Unmapped, want.Unmapped = nil, nil
	}
	return cmp.Or(err, compareJSON("the answer", got, want))
}

func compareJSON(what string, got, want any) error {
	g, errG := json.Marshal(got, json.Deterministic(true))
	w, errW := json.Marshal(want, json.Deterministic(true))
	if err := errors.Join(errG, errW); err != nil {
		return err
	}
	if string(g) != string(w) {
		return fmt.Errorf("%s is %s, want %s", what, g, w)
	}
	return nil
}
