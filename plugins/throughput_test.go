package plugins_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/plugins"
)

// format is a report format as Go code would read it, and a large report of it.
type format struct {
	plugin string
	into   func() any
	report []byte
}

// many repeats an item between two texts. %d in the item is its number.
func many(before, item, after string) []byte {
	var b bytes.Buffer
	b.WriteString(before)
	for i := range 10_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, item, i+1)
	}
	b.WriteString(after)
	return b.Bytes()
}

// jsonLines turns an array of one-line items into lines.
func jsonLines(array []byte) []byte {
	return append(bytes.ReplaceAll(array[1:len(array)-1], []byte("},{"), []byte("}\n{")), '\n')
}

func formats() []format {
	type position struct {
		Filename             string
		Offset, Line, Column int
	}
	type place struct {
		Path  string
		Range struct{ Start, End struct{ Line, Column int } }
	}
	type diagnostic struct {
		Message  string
		Location place
		Severity string
		Code     struct{ Value, URL string }
	}
	type message struct {
		RuleID                       *string `json:"ruleId"`
		Severity, Line, Column       int
		Message, NodeType, MessageID string
		EndLine, EndColumn           int
	}
	const rd = `{"message":"the variable n is assigned and never used, remove it or use it below","location":{"path":"internal/server/handler.go","range":{"start":{"line":%d,"column":7},"end":{"line":9,"column":12}}},"severity":"WARNING","code":{"value":"SA4006","url":"https://staticcheck.dev/docs/checks#SA4006"}}`
	const event = `{"Time":"2026-11-21T10:00:00.123456789Z","Action":"output","Package":"example.com/module/internal/server","Test":"TestHandler/case_%d","Output":"=== RUN   TestHandler/case\n"}`
	events := append(jsonLines(many("[", event, "]")), []byte(`{"Action":"pass","Package":"example.com/module/internal/server","Elapsed":0.1}`+"\n")...)
	return []format{
		{"np-critic", func() any {
			return &struct {
				Critic, Verdict string
				Findings        []struct {
					ID, Category, Severity, File, Summary, Remediation string
					Line                                               *int
				}
			}{}
		}, many(`{"critic":"style","verdict":"issues_found","findings":[`, `{"id":"C-001","category":"dead-code","severity":"nit","file":"src/api/handler.go","line":%d,"summary":"the function is never called from anywhere","remediation":"Remove the function and its test, which nothing needs"}`, `]}`)},
		{"sarif", func() any {
			return &struct {
				Version string
				Runs    []struct {
					Tool    struct{ Driver struct{ Name string } }
					Results []struct {
						RuleID    string `json:"ruleId"`
						Level     string
						Message   struct{ Text string }
						Locations []struct {
							PhysicalLocation struct {
								ArtifactLocation struct{ URI string }
								Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
							}
						}
					}
				}
			}{}
		}, many(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"lint"}},"results":[`, `{"ruleId":"S1000","level":"warning","message":{"text":"the variable n is assigned and never used, remove it or use it below"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"internal/server/handler.go"},"region":{"startLine":%d,"startColumn":7,"endLine":9,"endColumn":12}}}]}`, `]}]}`)},
		{"rdjson", func() any { return &struct{ Diagnostics []diagnostic }{} }, many(`{"source":{"name":"staticcheck"},"diagnostics":[`, rd, `]}`)},
		{"rdjsonl", func() any { return &[]diagnostic{} }, jsonLines(many("[", rd, "]"))},
		{"golangci-lint", func() any {
			return &struct {
				Issues []struct {
					FromLinter, Text, Severity string
					SourceLines                []string
					Pos                        position
				}
				Report struct {
					Linters []struct {
						Name    string
						Enabled bool
					}
				}
			}{}
		}, many(`{"Issues":[`, `{"FromLinter":"staticcheck","Text":"SA4006: this value of n is never used","Severity":"","SourceLines":["\tn := compute(a, b)"],"Pos":{"Filename":"internal/server/handler.go","Offset":1234,"Line":%d,"Column":7},"ExpectNoLint":false,"ExpectedNoLintLinter":""}`, `],"Report":{"Linters":[{"Name":"staticcheck","Enabled":true}]}}`)},
		{"eslint", func() any {
			return &[]struct {
				FilePath                 string
				Messages                 []message
				ErrorCount, WarningCount int
			}{}
		}, many(`[{"filePath":"/src/app/index.js","messages":[`, `{"ruleId":"no-unused-vars","severity":1,"message":"'n' is assigned a value but never used.","line":%d,"column":7,"nodeType":"Identifier","messageId":"unusedVar","endLine":9,"endColumn":12}`, `],"suppressedMessages":[],"errorCount":0,"fatalErrorCount":0,"warningCount":10000,"fixableErrorCount":0,"fixableWarningCount":0,"usedDeprecatedRules":[]}]`)},
		{"pylint", func() any {
			return &[]struct {
				Type, Module, Obj, Path, Symbol, Message string
				Line, Column                             int
				EndLine, EndColumn                       *int
				MessageID                                string `json:"message-id"`
			}{}
		}, many("[", `{"type":"warning","module":"app.handler","obj":"handle","line":%d,"column":4,"endLine":9,"endColumn":12,"path":"app/handler.py","symbol":"unused-variable","message":"Unused variable 'n'","message-id":"W0612"}`, "]")},
		{"go-test", func() any {
			return &[]struct {
				Time, Action, Package, Test, Output string
				Elapsed                             float64
			}{}
		}, events},
	}
}

// BenchmarkThroughput compares the time of each built-in normalizer of JSON with the time in which
// encoding/json decodes the same document into structs.
func BenchmarkThroughput(b *testing.B) {
	catalog := plugins.NewCatalog(newRuntime(b, plugins.Config{}))
	for _, f := range formats() {
		plugin, err := catalog.Named(f.plugin)
		if err != nil {
			b.Fatal(err)
		}
		doc, err := plugin.Document(source(b, string(f.report)), nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(f.plugin+"/guest", func(b *testing.B) {
			b.SetBytes(int64(len(doc.Bytes())))
			for b.Loop() {
				if _, err := plugin.Ask(b.Context(), doc, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(f.plugin+"/normalize", func(b *testing.B) {
			b.SetBytes(int64(len(doc.Bytes())))
			for b.Loop() {
				if _, err := plugin.Normalize(b.Context(), doc, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(f.plugin+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(doc.Bytes())))
			for b.Loop() {
				if err := json.Unmarshal(doc.Bytes(), f.into()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
