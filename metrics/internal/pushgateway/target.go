package pushgateway

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/label"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxURL is the maximum length of a URL in bytes.
const maxURL = 2048

// jobLabel is the group label that every target has.
const jobLabel = "job"

// Target is a group of metrics at a Pushgateway, made by Parse. It is immutable.
type Target struct {
	base     *url.URL // without user and password
	user     *url.Userinfo
	grouping map[string]string // with the job
}

// Parse returns the target for a gateway's URL (without /metrics/job/…, optionally with a
// user and a password), a job, and the other labels of the group.
//
// # Errors
//
// push-target-invalid. The message does not show the URL, which may contain a password.
func Parse(rawURL, job string, grouping map[string]string) (Target, error) {
	base, err := parseURL(rawURL)
	if err != nil {
		return Target{}, err
	}
	if len(grouping) > label.Max {
		return Target{}, errInvalid("the group has %d labels, and at most %d are allowed", len(grouping), label.Max)
	}
	if _, ok := grouping[jobLabel]; ok {
		return Target{}, errInvalid("the job cannot also be a label of the group")
	}
	t := Target{base: base, user: base.User, grouping: map[string]string{jobLabel: job}}
	base.User = nil
	maps.Copy(t.grouping, grouping)
	for _, name := range slices.Sorted(maps.Keys(t.grouping)) {
		if why := label.Problem(name, t.grouping[name]); why != "" {
			return Target{}, errInvalid("the label %q of the group cannot be used: %s", textutil.Clip(name, 40), why)
		}
	}
	return t, nil
}

func errInvalid(format string, args ...any) *errs.Error {
	return errs.New(errs.PushTargetInvalid, format, args...)
}

func parseURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, errInvalid("the URL has more than %d bytes", maxURL)
	}
	u, err := url.Parse(raw)
	switch {
	case !strings.Contains(raw, "://"): // What has no scheme may not be parsed at all.
		return nil, errInvalid("the URL does not begin with http:// or https://")
	case err != nil: // The error contains the URL.
		return nil, errInvalid("the URL cannot be parsed; special characters in a user or a password must be escaped, such as / as %%2F")
	case u.Scheme != "http" && u.Scheme != "https", u.Opaque != "":
		return nil, errInvalid("the URL does not begin with http:// or https://")
	case u.Hostname() == "":
		return nil, errInvalid("the URL has no host")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(raw, "#"):
		return nil, errInvalid("the URL has a query or a fragment, and a Pushgateway takes neither")
	case strings.Contains(u.Path+"/", "/metrics/job"):
		return nil, errInvalid("the URL names a group: give the URL of the gateway, without /metrics/job")
	}
	return u, nil
}

// checkLabels rejects a metric with a label of the group: the gateway would overwrite it
// silently.
func (t Target) checkLabels(family *dto.MetricFamily) error {
	for _, m := range family.GetMetric() {
		for _, l := range m.GetLabel() {
			if _, ok := t.grouping[l.GetName()]; ok {
				return errInvalid("both %s and the group have the label %s", family.GetName(), l.GetName())
			}
		}
	}
	return nil
}

// String returns the gateway's URL, without user and password.
func (t Target) String() string { return t.base.String() }

// Grouping returns a copy of the group's key, with the job.
func (t Target) Grouping() map[string]string { return maps.Clone(t.grouping) }

// group returns the URL of the group.
func (t Target) group() *url.URL {
	parts := []string{"metrics"}
	parts = append(parts, component(jobLabel, t.grouping[jobLabel])...)
	for _, name := range slices.Sorted(maps.Keys(t.grouping)) {
		if name != jobLabel {
			parts = append(parts, component(name, t.grouping[name])...)
		}
	}
	base := *t.base
	base.Path = cmp.Or(base.Path, "/") // JoinPath would return a relative path.
	return base.JoinPath(parts...)
}

// component returns a label as parts of a URL's path. It encodes a value in base64 if a proxy
// or a router might misread it.
func component(name, value string) []string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
	}
	if strings.ContainsFunc(value, func(r rune) bool { return !plain(r) }) || strings.Trim(value, ".") == "" {
		return []string{name + "@base64", base64.RawURLEncoding.EncodeToString([]byte(value))}
	}
	return []string{name, value}
}
