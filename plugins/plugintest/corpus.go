package plugintest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// Case is a golden case, a JSON file in the corpus: one report and one expectation.
// Unknown members are errors.
type Case struct {
	Name string `json:"name"`
	// Config is the plugin's configuration.
	Config jsontext.Value `json:"config"`
	// Report is the report itself; ReportText is one that is not JSON or is invalid;
	// ReportFile is the path of one, relative to the case.
	Report     jsontext.Value `json:"report"`
	ReportText string         `json:"report_text"`
	ReportFile string         `json:"report_file"`
	// Want is the whole answer, WantCounts only its size, and WantError a refusal.
	Want       *Answer    `json:"want"`
	WantCounts *Counts    `json:"want_counts"`
	WantError  *WantError `json:"want_error"`
}

// Answer is a plugin's answer in the form of the ABI.
type Answer struct {
	Critic   string        `json:"critic"`
	TaskID   *string       `json:"task_id,omitzero"`
	Round    *int          `json:"round,omitzero"`
	Findings []Finding     `json:"findings"`
	Skipped  []abi.Skipped `json:"skipped"`
	// Unmapped is not compared if an expected answer omits it.
	Unmapped []abi.Unmapped `json:"unmapped,omitzero"`
}

// Finding is a finding of an Answer.
type Finding struct {
	Critic      string  `json:"critic"`
	Category    string  `json:"category"`
	Severity    string  `json:"severity"`
	File        *string `json:"file"`
	Line        *int    `json:"line"`
	Remediation string  `json:"remediation"`
	Ref         string  `json:"ref"`
}

// Counts are the sizes of an answer.
type Counts struct {
	Findings int `json:"findings"`
	Skipped  int `json:"skipped"`
}

// WantError is an expected refusal; omitted members are not compared.
type WantError struct {
	Code    string         `json:"code"`
	Message string         `json:"message"` // a part of it
	Ref     *string        `json:"ref"`
	Details map[string]any `json:"details"`
}

// loadedCase is a case with its report.
type loadedCase struct {
	Case
	name string
	doc  *document.Document
}

// corpus runs the golden cases, and stores those whose report the plugin accepts for the
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
		if err == nil {
			err = k.golden(c)
		}
		k.check(GroupCorpus, strings.TrimSuffix(e.Name(), caseSuffix), err)
		if err == nil && c.WantError == nil && k.stored+len(c.doc.Bytes()) <= maxStored {
			k.stored += len(c.doc.Bytes())
			k.cases = append(k.cases, *c)
		}
	}
}

// caseSuffix is the suffix of a case's file name.
const caseSuffix = ".json"

// maxCase is the maximum size of a case's file, in bytes: a report, and an expectation of
// the same size. maxStored limits the bytes of reports stored for the following checks.
const (
	maxCase   = 2 * document.DefaultBytes
	maxStored = 2 * document.DefaultBytes
)

// read reads a file of the corpus.
func (k *kit) read(path string, limit int64) ([]byte, error) {
	path = filepath.Join(k.options.Corpus, path)
	if k.options.Read != nil {
		return k.options.Read(k.ctx, path, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return data, err
}

// load reads a case.
func (k *kit) load(file string) (*loadedCase, error) {
	data, err := k.read(file, maxCase)
	if err != nil {
		return nil, err
	}
	c := &loadedCase{name: file}
	if err := json.Unmarshal(data, &c.Case, json.RejectUnknownMembers(true)); err != nil {
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
	return c, nil
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

// document returns a report in the form that the plugin gets.
func (k *kit) document(text []byte, config jsontext.Value) (*document.Document, error) {
	source, err := document.Read(text, document.Limits{})
	if err != nil {
		return nil, err
	}
	return k.plugin.Document(source, config)
}

// golden runs one case.
func (k *kit) golden(c *loadedCase) error {
	text := []byte(c.Report)
	switch {
	case c.ReportText != "":
		text = []byte(c.ReportText)
	case c.ReportFile != "":
		var err error
		if text, err = k.read(filepath.FromSlash(c.ReportFile), document.DefaultBytes); err != nil {
			return err
		}
	}
	var result abi.Result
	var err error
	if c.doc, err = k.document(text, c.Config); err == nil {
		result, err = k.plugin.Normalize(k.ctx, c.doc, c.Config)
	}
	switch {
	case c.WantError != nil:
		return c.WantError.compare(err)
	case err != nil:
		return err
	case c.WantCounts != nil:
		if got := (Counts{len(result.Findings), len(result.Skipped)}); got != *c.WantCounts {
			return fmt.Errorf("%d findings and %d skipped, want %d and %d", got.Findings, got.Skipped, c.WantCounts.Findings, c.WantCounts.Skipped)
		}
		return nil
	}
	want := *c.Want
	for i := range want.Findings {
		if want.Findings[i].Critic == "" {
			want.Findings[i].Critic = want.Critic
		}
	}
	return compare(answerOf(result), want)
}

func (w *WantError) compare(err error) error {
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
		if got := f.Details[name]; !reflect.DeepEqual(got, want) {
			return fmt.Errorf("details.%s is %v, want %v", name, got, want)
		}
	}
	return nil
}

// answerOf converts a result back to the ABI's form.
func answerOf(r abi.Result) Answer {
	a := Answer{Critic: r.Critic, TaskID: r.TaskID, Round: r.Round, Skipped: r.Skipped, Unmapped: r.Unmapped}
	for _, f := range r.Findings {
		a.Findings = append(a.Findings, Finding{
			f.Critic, f.Category, string(f.Severity), f.File, f.Line, f.Remediation, f.Sources[0].Ref,
		})
	}
	return a
}

// compare returns an error with the first difference between two answers.
func compare(got, want Answer) error {
	if len(got.Findings) != len(want.Findings) || len(got.Skipped) != len(want.Skipped) {
		return fmt.Errorf("%d findings and %d skipped, want %d and %d", len(got.Findings), len(got.Skipped), len(want.Findings), len(want.Skipped))
	}
	for i := range got.Findings {
		if err := differ(fmt.Sprintf("finding %d", i), got.Findings[i], want.Findings[i]); err != nil {
			return err
		}
	}
	for i := range got.Skipped {
		if err := differ(fmt.Sprintf("skipped entry %d", i), got.Skipped[i], want.Skipped[i]); err != nil {
			return err
		}
	}
	got.Findings, want.Findings, got.Skipped, want.Skipped = nil, nil, nil, nil
	if want.Unmapped == nil || len(got.Unmapped) == 0 && len(want.Unmapped) == 0 {
		got.Unmapped, want.Unmapped = nil, nil
	}
	return differ("the answer", got, want)
}

func differ(what string, got, want any) error {
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
