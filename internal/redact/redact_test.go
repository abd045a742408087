package redact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/redact"
)

// The secrets here are put together from parts, so that no scanner takes this file
// for a leak.
func key(parts ...string) string { return strings.Join(parts, "") }

// known has a secret of each kind, with what makes it known, and where it stands in
// that: %s.
var known = []struct{ kind, around, secret string }{
	{"anthropic-key", "%s", key("sk-", "ant-", "api03-Aa0_-Bb1Cc2Dd3")},
	{"openai-key", "%s", key("sk-", "proj-Aa0_-Bb1Cc2Dd3")},
	{"openai-key", "%s", key("sk-", "0123456789abcdef")},
	{"github-token", "%s", key("ghp", "_0123456789abcdefABCD")},
	{"github-token", "%s", key("ghs", "_0123456789abcdefABCD")},
	{"github-token", "%s", key("github_", "pat_11ABCDEFG0_abcdefghij")},
	{"gitlab-pat", "%s", key("glpat", "-0123456789abcdef-_AB")},
	{"google-api-key", "%s", key("AIza", "SyA0123456789abcdefghijklmnopqrstuv")},
	{"slack-token", "%s", key("xoxb", "-123456789012-abcdefghij")},
	{"aws-key-id", "%s", key("AKIA", "IOSFODNN7EXAMPLE")},
	{"aws-key-id", "%s", key("ASIA", "IOSFODNN7EXAMPLE")},
	{"aws-secret-key", "aws_secret_access_key = %s", key("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY")},
	{"aws-secret-key", `"SecretAccessKey": "%s"`, key("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY")},
	{"aws-secret-key", "PROD_AWS_SECRET_ACCESS_KEY='%s'", key("wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY")},
	{"aws-secret-key", `"SecretAccessKey":"%s"`, key("wJalrXUtnFEMI", `\/K7MDENG\/`, "bPxRfiCYEXAMPLEKEY")},
	{"jwt", "%s", key("eyJ", "hbGciOi.eyJzdWIiOiIx.abcd")},
	{"bearer", "Authorization: Bearer %s", "abcdefghijklmnop"},
	{"bearer", "bearer  %s", "a0-._~+/abcdefgh="},
	{"basic-auth", "authorization: basic %s", "abcdefghijklmnop"},
	{"basic-auth", "Basic %s", "dXNlcjpwYXNzd29yZA=="},
	{"url-userinfo", "https://%s@host/x", "user:pass"},
	{"url-userinfo", `https:\/\/%s@host\/x`, "user:pass"},
	{"url-userinfo", "postgres://%s@db:5432/x", "user:p@ss:w0rd!"},
	{"url-userinfo", "https://%s@github.com/a/b", "0123456789abcdef"},
	{"url-userinfo", "https://%s@host/x", `user:p\u0026ss\u0026`},
	{"private-key", "%s", key("-----BEGIN RSA PRIVATE ", "KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----")},
	{"private-key", "%s", key("-----BEGIN OPENSSH PRIVATE ", "KEY-----\nb3BlbnNz\nnot ended")},
	{"private-key", `{"key": "%s`, key("-----BEGIN PRIVATE ", `KEY-----\nMIIE\n-----END PRIVATE KEY-----`)},
}

func marked(kind string) string { return "[REDACTED:" + kind + "]" }

// TestEveryKind tests that each kind is found, alone and in the places where programs
// print secrets.
func TestEveryKind(t *testing.T) {
	for _, k := range known {
		for _, in := range []string{
			"%s", "failed: %s", "key=%s", `{"key":"%s"}`, `{"m":"x\n%s"}`, `"x\u003d%s"`, "a=b%%3D%s", "\x1b[1;31m%s\x1b[0m", `\u001b[31m%s`, "(%s)", "\xff%s", "é%s",
		} {
			before, after, _ := strings.Cut(strings.ReplaceAll(in, "%%", "%"), "%s")
			text := before + strings.Replace(k.around, "%s", k.secret, 1)
			want := before + strings.Replace(k.around, "%s", marked(k.kind), 1)
			if !strings.HasSuffix(k.secret, "ended") { // It goes on to the end.
				text, want = text+after, want+after
			}
			if got := redact.Text(text); got != want {
				t.Errorf("%q:\n%q, want\n%q", text, got, want)
			}
		}
	}
}

// TestSafeTextIsUnchanged tests that prose about secrets, and what looks like one, stays.
func TestSafeTextIsUnchanged(t *testing.T) {
	for _, text := range []string{
		"",
		"Error: ENOENT: no such file or directory, open '/tmp/x'",
		"429 Too Many Requests; retry after 30 seconds",
		"the sk- prefix, the sk-ant- prefix and sk-short",
		"task-management-and-more-words disk-usage-of-the-whole-machine",
		"ghp_short glpat-short AKIASHORT AIzaShort xoxb-short",
		"the ASIA-PACIFIC region, ASIAPACIFICREGION",
		"bearer token required; a basic misunderstanding; basic internationalization",
		"Basic auth is off, Bearer: none",
		"eyJ eyJhbGci.eyJ eyJhbGciOi.short.abcd version 1.2.3",
		"https://example.com/a@b?c=d@e ssh://git@github.com/a/b git@github.com:a/b.git mailto:a@b.c",
		"aws_secret_access_key is missing; SecretAccessKey: (none)",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"déjà vu \xff\xfe ://@ :// -----BEGIN",
	} {
		if got := redact.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestLengthsAreThoseOfTheReference has each kind with one character less than it
// needs, and with just enough.
func TestLengthsAreThoseOfTheReference(t *testing.T) {
	for prefix, c := range map[string]struct {
		kind, body string
	}{
		key("sk-", "ant-"): {"anthropic-key", "0123456789abcdef"},
		key("sk", "-"):     {"openai-key", "0123456789abcdef"},
		key("gho", "_"):    {"github-token", "0123456789abcdef"},
		key("glpat", "-"):  {"gitlab-pat", "0123456789abcdef"},
		key("AK", "IA"):    {"aws-key-id", "0123456789AB"},
	} {
		if got := redact.Text(prefix + c.body); got != marked(c.kind) {
			t.Errorf("%s: %s", prefix, got)
		}
		short := prefix + c.body[1:]
		// What is too short behind the longer prefix is long enough behind the other.
		if got := redact.Text(short); got != short && c.kind != "anthropic-key" {
			t.Errorf("%s: %s", short, got)
		}
	}
	for text, want := range map[string]string{
		"Bearer 0123456789abcdef":           "Bearer [REDACTED:bearer]",
		"Bearer 0123456789abcde":            "Bearer 0123456789abcde",
		"Basic 0123456789abcdef":            "Basic [REDACTED:basic-auth]",
		"Basic 0123456789abcde":             "Basic 0123456789abcde",
		key("ey", "J45678.12345678.1234"):   marked("jwt"),
		key("ey", "J4567.12345678.1234"):    "eyJ4567.12345678.1234",
		key("ey", "J45678.1234567.1234"):    "eyJ45678.1234567.1234",
		key("ey", "J45678.12345678.123"):    "eyJ45678.12345678.123",
		key("ey", "J-eyJ-8.12345678.1234x"): marked("jwt"),
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestSecretsSideBySide: one that follows another without a gap is found too.
func TestSecretsSideBySide(t *testing.T) {
	text := key("AKIA", "IOSFODNN7EXAMPLE") + key("ghp", "_0123456789abcdefABCD") + " " + key("sk-", "ant-0123456789abcdef") + "." + key("sk-", "0123456789abcdef")
	want := marked("aws-key-id") + marked("github-token") + " " + marked("anthropic-key") + "." + marked("openai-key")
	if got := redact.Text(text); got != want {
		t.Errorf("got %s", got)
	}
}

// TestNoSecretSurvives puts a secret into any text. Only in the middle of a word it
// may go unseen.
func TestNoSecretSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(known).Draw(t, "kind")
		around := rapid.StringMatching(`[a-zA-Z:/@ "\\.=-]{0,30}`)
		text := around.Draw(t, "before") + " " + strings.Replace(k.around, "%s", k.secret, 1) + " " + around.Draw(t, "after")
		if got := redact.Text(text); strings.Contains(got, k.secret) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

// TestTimeIsLinear has the texts that make a careless search start over at each
// character. Quadratic, they take minutes.
func TestTimeIsLinear(t *testing.T) {
	const size = 1 << 20
	for _, piece := range []string{
		"a", "sk-", "sk-ant-", "eyJ", "eyJ-", "eyJ-aaaaaaaa.", "ghp_", "AKIA", "bearer ", "Bearer\t", "basic ", "basic a", "://", "://a", "://a:", ":", "@",
		"-----BEGIN ", "-----BEGIN PRIVATE KEY", "-----END ", "-", "secretaccesskey", "secretaccesskey.", "bearer.", "basic/", "bearer", "basic\t\t", "secret_access_key=", "\\n", "%3D", "\x1b[", "[1;", "m", "\xff", "\u20ac", " ",
	} {
		redact.Text(strings.Repeat(piece, size/len(piece)))
	}
	redact.Text("Basic " + strings.Repeat("a", size) + strings.Repeat(" basic", 10))
	redact.Text("://" + strings.Repeat(":a", size/2))
}

// FuzzText holds that nothing panics, and that what was UTF-8 stays so.
func FuzzText(f *testing.F) {
	for _, k := range known {
		f.Add(strings.Replace(k.around, "%s", k.secret, 1))
	}
	f.Add("\\u00")
	f.Add("m")
	f.Fuzz(func(t *testing.T, text string) {
		got := redact.Text(text)
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q became %q", text, got)
		}
		for _, limit := range []int{1, 7, len(text)} {
			tail, err := redact.Tail(strings.NewReader(text), int64(len(text)), limit)
			if err != nil || len(tail) > limit || !utf8.ValidString(tail) {
				t.Errorf("%d of %q: %q, %v", limit, text, tail, err)
			}
		}
	})
}
