package bundle_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

func TestReadTellsWhatABundleHolds(t *testing.T) {
	got, err := bundle.Read(packed(t,
		"/data.json", "{}\n",
		"/policies/routing.rego", rego,
		"/policies/routing_test.rego", "package switchyard.routing_test\n",
		"/README.md", "words",
		"/policy.wasm", "\x00asm",
		"/plan.json", "{}",
		"/.manifest", manifest,
		"/.signatures.json", "not looked at",
	), limits(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range got.Files {
		names = append(names, f.Name)
	}
	want := []string{"policies/routing.rego", "policies/routing_test.rego", "README.md", "policy.wasm", "plan.json"}
	if !slices.Equal(names, want) {
		t.Errorf("files are %q, want %q", names, want)
	}
	if string(got.Files[0].Data) != rego {
		t.Errorf("the module is %q", got.Files[0].Data)
	}
	if got.Revision != "7" || !slices.Equal(got.Roots, []string{"switchyard/routing"}) || got.Data || got.Signer != "" {
		t.Errorf("got revision %q, roots %q, data %v, signer %q", got.Revision, got.Roots, got.Data, got.Signer)
	}
}

func TestABundleNeedsNoManifest(t *testing.T) {
	got, err := bundle.Read(packed(t, "p.rego", rego), limits(), nil)
	if err != nil || got.Revision != "" || !slices.Equal(got.Roots, []string{""}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDataIsNoticed(t *testing.T) {
	for _, tc := range []struct {
		name, content string
		want          bool
	}{
		{"data.json", "{}", false},
		{"data.json", `{"switchyard": {"routing": {}}}`, true},
		{"switchyard/routing/data.json", `{"a": 1}`, true},
		{"switchyard/routing/data.json", `1`, true},
	} {
		got, err := bundle.Read(packed(t, "p.rego", rego, tc.name, tc.content), limits(), nil)
		if err != nil || got.Data != tc.want {
			t.Errorf("%s %s: data is %v, %v", tc.name, tc.content, got.Data, err)
		}
	}
}

// OPA's tools and tar write the same names differently.
func TestNamesAreTakenAsTheyAreMeant(t *testing.T) {
	for _, name := range []string{"lib/p.rego", "/lib/p.rego", "./lib/p.rego"} {
		got, err := bundle.Read(packed(t, name, rego), limits(), nil)
		if err != nil || len(got.Files) != 1 || got.Files[0].Name != "lib/p.rego" {
			t.Errorf("%s: got %+v, %v", name, got.Files, err)
		}
	}
	folders := tarred(t, tar.Header{Name: "./", Typeflag: tar.TypeDir}, tar.Header{Name: "/", Typeflag: tar.TypeDir},
		tar.Header{Name: "./lib/", Typeflag: tar.TypeDir}, entry("./lib/p.rego", rego))
	if got, err := bundle.Read(zipped(t, folders), limits(), nil); err != nil || len(got.Files) != 1 {
		t.Errorf("with directories: got %+v, %v", got.Files, err)
	}
}

// A Go setting must not make us reject the names that OPA writes.
func TestNamesAreOurOwnToJudge(t *testing.T) {
	t.Setenv("GODEBUG", "tarinsecurepath=0")
	if _, err := bundle.Read(packed(t, "/p.rego", rego), limits(), nil); err != nil {
		t.Error(err)
	}
	_, err := bundle.Read(packed(t, "/../p.rego", rego), limits(), nil)
	wantCode(t, err, errs.PolicyInvalid)
}

// hostile returns archives that are rejected, by reason.
func hostile(t testing.TB) map[string]struct {
	archive []byte
	want    string
} {
	t.Helper()
	good := tarred(t, entry("p.rego", rego))
	files := func(more ...string) []byte { return packed(t, append([]string{"p.rego", rego}, more...)...) }
	named := func(name string) []byte { return packed(t, name, rego) }
	kind := func(flag byte) []byte {
		return zipped(t, tarred(t, tar.Header{Name: "p.rego", Typeflag: flag, Linkname: "/etc/hostname"}))
	}
	var crowd []tar.Header
	for i := range limits().Entries + 1 {
		crowd = append(crowd, tar.Header{Name: fmt.Sprintf("%d/", i), Typeflag: tar.TypeDir})
	}
	return map[string]struct {
		archive []byte
		want    string
	}{
		"empty":                      {nil, "not a bundle"},
		"words":                      {[]byte(rego), "not a bundle"},
		"tar without gzip":           {good, "not a bundle"},
		"gzip of words":              {zipped(t, bytes.Repeat([]byte("no tar "), 200)), "not a bundle"},
		"cut":                        {zipped(t, good)[:60], "not a bundle"},
		"checksum":                   {flipped(zipped(t, good), -5), "not a bundle"},
		"too large":                  {make([]byte, limits().Packed+1), "larger than 1048576 bytes"},
		"bomb":                       {zipped(t, make([]byte, limits().Unpacked+1)), "unpacked, it is larger than"},
		"bomb in a file":             {files("a.bin", strings.Repeat("\x00", 1<<20)), "unpacked, it is larger than"},
		"large module":               {files("a.rego", strings.Repeat("#", 1<<16+1)), "a.rego: it is larger than 65536 bytes"},
		"crowd":                      {zipped(t, tarred(t, crowd...)), "more than 100 files"},
		"second gzip stream":         {append(zipped(t, good), zipped(t, good)...), "bytes follow its end"},
		"bytes behind gzip":          {append(zipped(t, good), 0), "1 bytes follow its end"},
		"second tar":                 {zipped(t, append(slices.Clone(good), good...)), "more follows the end"},
		"bytes behind tar":           {zipped(t, append(slices.Clone(good), "more"...)), "more follows the end"},
		"sparse":                     {zipped(t, sparse("p.rego", 1<<10)), "sparse"},
		"sparse and endless":         {zipped(t, sparse("p.rego", 1<<40)), ""},
		"symbolic link":              {kind(tar.TypeSymlink), "p.rego: it is a link"},
		"hard link":                  {kind(tar.TypeLink), "p.rego: it is a link"},
		"device":                     {kind(tar.TypeChar), "neither a file nor a directory"},
		"block device":               {kind(tar.TypeBlock), "neither a file nor a directory"},
		"pipe":                       {kind(tar.TypeFifo), "neither a file nor a directory"},
		"leads out":                  {named("../p.rego"), "leads out of the bundle"},
		"leads out from the root":    {named("/../d/p.rego"), "leads out of the bundle"},
		"leads out in the middle":    {named("a/../../p.rego"), "leads out of the bundle"},
		"leads out and comes back":   {named("a/../p.rego"), "leads out of the bundle"},
		"is dots":                    {named(".."), "leads out of the bundle"},
		"absolute":                   {named("//etc/p.rego"), "absolute"},
		"absolute on Windows":        {named("C:p.rego"), "absolute"},
		"backslash":                  {named(`..\p.rego`), "backslash"},
		"drive":                      {named(`C:\p.rego`), "backslash"},
		"line break":                 {named("p\n.rego"), "characters that do not show"},
		"text direction":             {named("p\u202eoger.rego"), "characters that do not show"},
		"not UTF-8":                  {named("p\xff.rego"), "characters that do not show"},
		"dot inside":                 {named("a/./p.rego"), "shortest form"},
		"two dots and slashes":       {named("././p.rego"), "shortest form"},
		"empty directory name":       {named("a//p.rego"), "shortest form"},
		"long name":                  {named(strings.Repeat("a", 1020) + ".rego"), "longer than 1024 bytes"},
		"folder that leads out":      {zipped(t, tarred(t, tar.Header{Name: "../a/", Typeflag: tar.TypeDir})), "leads out"},
		"twice":                      {files("p.rego", rego), "twice"},
		"twice in other words":       {files("/p.rego", rego), "twice"},
		"twice but for case":         {files("P.Rego", rego), "twice"},
		"twice but for an old s":     {files("s.rego", rego, "ſ.rego", rego), "twice"},
		"delta":                      {files("patch.json", `{"data": []}`), "delta bundle"},
		"delta below":                {files("a/patch.json", ``), "delta bundle"},
		"manifest below":             {files("a/.manifest", manifest), "OPA would take it for the manifest"},
		"manifest by its ending":     {files("a.manifest", manifest), "OPA would take it for the manifest"},
		"two manifests":              {files(".manifest", manifest, ".manifest.pb", ""), "multiple manifest files"},
		"signatures below":           {files("a/.signatures.json", "{}"), "topmost directory"},
		"YAML data":                  {files("data.yaml", "a: 1"), "YAML"},
		"broken data":                {files("data.json", "{"), "data.json: it is not one JSON value"},
		"two data values":            {files("data.json", "{} {}"), "data.json: it is not one JSON value"},
		"broken manifest":            {files(".manifest", "{"), ".manifest: it is not one JSON value"},
		"manifest twice in one":      {files(".manifest", manifest+manifest), ".manifest: it is not one JSON value"},
		"manifest in YAML":           {files(".manifest", "revision: 7"), ".manifest: it is not one JSON value"},
		"two revisions":              {files(".manifest", `{"revision":"1","revision":"2"}`), ".manifest: it is not one JSON value"},
		"roots of another kind":      {files(".manifest", `{"roots": 1}`), "OPA does not accept it"},
		"roots that overlap":         {files(".manifest", `{"roots": ["a", "a/b"]}`), "overlapped roots"},
		"protobuf manifest":          {files(".manifest.pb", "\xff"), "OPA does not accept it"},
		"two spellings of roots":     {files(".manifest", `{"roots": ["a"], "ROOTS": ["b"]}`), `.manifest: it has "roots" and "ROOTS", which OPA takes for one name`},
		"many roots":                 {files(".manifest", `{"roots": ["a`+strings.Join(words(4000), `", "a`)+`"]}`), ".manifest: it is larger than 16384 bytes"},
		"many roots in protobuf":     {files(".manifest.pb", strings.Repeat("\x12\x01a", 6000)), ".manifest.pb: it is larger than 16384 bytes"},
		"Rego v0":                    {files(".manifest", `{"rego_version": 0}`), "Rego v0"},
		"Rego v0 for a file":         {files(".manifest", `{"rego_version": 1, "file_rego_versions": {"p.rego": 0}}`), "Rego v0"},
		"Rego of the future":         {files(".manifest", `{"rego_version": 9}`), "OPA does not accept it"},
		"revision with a line break": {files(".manifest", `{"revision": "a\nb"}`), "revision is not printable"},
		"long revision":              {files(".manifest", `{"revision": "`+strings.Repeat("a", 257)+`"}`), "revision is not printable"},
		"data outside the roots":     {files(".manifest", manifest, "data.json", `{"a": 1}`), "do not permit data"},
		"wasm that is not there":     {files(".manifest", `{"wasm": [{"entrypoint": "a", "module": "/policy.wasm"}]}`), "does not exist"},
	}
}

// words returns n different words.
func words(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	return all
}

func TestHostileArchivesAreRefused(t *testing.T) {
	for name, tc := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			got, err := bundle.Read(tc.archive, limits(), nil)
			e := wantCode(t, err, errs.PolicyInvalid)
			if !strings.Contains(e.Message, tc.want) {
				t.Errorf("the message does not mention %q: %s", tc.want, e.Message)
			}
			if strings.ContainsFunc(e.Message, func(r rune) bool { return r < ' ' || r == '\u202e' || r == '\ufffd' }) || len(e.Message) > 2000 {
				t.Errorf("the message is not fit to be shown: %q", e.Message)
			}
			if len(got.Files) > 0 || got.Roots != nil {
				t.Errorf("contents came with the error: %+v", got)
			}
		})
	}
}

// An archive that is rejected without a signature is rejected for the same reason if one
// is required, before the signature is checked.
func TestTrustOpensNoHostileArchive(t *testing.T) {
	for name, tc := range hostile(t) {
		_, err := bundle.Read(tc.archive, limits(), shared())
		if code := errs.CodeOf(err); code != errs.PolicyInvalid && code != errs.PolicyUnsigned {
			t.Errorf("%s: %v (%s)", name, err, code)
		}
	}
}

func flipped(data []byte, at int) []byte {
	data = slices.Clone(data)
	data[(at+len(data))%len(data)] ^= 0xff
	return data
}

// sparse returns a tar file with one file of a size that it does not contain.
func sparse(name string, size int) []byte {
	var records string
	for _, r := range []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=" + name, fmt.Sprintf("GNU.sparse.realsize=%d", size)} {
		length := len(r) + 4 // two digits, a space and a line break
		records += fmt.Sprintf("%02d %s\n", length, r)
	}
	var out bytes.Buffer
	out.Write(ustar("x", 'x', len(records)))
	out.WriteString(block(records))
	out.Write(ustar("sparse", '0', 512))
	out.WriteString(block(fmt.Sprintf("1\n%d\n0\n", size)))
	out.Write(make([]byte, 1024))
	return out.Bytes()
}

// ustar returns a header block that archive/tar would not write.
func ustar(name string, flag byte, size int) []byte {
	h := make([]byte, 512)
	copy(h, name)
	copy(h[100:], "0000600\x000000000\x000000000\x00")
	copy(h[124:], fmt.Sprintf("%011o\x00%011o\x00", size, 0))
	copy(h[148:], "        ")
	h[156] = flag
	copy(h[257:], "ustar\x0000")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00 ", sum))
	return h
}

// block pads to a whole number of blocks.
func block(s string) string { return s + strings.Repeat("\x00", (512-len(s)%512)%512) }
