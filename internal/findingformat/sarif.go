package findingformat

import (
	"io"
	"net/url"
	"path"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// fingerprintKey names the version of our fingerprints.
const fingerprintKey = "switchyard/v1"

var sarifLevels = words{"error", "warning", "note"}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver struct {
			Name    string      `json:"name"`
			Version string      `json:"version"`
			Rules   []sarifRule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	// AutomationDetails distinguish the runs of different tasks.
	AutomationDetails *sarifAutomation `json:"automationDetails,omitzero"`
	// Results are nil if there was no review.
	Results []sarifResult `json:"results,omitzero"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifAutomation struct {
	ID string `json:"id"`
}

type sarifResult struct {
	RuleID              string             `json:"ruleId"`
	RuleIndex           int                `json:"ruleIndex"`
	Level               string             `json:"level"`
	Message             sarifText          `json:"message"`
	Locations           []sarifLocation    `json:"locations,omitzero"`
	PartialFingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions        []sarifSuppression `json:"suppressions,omitzero"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitzero"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

// sarif writes SARIF 2.1.0 with a rule for each category.
func sarif(w io.Writer, r Review) error {
	var run sarifRun
	driver := &run.Tool.Driver
	driver.Name, driver.Version, driver.Rules = tool, r.Version, []sarifRule{}
	if r.TaskID != "" {
		run.AutomationDetails = &sarifAutomation{path.Join(tool, r.TaskID, strconv.Itoa(r.Round))}
	}
	if !r.isMissing() {
		run.Results = make([]sarifResult, len(r.Findings))
	}
	rules := make(map[string]int)
	for i, f := range r.Findings {
		rule, ok := rules[f.Category]
		if !ok {
			rule = len(driver.Rules)
			rules[f.Category] = rule
			driver.Rules = append(driver.Rules, sarifRule{f.Category})
		}
		result := sarifResult{
			RuleID: f.Category, RuleIndex: rule, Level: sarifLevels.of(f.Severity), Message: sarifText{message(f)},
			Locations: sarifLocations(f), PartialFingerprints: map[string]string{fingerprintKey: f.Fingerprint},
		}
		if r.Deferred {
			result.Suppressions = []sarifSuppression{{"external", r.deferral()}}
		}
		run.Results[i] = result
	}
	log := sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}
	return json.MarshalWrite(textutil.JSONWriter(w), log, jsontext.AllowInvalidUTF8(true), jsontext.WithIndent("  "))
}

func sarifLocations(f finding.Finding) []sarifLocation {
	if f.File == nil {
		return nil
	}
	var at sarifLocation
	at.Physical.Artifact.URI = uri(*f.File)
	if f.Line != nil {
		at.Physical.Region = &sarifRegion{*f.Line}
	}
	return []sarifLocation{at}
}

// uri returns a path as a URI: relative to the project's root, unless the path is absolute.
func uri(file string) string {
	u := url.URL{Path: textutil.Line(file)}
	if path.IsAbs(file) {
		u.Scheme = "file"
	}
	return u.String()
}
