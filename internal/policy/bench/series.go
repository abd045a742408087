// Package bench plays series of reviews through policies, to compare when each policy
// would have ended the loop.
package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

const (
	// extension ends the names of series.
	extension = ".json"
	// maxSeriesBytes bounds the file of a series, and maxCount each of its counts.
	maxSeriesBytes = 1 << 20
	maxCount       = 10_000
)

// Series is the findings of a loop's reviews, in order.
type Series struct {
	// Name is the name of its file, without the extension.
	Name  string `json:"-"`
	Title string `json:"title"`
	// Source is the public issue as owner/repository#number, or the name of a document.
	Source string `json:"source"`
	// Kind is the judgement of the source: sick for a loop that should have ended earlier,
	// healthy for one that was worth its rounds, or unknown.
	Kind string `json:"kind"`
	// Derived says how the counts were derived, or is "" if the source states them.
	Derived string    `json:"derived"`
	Reviews []*Review `json:"reviews"`
}

// Review counts the findings of a review.
type Review struct {
	First
	// Open is the number of findings of the previous review that are still there.
	Open int `json:"open"`
	// Induced is the number of first-time findings that the last fix caused, or nil if the
	// source does not say.
	Induced *int `json:"induced"`
}

// First counts first-time findings by severity.
type First struct {
	Fail int `json:"fail,omitzero"`
	Risk int `json:"risk,omitzero"`
	Nit  int `json:"nit,omitzero"`
	// Unrated findings have no severity in the source.
	Unrated int `json:"unrated,omitzero"`
}

// Count returns the number of findings.
func (f First) Count() int { return f.Fail + f.Risk + f.Nit + f.Unrated }

// unrated is the severity of findings without one. No bar defers it.
const unrated finding.Severity = "unrated"

// severities lists the severities, highest first.
func severities() []finding.Severity {
	return []finding.Severity{finding.Fail, unrated, finding.Risk, finding.Nit}
}

func rank(s finding.Severity) int { return slices.Index(severities(), s) }

// of returns the count of a severity.
func (f *First) of(s finding.Severity) *int {
	return []*int{&f.Fail, &f.Unrated, &f.Risk, &f.Nit}[rank(s)]
}

// Load reads all series of a directory, sorted by name. dir names it in errors.
//
// # Errors
//
// series-unreadable and series-invalid, with the name of the file, and series-not-found if
// there are no series.
func Load(files fs.FS, dir string) ([]Series, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, unreadable(dir, err)
	}
	var all []Series
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), extension)
		if !ok {
			continue
		}
		s, err := read(files, e, filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		s.Name = name
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, errs.New(errs.SeriesNotFound, "%s has no series: there is no file *%s", dir, extension).With("path", dir)
	}
	return all, nil
}

func read(files fs.FS, e fs.DirEntry, path string) (Series, error) {
	if !e.Type().IsRegular() {
		return Series{}, unreadable(path, errors.New("it is not a regular file"))
	}
	f, err := files.Open(e.Name())
	if err != nil {
		return Series{}, unreadable(path, err)
	}
	defer f.Close()
	text, err := safefile.ReadAll(f, maxSeriesBytes)
	if err != nil {
		return Series{}, unreadable(path, err)
	}
	var s Series
	if err := json.Unmarshal(text, &s, json.RejectUnknownMembers(true)); err != nil {
		return Series{}, invalid(path, textutil.JSONReason(err))
	}
	if err := s.check(); err != nil {
		return Series{}, invalid(path, err)
	}
	return s, nil
}

func invalid(path string, err error) error {
	return errs.New(errs.SeriesInvalid, "%s: %w", path, err).With("path", path)
}

func unreadable(path string, err error) error {
	return errs.New(errs.SeriesUnreadable, "failed to read %s: %w", path, safefile.Reason(err)).With("path", path)
}

func (s Series) check() error {
	switch {
	case s.Title == "":
		return errors.New("title is missing")
	case s.Source == "":
		return errors.New("source is missing")
	case s.Kind != "sick" && s.Kind != "healthy" && s.Kind != "unknown":
		return fmt.Errorf("kind is %q, want sick, healthy or unknown", s.Kind)
	case len(s.Reviews) == 0:
		return errors.New("there are no reviews")
	}
	before := 0
	for i, r := range s.Reviews {
		if r == nil {
			return fmt.Errorf("review %d is null, want {} for one without findings", i+1)
		}
		if err := r.check(before); err != nil {
			return fmt.Errorf("review %d: %w", i+1, err)
		}
		before = r.Count() + r.Open
	}
	return nil
}

// check checks a review; the previous one had before findings.
func (r *Review) check(before int) error {
	for _, n := range []int{r.Fail, r.Risk, r.Nit, r.Unrated, r.Open} {
		if n < 0 || n > maxCount {
			return fmt.Errorf("a count is %d, want 0 to %d", n, maxCount)
		}
	}
	switch {
	case r.Open > before:
		return fmt.Errorf("open is %d, want at most %d, the findings of the review before", r.Open, before)
	case r.Induced != nil && (*r.Induced < 0 || *r.Induced > r.Count()):
		return fmt.Errorf("induced is %d, want 0 to %d, the first-time findings", *r.Induced, r.Count())
	}
	return nil
}
