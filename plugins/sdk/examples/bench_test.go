package examples_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins"
)

// The figures of the table in README.md.

// BenchmarkLoad measures the time of a command before its first report: it compiles a new module,
// or takes its code from the cache, and has it describe itself.
func BenchmarkLoad(b *testing.B) {
	for _, language := range languages {
		for name, dir := range map[string]string{"compiled": "", "cached": b.TempDir()} {
			b.Run(language+"/"+name, func(b *testing.B) {
				wasm := module(b, language)
				b.ReportMetric(float64(len(wasm)), "bytes")
				for b.Loop() {
					r := plugins.New(plugins.Config{CacheDir: dir})
					if _, err := r.Load(b.Context(), wasm); err != nil {
						b.Fatal(err)
					}
					if err := r.Close(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkNormalize measures the time of a report: for an instance, and for the findings.
func BenchmarkNormalize(b *testing.B) {
	for _, language := range languages {
		for _, items := range []int{20, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", language, items), func(b *testing.B) {
				p := load(b, language, plugins.Config{})
				item := `{"path":"./cmd/main.go","line":7,"tag":"TODO","priority":"low","text":"close the \"file\""},`
				text := `{"tool":"todo-scan","complete":true,"items":[` + strings.TrimSuffix(strings.Repeat(item, items), ",") + "]}"
				doc, err := document.Parse([]byte(text), document.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if _, err := p.Ask(b.Context(), doc, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
