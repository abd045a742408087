package project_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/project"
)

func TestConfigOfMetrics(t *testing.T) {
	for text, want := range map[string]project.Metrics{
		"":                              {},
		"{}":                            {},
		"{textfile: out/shop.prom}":     {Textfile: "out/shop.prom"},
		"{textfile: /var/lib/n/a.prom}": {Textfile: "/var/lib/n/a.prom"},
		"{push: 'https://me:secret@gate:9091/prefix', job: loops, grouping: {project: shop}}": {
			Push: "https://me:secret@gate:9091/prefix", Job: "loops", Grouping: map[string]string{"project": "shop"},
		},
		"{labels: {project: shop, team: 'a b'}}": {Labels: map[string]string{"project": "shop", "team": "a b"}},
	} {
		c, err := configured(t, "metrics: "+text+"\n")
		if err != nil || !reflect.DeepEqual(c.Metrics, want) {
			t.Errorf("%s: %+v, %v, want %+v", text, c.Metrics, err, want)
		}
		if anywhere := want.Textfile+want.Push != ""; c.Metrics.IsSet() != anywhere {
			t.Errorf("%s goes anywhere: %t", text, !anywhere)
		}
	}
}

func TestConfigSaysWhatIsWrongWithMetrics(t *testing.T) {
	const url = "must be the http or https URL of a Pushgateway, without a query"
	for text, says := range map[string]string{
		"{file: a.prom}":                                  "unknown key metrics.file",
		"{textfile: .bashrc}":                             "a file whose name ends in .prom",
		"{textfile: .prom}":                               "a file whose name ends in .prom",
		"{textfile: a.prom/b}":                            "a file whose name ends in .prom",
		"{textfile: 1}":                                   "quote it if it is meant so",
		"{textfile: \"a\\0.prom\"}":                       "has a zero byte",
		"{push: gate:9091}":                               url,
		"{push: 'ftp://gate'}":                            url,
		"{push: 'http://'}":                               url,
		"{push: 'http://gate/?a=b'}":                      url,
		"{push: 'http://gate/#a'}":                        url,
		"{push: 'http://[::1'}":                           url,
		"{job: loops}":                                    "are for metrics.push, which is missing",
		"{grouping: {a: b}}":                              "are for metrics.push, which is missing",
		"{push: 'http://g', job: ''}":                     "a text of 1 to 128 bytes",
		"{labels: [a]}":                                   "a mapping of at most 16 labels",
		"{labels: {a: 1}}":                                "quote it if it is meant so",
		"{labels: {a: ''}}":                               "a text of 1 to 128 bytes",
		"{labels: {a: \"b\\nc\"}}":                        "without control characters",
		"{labels: {A: b}}":                                "labels of 1 to 63 small letters",
		"{labels: {__name__: b}}":                         "labels of 1 to 63 small letters",
		"{labels: {a: b, a: c}}":                          "metrics.labels.a is already defined in line 1",
		"{labels: {a: " + strings.Repeat("b", 129) + "}}": "a text of 1 to 128 bytes",
	} {
		wantInvalid(t, "metrics: "+text+"\n", says)
	}
	// A problem with a URL is reported without its password.
	_, err := configured(t, "metrics: {push: 'http://me:secret@gate/?x'}\n")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}
