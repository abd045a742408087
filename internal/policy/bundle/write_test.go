package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

// untarred returns the files found by a plain archive reader.
func untarred(t testing.TB, packed []byte) map[string]string {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	archive := tar.NewReader(unzipped)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(h.Name, "/")] = string(data)
	}
}

// generated draws a draft of files with names that Read accepts.
func generated(t *rapid.T) bundle.Draft {
	contents := rapid.MapOfN(rapid.StringMatching(`([a-z]{1,8}/){0,3}[a-z0-9 ._é-]{0,8}[a-z]\.(rego|md)`), rapid.SliceOfN(rapid.Byte(), 0, 200), 0, 8).Draw(t, "files")
	d := bundle.Draft{
		Revision: rapid.StringMatching(`[a-zA-Z0-9.+ é-]{0,20}`).Draw(t, "revision"),
		Roots:    rapid.SampledFrom([][]string{{""}, {"switchyard/routing"}, {"switchyard/routing", "lib"}}).Draw(t, "roots"),
	}
	for name, data := range contents {
		d.Files = append(d.Files, bundle.File{Name: name, Data: data})
	}
	if rapid.Bool().Draw(t, "wasm") {
		d.Wasm, d.Entrypoint = []byte("\x00asm\x01\x00\x00\x00"), "switchyard/routing/decision"
	}
	if rapid.Bool().Draw(t, "signed") {
		d.Sign = &bundle.Signing{Key: *seededPrivate()}
	}
	return d
}

// A bundle is read as it was written, and its bytes do not depend on the order of the
// files.
func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := generated(t)
		first, err := d.Pack()
		if err != nil {
			t.Fatalf("%+v: %v", d, err)
		}
		d.Files = rapid.Permutation(d.Files).Draw(t, "order")
		d.Roots = rapid.Permutation(d.Roots).Draw(t, "roots")
		second, err := d.Pack()
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%+v: the order shows, %v", d, err)
		}

		var trust *bundle.Trust
		if d.Sign != nil {
			trust = shared()
		}
		got, err := bundle.Read(first, limits(), trust)
		if err != nil {
			t.Fatalf("%+v: %v", d, err)
		}
		if got.Revision != d.Revision || !slices.Equal(got.Roots, slices.Sorted(slices.Values(d.Roots))) || got.Data {
			t.Fatalf("%+v was read as %+v", d, got)
		}
		if want := d.Entrypoint; d.Wasm != nil && !slices.Equal(got.Entrypoints, []string{want}) || d.Wasm == nil && got.Entrypoints != nil {
			t.Fatalf("entrypoints are %q, want %q", got.Entrypoints, want)
		}
		want := make(map[string]string)
		for _, f := range d.Files {
			want[f.Name] = string(f.Data)
		}
		if d.Wasm != nil {
			want["policy.wasm"] = string(d.Wasm)
		}
		read := make(map[string]string)
		for _, f := range got.Files {
			read[f.Name] = string(f.Data)
		}
		if !maps.Equal(want, read) {
			t.Fatalf("files are %q, want %q", read, want)
		}
	})
}

// Flipping any byte of a signed bundle makes it invalid or changes nothing.
func TestNoByteOfASignedBundleCanBeChanged(t *testing.T) {
	good, err := draft(seededPrivate()).Pack()
	if err != nil {
		t.Fatal(err)
	}
	want, err := bundle.Read(good, limits(), shared())
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for i := range good {
		got, err := bundle.Read(flipped(good, i), limits(), shared())
		if err != nil {
			continue
		}
		same++
		if !reflect.DeepEqual(got, want) {
			t.Errorf("byte %d: read as %+v", i, got)
		}
	}
	// The time and the system in gzip's header are ignored, and its checksum covers the
	// rest.
	if same > 10 {
		t.Errorf("%d bytes can be changed", same)
	}
}

func TestEverythingIsSignedAlikeEveryTime(t *testing.T) {
	for _, p := range pairs(t) {
		d := draft(&p.private)
		d.Sign.Expires = now().Add(time.Hour)
		first, err := d.Pack()
		if err != nil {
			t.Fatalf("%s: %v", p.private, err)
		}
		got, err := bundle.Read(first, limits(), &bundle.Trust{Keys: []bundle.Key{p.public}, Now: now})
		if err != nil || got.Signer != p.public.ID {
			t.Errorf("%s: signer is %q, %v", p.public, got.Signer, err)
		}
		_, err = bundle.Read(first, limits(), &bundle.Trust{Keys: []bundle.Key{p.public}, Now: func() time.Time { return now().Add(time.Hour) }})
		wantCode(t, err, errs.PolicySignatureExpired)

		second, err := d.Pack()
		if random := strings.HasPrefix(p.public.Algorithm, "PS"); err != nil || bytes.Equal(first, second) == random {
			t.Errorf("%s: signed alike: %v, %v", p.public, !random, err)
		}
	}
}

// The bytes are pinned: they must not depend on order, owner, mode and times.
func TestTheArchiveTellsNothingOfItsMaking(t *testing.T) {
	packed, err := draft(seededPrivate()).Pack()
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if !unzipped.ModTime.IsZero() || unzipped.Name != "" || unzipped.Comment != "" || len(unzipped.Extra) > 0 {
		t.Errorf("gzip header is %+v", unzipped.Header)
	}
	var names []string
	archive := tar.NewReader(unzipped)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.Unix() != 0 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || h.Mode != 0o644 || h.Typeflag != tar.TypeReg || len(h.PAXRecords) > 0 {
			t.Errorf("%s: header is %+v", h.Name, h)
		}
		names = append(names, h.Name)
	}
	if want := []string{"/.manifest", "/p.rego", "/.signatures.json"}; !slices.Equal(names, want) {
		t.Errorf("names are %q, want %q", names, want)
	}
}

func TestDraftsThatMakeNoBundleAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(d *bundle.Draft)
		want   string
	}{
		"no roots":             {func(d *bundle.Draft) { d.Roots = nil }, "needs roots"},
		"roots that overlap":   {func(d *bundle.Draft) { d.Roots = []string{"switchyard", "switchyard/routing"} }, "overlapped roots"},
		"wasm alone":           {func(d *bundle.Draft) { d.Wasm = []byte("\x00asm") }, "an entrypoint if and only if it has Wasm"},
		"entrypoint alone":     {func(d *bundle.Draft) { d.Entrypoint = "a" }, "an entrypoint if and only if it has Wasm"},
		"entrypoint elsewhere": {func(d *bundle.Draft) { d.Wasm, d.Entrypoint = []byte("\x00asm"), "a/b" }, "do not permit"},
		"revision":             {func(d *bundle.Draft) { d.Revision = "a\x00" }, "revision is not printable"},
		"revision not UTF-8":   {func(d *bundle.Draft) { d.Revision = "a\xff" }, "cannot be written"},
		"leads out":            {func(d *bundle.Draft) { d.Files[0].Name = "../p.rego" }, "leads out"},
		"absolute":             {func(d *bundle.Draft) { d.Files[0].Name = "/p.rego" }, "absolute"},
		"no name":              {func(d *bundle.Draft) { d.Files[0].Name = "" }, "shortest form"},
		"the directory itself": {func(d *bundle.Draft) { d.Files[0].Name = "." }, "shortest form"},
		"a manifest":           {func(d *bundle.Draft) { d.Files[0].Name = ".manifest" }, "has a field for it"},
		"a signature":          {func(d *bundle.Draft) { d.Files[0].Name = ".signatures.json" }, "has a field for it"},
		"wasm as a file":       {func(d *bundle.Draft) { d.Files[0].Name = "policy.wasm" }, "has a field for it"},
		"a patch":              {func(d *bundle.Draft) { d.Files[0].Name = "patch.json" }, "delta bundle"},
		"twice":                {func(d *bundle.Draft) { d.Files = append(d.Files, bundle.File{Name: "P.rego"}) }, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			d := draft(nil)
			tc.change(&d)
			packed, err := d.Pack()
			e := wantCode(t, err, errs.PolicyInvalid)
			if !strings.Contains(e.Message, tc.want) {
				t.Errorf("the message does not mention %q: %s", tc.want, e.Message)
			}
			if len(packed) > 0 {
				t.Error("something was written")
			}
		})
	}
}
