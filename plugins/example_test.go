package plugins_test

import (
	"context"
	"fmt"
	"log"

	"github.com/switchyard-dev/switchyard/plugins"
)

// Normalise a critic's report with the built-in plugin that recognises it.
func Example() {
	ctx := context.Background()
	runtime := plugins.New(plugins.Config{})
	defer runtime.Close(ctx)

	report, err := plugins.Read([]byte(`{"critic": "style", "findings": [
		{"category": "todo-marker", "severity": "risk", "file": "src/api.php", "line": 42, "remediation": "Do it or delete it."}
	]}`))
	if err != nil {
		log.Fatal(err)
	}
	plugin, err := plugins.NewCatalog(runtime).Detect(ctx, report)
	if err != nil {
		log.Fatal(err)
	}
	doc, err := plugin.Document(report, nil)
	if err != nil {
		log.Fatal(err)
	}
	result, err := plugin.Normalize(ctx, doc, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Findings {
		fmt.Println(plugin.Identity().Name, f.Severity, *f.File, *f.Line, f.Remediation)
	}
	// Output: np-critic risk src/api.php 42 Do it or delete it.
}
