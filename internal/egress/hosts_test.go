package egress_test

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/egress"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func parse(t testing.TB, builtin, user []string) egress.Allow {
	t.Helper()
	a, err := egress.ParseHosts(builtin, user)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestHostsPermit(t *testing.T) {
	for _, test := range []struct{ list, yes, no string }{
		{"api.anthropic.com", "api.anthropic.com:443 API.Anthropic.COM:443 api.anthropic.com.:443", "api.anthropic.com:80 api.anthropic.com:22 anthropic.com:443 x.api.anthropic.com:443 api.anthropic.com.evil.example:443 xapi.anthropic.com:443"},
		{"API.Example.com.:8443", "api.example.com:8443", "api.example.com:443"},
		{"*.openai.com", "api.openai.com:443 a.b.openai.com:443 A.OpenAI.com.:443", "openai.com:443 .openai.com:443 xopenai.com:443 api.openai.com:80 openai.com.evil.example:443"},
		{"*.example.com:8443", "a.example.com:8443", "a.example.com:443"},
		{"*.me.github.io", "docs.me.github.io:443", "me.github.io:443 you.github.io:443"},
		{"127.0.0.1:4000", "127.0.0.1:4000 [::ffff:127.0.0.1]:4000", "localhost:4000 127.0.0.1:4001 127.0.0.2:4000 127.1:4000 2130706433:4000 0x7f.1:4000 0x7f000001:4000 017700000001:4000 127.0.0.01:4000 127.0.0.0x1:4000"},
		{"localhost:11434", "localhost:11434 LOCALHOST.:11434", "127.0.0.1:11434 [::1]:11434"},
		{"[::1]:8080", "[::1]:8080 [0:0:0:0:0:0:0:1]:8080", "::1:8080 [::1%lo]:8080 [::1]:443"},
		{"10.0.0.5:443", "10.0.0.5:443", "10.0.0.6:443 0xa000005:443 [64:ff9b::a00:5]:443"},
		{"my_service:80", "my_service:80", "my-service:80"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example:443", "bücher.example:443"},
		{"api.k.example", "api.k.example:443", "api.\u212a.example:443"}, // the Kelvin sign is a k in lower case
	} {
		a := parse(t, nil, []string{test.list})
		for text := range strings.FieldsSeq(test.yes) {
			if user, ok, _ := a.Permits(text); !ok || !user {
				t.Errorf("%s does not permit %s", test.list, text)
			}
		}
		for text := range strings.FieldsSeq(test.no) {
			if _, ok, _ := a.Permits(text); ok {
				t.Errorf("%s permits %s", test.list, text)
			}
		}
	}
}

func TestHostsKnowWhoListedThem(t *testing.T) {
	a := parse(t, []string{"a.example", "both.example"}, []string{"b.example", "*.both.example", "both.example"})
	for text, want := range map[string]bool{"a.example:443": false, "b.example:443": true, "both.example:443": true, "x.both.example:443": true} {
		if user, ok, _ := a.Permits(text); !ok || user != want {
			t.Errorf("%s: by the user %v, permitted %v", text, user, ok)
		}
	}
	if _, ok, _ := (egress.Allow{}).Permits("a.example:443"); ok {
		t.Error("an empty list permits a host")
	}
}

func TestHostsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "it is empty",
		".":                         "it is empty",
		":443":                      "it is empty",
		"*":                         "not a name or an address",
		"*:443":                     "not a name or an address",
		"**.example.com":            "not a name or an address",
		"api.*.com":                 "not a name or an address",
		"*example.com":              "not a name or an address",
		"*.":                        "it is empty",
		"*.com":                     "anyone can register a name",
		"*.COM.:443":                "anyone can register a name",
		"*.co.uk":                   "anyone can register a name",
		"*.kawasaki.jp":             "anyone can register a name",
		"*.github.io":               "anyone can register a name",
		"*.s3.amazonaws.com":        "anyone can register a name",
		"*.internal":                "anyone can register a name",
		"*.10.0.0.5":                "an address has no names",
		"*.[::1]:443":               "an address has no names",
		"https://api.example.com":   "a scheme, a path or a user",
		"https://api.example.com:1": "a scheme, a path or a user",
		"api.example.com/v1":        "a scheme, a path or a user",
		"user@api.example.com":      "a scheme, a path or a user",
		"user:pw@api.example.com":   "a scheme, a path or a user",
		"api.example.com:0":         "the port is not a number",
		"api.example.com:65536":     "the port is not a number",
		"api.example.com:0443":      "the port is not a number",
		"api.example.com:+443":      "the port is not a number",
		"api.example.com:https":     "the port is not a number",
		"api.example.com:":          "the port is not a number",
		"api.example.com:443\n":     "the port is not a number",
		"api.example.com\n":         "not a name or an address",
		"api\x00.example.com":       "not a name or an address",
		"api .example.com":          "not a name or an address",
		"api..example.com":          "not a name or an address",
		"api.example.com..":         "not a name or an address",
		"-api.example.com":          "not a name or an address",
		"api-.example.com":          "not a name or an address",
		"bücher.example":            "punycode",
		"аpi.example.com":           "punycode", // a Cyrillic а
		"api.example.com\x7f":       "punycode",
		"api\xff.example.com":       "punycode",
		"2130706433":                "four decimal numbers",
		"0x7f.1:80":                 "four decimal numbers",
		"0x":                        "four decimal numbers",
		"127.1":                     "four decimal numbers",
		"0177.0.0.1":                "four decimal numbers",
		"1.2.3.4.5":                 "four decimal numbers",
		"256.0.0.1":                 "four decimal numbers",
		"a.example.1":               "four decimal numbers",
		"::1":                       "not a name or an address",
		"[::1":                      "brackets",
		"[::1]x":                    "brackets",
		"[127.0.0.1]:80":            "brackets",
		"[fe80::1%eth0]:80":         "brackets",
		"169.254.169.254:80":        "metadata",
		"[::ffff:169.254.169.254]":  "metadata",
		"[64:ff9b::a9fe:a9fe]:80":   "metadata",
		"[fe80::1]:80":              "metadata",
		"[fd00:ec2::254]:80":        "metadata",
		"0.0.0.0:80":                "metadata",
		"[::]:80":                   "metadata",
		"224.0.0.1:80":              "metadata",
		strings.Repeat("a", 64):     "not a name or an address",
		strings.Repeat("a.", 127):   "",
		strings.Repeat("a.", 128):   "longer than 253 bytes",
	} {
		_, err := egress.ParseHosts([]string{"api.anthropic.com"}, []string{"localhost:80", text})
		if want == "" {
			if err != nil {
				t.Errorf("%q is refused: %v", text, err)
			}
			continue
		}
		if errs.CodeOf(err) != errs.ConfineHostInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	_, err := egress.ParseHosts([]string{"first.example/", "second.example/"}, nil)
	if want := `the host "first.example/" cannot be allowed: `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := egress.ParseHosts(nil, []string{strings.Repeat("/", 1<<20)}); err == nil || len(err.Error()) > 1000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func TestAddressClasses(t *testing.T) {
	for class, texts := range map[string]string{
		"public": "8.8.8.8 203.0.113.1 2606:4700::1 64:ff9b::808:808 ::ffff:8.8.8.8 172.32.0.1 100.128.0.1 198.18.0.1",
		"private": "127.0.0.1 127.255.0.1 ::1 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd12::1 100.64.0.1 100.127.255.255 " +
			"::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::c0a8:101 fd12::1%eth0",
		"forbidden": "169.254.169.254 169.254.0.1 fe80::1 fe80::1%eth0 0.0.0.0 0.1.2.3 :: 224.0.0.1 239.1.1.1 ff02::1 255.255.255.255 240.0.0.1 " +
			"fd00:ec2::254 fd00:ec2::254%eth0 fd20:ce::254 100.100.100.200 192.0.0.192 168.63.129.16 " +
			"::ffff:169.254.169.254 ::ffff:0.0.0.0 64:ff9b::a9fe:a9fe 64:ff9b::6464:64c8 64:ff9b:1::a9fe:a9fe",
	} {
		for text := range strings.FieldsSeq(texts) {
			if got := egress.Class(netip.MustParseAddr(text)); got != class {
				t.Errorf("%s is %s, want %s", text, got, class)
			}
		}
	}
}

// isListed says by itself whether a list of lower-case texts without wildcards of
// addresses has a target.
func isListed(list []string, target string) bool {
	host := target[:strings.LastIndexByte(target, ':')]
	port := strings.TrimPrefix(target, host+":")
	for _, text := range list {
		listed, listedPort, ok := strings.Cut(text, ":")
		if !ok {
			listedPort = "443"
		}
		suffix, isWildcard := strings.CutPrefix(listed, "*")
		if port == listedPort && (host == listed || isWildcard && len(host) > len(suffix) && host[len(host)-len(suffix):] == suffix) {
			return true
		}
	}
	return false
}

func TestPermitsOnlyTheList(t *testing.T) {
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "example", "x-1"}), 1, 3).Draw(t, "labels"), ".") + rapid.SampledFrom([]string{".example.com", ".test.dev"}).Draw(t, "domain")
	})
	port := rapid.SampledFrom([]string{"", ":443", ":80", ":8443"})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", "*."}).Draw(t, "wildcard") + name.Draw(t, "name") + port.Draw(t, "port")
		}), 0, 4).Draw(t, "list")
		a, err := egress.ParseHosts(nil, list)
		if err != nil {
			t.Fatal(err)
		}
		target := name.Draw(t, "target") + rapid.SampledFrom([]string{":443", ":80", ":8443", ":22"}).Draw(t, "target port")
		written := rapid.SampledFrom([]string{target, strings.ToUpper(target), strings.Replace(target, ":", ".:", 1)}).Draw(t, "written")
		if _, got, _ := a.Permits(written); got != isListed(list, target) {
			t.Fatalf("%v permits %s: %v", list, written, got)
		}
	})
}

func FuzzParseHost(f *testing.F) {
	for _, text := range []string{"api.anthropic.com", "*.openai.com:8443", "[::1]:80", "127.0.0.1:4000", "0x7f.1", "*.co.uk", "a:0443", "[::ffff:1.2.3.4]:1", "user@a.example", "bücher.example", "a..b", "100.100.100.200"} {
		f.Add(text, "a.example:443")
		f.Add("*.openai.com", text)
	}
	f.Fuzz(func(t *testing.T, text, target string) {
		a, err := egress.ParseHosts(nil, []string{text})
		if err != nil {
			if errs.CodeOf(err) != errs.ConfineHostInvalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		_, permitted, normal := a.Permits(target)
		if !permitted {
			return
		}
		host, port := normal[:strings.LastIndexByte(normal, ':')], normal[strings.LastIndexByte(normal, ':')+1:]
		if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			if egress.Class(addr) == "forbidden" || strings.HasPrefix(text, "*") {
				t.Fatalf("%q permits %q", text, target)
			}
		} else if trimmed := strings.TrimPrefix(strings.ToLower(text), "*."); !strings.Contains(host, strings.TrimSuffix(strings.Split(trimmed, ":")[0], ".")) {
			t.Fatalf("%q permits %q", text, target)
		}
		// What is permitted is permitted in normal form, too, and is on a list of its own.
		if _, ok, again := a.Permits(normal); !ok || again != normal {
			t.Fatalf("%q permits %q and not %q", text, target, normal)
		}
		if _, ok, _ := parse(t, nil, []string{normal}).Permits(target); !ok {
			t.Fatalf("%q does not permit %q", normal, target)
		}
		if !strings.HasSuffix(text, ":"+port) && port != "443" {
			t.Fatalf("%q permits port %s", text, port)
		}
	})
}
