package plugins_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins"
)

func realReport(b *testing.B, name string) *document.Document {
	b.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "reports", name))
	if err != nil {
		b.Fatal(err)
	}
	doc, err := document.Parse(data, document.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	return doc
}

// BenchmarkNormalize is a warm call: a fresh instance of a compiled guest.
func BenchmarkNormalize(b *testing.B) {
	for _, c := range []struct{ plugin, report string }{{"np-critic", "twenty.json"}, {"sarif", "staticcheck-logrus.sarif"}} {
		b.Run(c.plugin, func(b *testing.B) {
			doc := realReport(b, c.report)
			plugin, err := plugins.NewCatalog(newRuntime(b, plugins.Config{})).Named(c.plugin)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(doc.Bytes())))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := plugin.Normalize(b.Context(), doc, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkColdNormalize is a first call in a process: a new runtime, the code
// from the cache on disk or compiled anew, an instance and 20 findings.
func BenchmarkColdNormalize(b *testing.B) {
	doc := realReport(b, "twenty.json")
	for name, dir := range map[string]string{"cached": b.TempDir(), "compiled": ""} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := plugins.New(plugins.Config{CacheDir: dir})
				plugin, err := plugins.NewCatalog(r).Named("np-critic")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := plugin.Normalize(b.Context(), doc, nil); err != nil {
					b.Fatal(err)
				}
				if err := r.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
