package regotest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The limits of a run.
const (
	// testTimeout bounds one test.
	testTimeout = 5 * time.Second
	// timeout bounds all of them together, including compilation.
	timeout = time.Minute
)

// Run runs the tests among files, with the modules among them as the policy. Test files
// have names that end in _test.rego.
//
// It takes at most timeout and ends with ctx. Tests run in parallel.
//
// # Errors
//
//   - policy-invalid: a file does not parse or compile. The detail problems is a
//     []routing.Problem.
//   - policy-timeout: the time limit was reached before the tests ended.
//   - policy-failed: the caller canceled them, or OPA failed on them.
func Run(ctx context.Context, files []routing.Source) (Report, error) {
	began := time.Now()
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	r, err := routing.Bounded(ctx, func() (Report, error) { return run(ctx, files) })
	switch {
	case errs.CodeOf(err) != "":
		return Report{}, err
	case ctx.Err() != nil: // the runner omits the tests that it did not reach
		return Report{}, interrupted(ctx.Err())
	case err != nil:
		return Report{}, errs.New(errs.PolicyFailed, "the tests could not be run: %w", err)
	}
	r.Millis = time.Since(began).Milliseconds()
	return r, nil
}

func run(ctx context.Context, files []routing.Source) (Report, error) {
	s, err := compile(files)
	if err != nil {
		return Report{}, err
	}
	coverage := cover.New()
	results, err := tester.NewRunner().
		SetCompiler(s.compiler).
		SetModules(s.parsed).
		SetCoverageQueryTracer(coverage).
		SetCoverageRuns(nil).
		SetTimeout(testTimeout).
		RunTests(ctx, nil)
	if err != nil {
		return Report{}, invalid(err)
	}
	report := Report{Tests: []Test{}}
	count := make(map[Outcome]int)
	for result := range results {
		t := s.test(result)
		if t.Outcome == Failed {
			t.FailedAt = s.failedAt(ctx, result)
		}
		report.Tests = append(report.Tests, t)
		count[t.Outcome]++
	}
	report.Passed, report.Failed, report.Skipped, report.Errored = count[Passed], count[Failed], count[Skipped], count[Errored]
	slices.SortFunc(report.Tests, func(a, b Test) int {
		return cmp.Or(cmp.Compare(a.Location.File, b.Location.File), cmp.Compare(a.Location.Row, b.Location.Row), cmp.Compare(a.Name, b.Name))
	})
	report.Coverage = s.coverage(coverage)
	return report, nil
}

// suite is a policy with its tests.
type suite struct {
	compiler *ast.Compiler
	parsed   map[string]*ast.Module
	lines    map[string][]string // by file
}

// compile parses the files. The runner compiles them, because it adds its own stages.
func compile(files []routing.Source) (suite, error) {
	caps := routing.Capabilities()
	s := suite{
		compiler: ast.NewCompiler().WithCapabilities(caps).WithStrict(true).WithEnablePrintStatements(true),
		parsed:   make(map[string]*ast.Module), lines: make(map[string][]string),
	}
	for _, f := range files {
		if s.parsed[f.Name] != nil {
			return suite{}, invalid(fmt.Errorf("%s is there twice", f.Name))
		}
		module, err := ast.ParseModuleWithOpts(f.Name, f.Text, ast.ParserOptions{Capabilities: caps, RegoVersion: ast.RegoV1})
		if err != nil {
			return suite{}, invalid(err)
		}
		s.parsed[f.Name], s.lines[f.Name] = module, strings.Split(f.Text, "\n")
	}
	return s, nil
}

// place returns a location, which may be nil, with its line.
func (s suite) place(loc *ast.Location) routing.Location {
	if loc == nil {
		return routing.Location{}
	}
	p := routing.Location{File: loc.File, Row: loc.Row, Col: loc.Col}
	if lines := s.lines[loc.File]; 0 < loc.Row && loc.Row <= len(lines) {
		p.Text = strings.TrimSpace(lines[loc.Row-1])
	}
	return p
}

// interrupted returns the error for tests that did not end.
func interrupted(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errs.New(errs.PolicyTimeout, "the tests ran over their time: %w", err)
	}
	return errs.New(errs.PolicyFailed, "the tests were interrupted: %w", err)
}

// invalid returns policy-invalid for an error of OPA's parser or compiler.
func invalid(err error) error {
	problems := routing.Problems(err)
	return errs.New(errs.PolicyInvalid, "the policy or its tests are invalid: %s%s", problems[0], textutil.AndMore(len(problems)-1)).With("problems", problems)
}

// coverage counts lines of the modules. A line is covered only if every expression in it
// was reached.
func (s suite) coverage(traced *cover.Cover) Coverage {
	report := traced.Report(s.parsed)
	c := Coverage{Percent: 100, Missing: []routing.Location{}}
	for file := range s.parsed {
		if routing.IsTest(file) {
			continue
		}
		r := report.Files[file]
		all, missing := rows(r.Covered), rows(r.NotCovered)
		for row := range missing {
			all[row] = true
			c.Missing = append(c.Missing, s.place(&ast.Location{File: file, Row: row, Col: 1}))
		}
		c.Lines += len(all)
	}
	slices.SortFunc(c.Missing, func(a, b routing.Location) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Row, b.Row))
	})
	if c.Covered = c.Lines - len(c.Missing); c.Lines > 0 {
		c.Percent = math.Floor(float64(c.Covered)/float64(c.Lines)*1000) / 10
	}
	return c
}

func rows(ranges []cover.Range) map[int]bool {
	set := make(map[int]bool)
	for _, r := range ranges {
		for row := r.Start.Row; row <= r.End.Row; row++ {
			set[row] = true
		}
	}
	return set
}
