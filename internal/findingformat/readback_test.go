package findingformat_test

import (
	"cmp"
	"path"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/findingformat"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins"
)

// anyReview draws findings as plugins return them.
func anyReview(t *rapid.T) findingformat.Review {
	one := rapid.Custom(func(t *rapid.T) finding.Finding {
		file := rapid.SampledFrom([]string{"", "-", "a.go", "/abs/b.go", "src/a b.go", "a:b.go", "ü/%41?#.go", `c\d.go`, "e{0}[f](g).go"}).Draw(t, "file")
		return found(
			rapid.SampledFrom([]string{"style", "lint-violation", "todo/marker", "ü \u202e|"}).Draw(t, "category"),
			rapid.SampledFrom([]finding.Severity{finding.Fail, finding.Risk, finding.Nit}).Draw(t, "severity"),
			file, rapid.IntRange(0, 3).Draw(t, "line")*min(1, len(file)),
			cmp.Or(rapid.String().Draw(t, "remediation"), "Rename it"),
		)
	})
	return review(rapid.SliceOfN(one, 0, 4).Draw(t, "findings")...)
}

// reader returns a function that reads a report with a built-in plugin.
func reader(t *testing.T, name string) func(string) (abi.Result, error) {
	runtime := plugins.New(plugins.Config{CacheDir: t.TempDir()})
	t.Cleanup(func() {
		if err := runtime.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	plugin, err := plugins.NewCatalog(runtime).Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) (abi.Result, error) {
		source, err := document.Read([]byte(text), document.Limits{})
		if err != nil {
			return abi.Result{}, err
		}
		report, err := plugin.Document(source, nil)
		if err != nil {
			return abi.Result{}, err
		}
		return plugin.Normalize(t.Context(), report, nil)
	}
}

// TestFindingsAreReadBack tests that the plugins read the findings of a review as they
// were.
func TestFindingsAreReadBack(t *testing.T) {
	for _, name := range []string{"sarif", "rdjsonl"} {
		t.Run(name, func(t *testing.T) {
			read := reader(t, name)
			rapid.Check(t, func(t *rapid.T) {
				r := anyReview(t)
				if len(r.Findings) == 0 {
					return // rdjsonl cannot say so.
				}
				result, err := read(write(t, name, r))
				if err != nil {
					t.Fatal(err)
				}
				for i, got := range result.Findings {
					want := r.Findings[i]
					if id := finding.Fingerprint(got.Category, got.File, got.Line, got.Remediation); id != want.Fingerprint || got.Severity != want.Severity {
						t.Errorf("read %+v, wrote %+v", got, want)
					}
				}
				if len(result.Findings) != len(r.Findings) {
					t.Errorf("read %d findings of %d", len(result.Findings), len(r.Findings))
				}
			})
		})
	}
}

// TestWhatIsReadBackOtherwise tests the exceptions that docs/findings.md names.
func TestWhatIsReadBackOtherwise(t *testing.T) {
	for _, name := range []string{"sarif", "rdjsonl"} {
		read := reader(t, name)
		for _, c := range []struct{ wrote, want finding.Finding }{
			{found("style", finding.Risk, "", 7, "Rename it"), found("style", finding.Risk, "", 0, "Rename it")},
			{found("style", finding.Risk, "a.go", 7, ""), found("style", finding.Risk, "a.go", 7, "style")},
			{found("style", "odd", "a.go", 7, "Rename it"), found("style", finding.Fail, "a.go", 7, "Rename it")},
		} {
			result, err := read(write(t, name, review(c.wrote)))
			if err != nil || len(result.Findings) != 1 {
				t.Fatalf("%s: read %+v, %v", name, result.Findings, err)
			}
			got := result.Findings[0]
			if id := finding.Fingerprint(got.Category, got.File, got.Line, got.Remediation); id != c.want.Fingerprint || got.Severity != c.want.Severity {
				t.Errorf("%s: wrote %+v, read %+v", name, c.wrote, got)
			}
		}
	}
}

// TestWithoutAReviewIsNotClean tests that no plugin takes a task that was not reviewed for
// a clean one, and that all take a clean review for one, if their format can say so.
func TestWithoutAReviewIsNotClean(t *testing.T) {
	for name, want := range map[string]struct{ missing, clean errs.Code }{
		"sarif":   {missing: "sarif-no-results"},
		"rdjsonl": {missing: "report-empty", clean: "report-empty"},
		"junit":   {},
	} {
		read := reader(t, name)
		result, err := read(write(t, name, findingformat.Review{TaskID: "T-1"}))
		if errs.CodeOf(err) != want.missing || err == nil && len(result.Findings) == 0 {
			t.Errorf("%s without a review: %+v, %v", name, result.Findings, err)
		}
		result, err = read(write(t, name, review()))
		if errs.CodeOf(err) != want.clean || len(result.Findings) > 0 {
			t.Errorf("%s of a clean review: %+v, %v", name, result.Findings, err)
		}
	}
}

func TestJUnitIsReadBack(t *testing.T) {
	read := reader(t, "junit")
	rapid.Check(t, func(t *rapid.T) {
		r := anyReview(t)
		r.Deferred = rapid.Bool().Draw(t, "deferred")
		result, err := read(write(t, "junit", r))
		if err != nil {
			t.Fatal(err)
		}
		var want []finding.Finding
		for _, f := range r.Findings {
			if f.Severity != finding.Nit && !r.Deferred {
				want = append(want, f)
			}
		}
		if len(result.Findings) != len(want) || len(result.Findings)+len(result.Skipped) != max(1, len(r.Findings)) {
			t.Fatalf("read %d findings and %d skipped, wrote %d failures of %d", len(result.Findings), len(result.Skipped), len(want), len(r.Findings))
		}
		for i, got := range result.Findings {
			if want := want[i]; want.File != nil && path.Base(*want.File) == "a.go" && (*got.File != *want.File || (want.Line != nil && *got.Line != *want.Line)) {
				t.Errorf("read %+v, wrote %+v", got, want)
			}
		}
	})
}
