package pushgateway_test

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/metrics/internal/pushgateway"
)

func TestWhatIsNoTarget(t *testing.T) {
	t.Parallel()
	const good = "http://localhost:9091"
	many := map[string]string{}
	for i := range 17 {
		many["l"+strings.Repeat("x", i)] = "v"
	}
	for name, c := range map[string]struct {
		url, job string
		grouping map[string]string
		says     string
	}{
		"no URL":             {"", "j", nil, "does not begin with"},
		"no scheme":          {"localhost:9091", "j", nil, "does not begin with"},
		"an address alone":   {"127.0.0.1:9091", "j", nil, "does not begin with"},
		"another scheme":     {"ftp://localhost", "j", nil, "does not begin with"},
		"opaque":             {"http:localhost", "j", nil, "does not begin with"},
		"no host":            {"http://", "j", nil, "no host"},
		"a port alone":       {"http://:9091", "j", nil, "no host"},
		"query":              {good + "?a=b", "j", nil, "query"},
		"empty query":        {good + "?", "j", nil, "query"},
		"fragment":           {good + "#x", "j", nil, "fragment"},
		"empty fragment":     {good + "#", "j", nil, "fragment"},
		"group":              {good + "/metrics/job/j", "j", nil, "names a group"},
		"group in base64":    {good + "/metrics/job@base64/ag", "j", nil, "names a group"},
		"unwritten slash":    {"http://u:s3/cret@host", "j", nil, "cannot be parsed"},
		"control character":  {"http://u:s3cret@host\x7f/", "j", nil, "cannot be parsed"},
		"too long":           {good + "/" + strings.Repeat("a", 2048), "j", nil, "2048 bytes"},
		"no job":             {good, "", nil, `"job" of the group cannot be used: its value is empty`},
		"long job":           {good, strings.Repeat("j", 201), nil, "too long"},
		"job of other bytes": {good, "\xff", nil, "UTF-8"},
		"second job":         {good, "j", map[string]string{"job": "k"}, "the job cannot"},
		"label with dash":    {good, "j", map[string]string{"a-b": "k"}, `"a-b" of the group cannot be used: a name has`},
		"label of no name":   {good, "j", map[string]string{"": "k"}, `"" of the group cannot be used: a name has`},
		"label of a digit":   {good, "j", map[string]string{"1a": "k"}, `"1a" of the group cannot be used: a name has`},
		"label with a line":  {good, "j", map[string]string{"a\n": "k"}, `a name has`},
		"internal label":     {good, "j", map[string]string{"__name__": "k"}, "reserved by Prometheus"},
		"bucket's label":     {good, "j", map[string]string{"le": "k"}, "reserved by Prometheus"},
		"empty value":        {good, "j", map[string]string{"a": ""}, `"a" of the group cannot be used: its value is empty`},
		"too many labels":    {good, "j", many, "17 labels"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pushgateway.Parse(c.url, c.job, c.grouping)
			if errs.CodeOf(err) != errs.PushTargetInvalid || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want %s: …%s…", err, errs.PushTargetInvalid, c.says)
			}
			if strings.Contains(err.Error(), "s3") {
				t.Errorf("the message shows the password: %v", err)
			}
		})
	}
}

func TestATargetHidesThePassword(t *testing.T) {
	t.Parallel()
	to, err := pushgateway.Parse("https://me:s3cret@gate.example/prefix/", "j", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := to.String(), "https://gate.example/prefix/"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := pushgateway.GroupURL(to), "https://gate.example/prefix/metrics/job/j"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAGroupInAURL(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"plain-1_2.3": "/metrics/job/switchyard/project/plain-1_2.3",
		// The base64 of RFC 4648's URL alphabet, without padding.
		"a b":  "/metrics/job/switchyard/project@base64/YSBi",
		"a/b":  "/metrics/job/switchyard/project@base64/YS9i",
		"..":   "/metrics/job/switchyard/project@base64/Li4",
		"a%2F": "/metrics/job/switchyard/project@base64/YSUyRg",
		"+":    "/metrics/job/switchyard/project@base64/Kw",
		"ä?":   "/metrics/job/switchyard/project@base64/w6Q_",
	} {
		to, err := pushgateway.Parse("http://h:1", "switchyard", map[string]string{"project": value})
		if err != nil {
			t.Fatal(err)
		}
		if got := pushgateway.GroupURL(to); got != "http://h:1"+want {
			t.Errorf("%q: %s, want …%s", value, got, want)
		}
	}
}

// TestGroupsAreDistinct checks that different groups have different URLs, and that no
// value escapes from the path.
func TestGroupsAreDistinct(t *testing.T) {
	t.Parallel()
	value := rapid.StringN(1, 20, 40)
	name := rapid.StringMatching(`[a-z]{1,3}`).Filter(func(s string) bool { return s != "le" && s != "job" })
	group := rapid.MapOfN(name, value, 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		var urls []string
		var groups []map[string]string
		for range 2 {
			to, err := pushgateway.Parse("http://h", value.Draw(t, "job"), group.Draw(t, "grouping"))
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(pushgateway.GroupURL(to))
			if err != nil {
				t.Fatal(err)
			}
			if path.Clean(u.Path) != u.Path || u.RawQuery != "" || u.Fragment != "" || u.Host != "h" {
				t.Fatalf("%s is not what it seems", u)
			}
			if parts := strings.Split(u.Path, "/"); len(parts) != 2+2*len(to.Grouping()) {
				t.Fatalf("%s does not have the %d labels of %v", u, len(to.Grouping()), to.Grouping())
			}
			urls, groups = append(urls, u.String()), append(groups, to.Grouping())
		}
		same := len(groups[0]) == len(groups[1])
		for k, v := range groups[0] {
			same = same && groups[1][k] == v
		}
		if same != (urls[0] == urls[1]) {
			t.Fatalf("%v and %v have %v", groups[0], groups[1], urls)
		}
	})
}
