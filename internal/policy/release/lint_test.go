package release_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

func lint(t *testing.T, tree release.Tree, o release.LintOptions) release.LintReport {
	t.Helper()
	report, err := tree.Lint(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// everything returns options that check everything.
func everything() release.LintOptions {
	return release.LintOptions{
		Raised: map[string][]string{"broken": {"host"}, "style": {"critic"}, "spelling": {"critic"}}, Replay: replayed,
	}
}

func TestLintFindsNothingInAReleasedTree(t *testing.T) {
	tree := released(t)
	// A project may have records in other formats.
	tree["docs/adr/0098-plain.md"] = "# 98. Record decisions\n\nDate: 2020-01-01\n"
	tree["docs/adr/0099-other.md"] = "---\nstatus: accepted\ndecision-makers: Ann\n---\n# Record decisions\n\npolicy: none\n"
	report := lint(t, plant(t, tree), everything())
	if !report.Clean() {
		t.Errorf("%+v", report.Findings)
	}
	if len(report.Versions) != 2 {
		t.Fatalf("%+v", report.Versions)
	}
	a, b := report.Versions[0], report.Versions[1]
	if a.Policy.Version != "0.1.0" || a.Folder != "policies/routing/0.1.0" || !a.Released || a.BuiltIn || a.Tests != 2 || a.Coverage != 100 || a.States == 0 || a.Step != diff.None {
		t.Errorf("%+v", a)
	}
	if b.Policy.Version != "0.2.0" || b.Step != diff.Minor {
		t.Errorf("%+v", b)
	}
}

// broken is a tree with one defect.
type broken struct {
	breaks func(*testing.T, files)
	// rules are all rules that it breaks.
	rules []string
	// says is a part of one of the messages.
	says string
}

// Each case of TestLint adds one defect to a valid tree and lists all rules it breaks: a
// change of a released version also breaks its promise not to change.
const (
	rego   = second + "routing.rego"
	tests  = second + "routing_test.rego"
	v2     = "routing@0.2.0 "
	digest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
)

// changed returns the rules that every change of 0.2.0's rules breaks, and more.
func changed(more ...string) []string {
	return append([]string{v2 + "unchanged"}, more...)
}

func TestLintOfAVersion(t *testing.T) {
	check(t, map[string]broken{
		"a syntax error":     {change(rego, "_open if", "_open iff"), []string{v2 + "loads"}, ""},
		"no title":           {change(rego, "# title: Small\n", ""), []string{v2 + "loads"}, "title"},
		"not formatted":      {change(rego, "_open if", "_open  if"), changed(v2 + "formatted"), "opa fmt"},
		"tests not so":       {change(tests, "failed ==", "failed  =="), []string{v2 + "formatted"}, `"\tfailed == set()"`},
		"a table untitled":   {change(rego, "# METADATA\n# title: Precedence\n", ""), changed(v2 + "metadata"), "precedence"},
		"another version":    {change(rego, "version: 0.2.0", "version: 0.2.1"), changed(v2 + "folder-name"), "0.2.1"},
		"an empty directory": {put("policies/routing/0.3.0/README", ""), []string{"routing@0.3.0 loads"}, ""},
		"no tests":           {remove(tests), []string{v2 + "tested"}, "no tests"},
		"an empty test":      {put(tests, "package switchyard.routing_test\n"), []string{v2 + "tested", v2 + "covered"}, "no tests"},
		"a failing test":     {change(tests, `== "stuck"`, `== "fixer"`), []string{v2 + "tested"}, `line 7 does not hold: routing.precedence[0] == "fixer"`},
		"a test to come":     {add(tests, "\ntodo_test_later := true\n"), []string{v2 + "tested"}, "still to be written"},
		"tests in no Rego":   {add(tests, "\ntest_x if {\n"), []string{v2 + "tested"}, ""},
		"an impure test":     {add(tests, "\ntest_success_x if time.now_ns() > 0\n"), []string{v2 + "tested"}, "time.now_ns"},
		"a rule uncovered":   {add(rego, "\n_unused if input.round > 1000\n"), changed(v2 + "covered"), "routing.rego:"},
		"no version's name":  {put("policies/routing/old/routing.rego", small), []string{"routing@old folder-name", "routing@old tested", "routing@old locked", "routing@old adr-named"}, "three numbers"},
	})
}

func TestLintOfInvariants(t *testing.T) {
	check(t, map[string]broken{
		"stuck is weakest": {
			both(change(rego, `["stuck", "fixer"]`, `["fixer", "stuck"]`), change(tests, "precedence[0]", "precedence[1]")),
			changed(v2+"proven", v2+"step"), "stuck-strongest",
		},
		"commits over findings": {
			change(rego, `"fixer", "reason": "routed"`, `"commit", "reason": "routed"`),
			changed(v2+"proven", v2+"step"), "only-clean-commits",
		},
		"waives the unwaivable": {waive("total"), []string{v2 + "adr-waives"}, "no record can waive"},
		"waives the unwaivable, which is broken": {
			both(change(rego, `"fixer", "reason": "routed"`, `"commit", "reason": "routed"`), waive("only-clean-commits")),
			changed(v2+"proven", v2+"step"), "only-clean-commits",
		},
		"waives what holds": {waive("human-first"), []string{v2 + "adr-waives"}, "which holds"},
		"waives a fancy":    {waive("tidiness"), []string{v2 + "adr-waives"}, "tidiness"},
		"a category that nothing raises": {
			change(rego, "\t\"style\"", "\t\"spleling\": \"fixer\",\n\t\"style\""), changed(v2 + "proven"), "spleling",
		},
		"and that is waived": {
			both(change(rego, "\t\"style\"", "\t\"spleling\": \"fixer\",\n\t\"style\""), waive("category-raised")), changed(), "",
		},
		"a category that is not known": {
			both(change(rego, "\t\"spelling\": \"fixer\",\n", ""), change(rego, "version", "version")), changed(v2 + "proven"), "spelling",
		},
		"a category gone": {
			both(change(rego, "\t\"style\": \"fixer\",\n", ""), change(tests, "route_table.style", "route_table.spelling")),
			changed(v2+"proven", v2+"step"), "style",
		},
	})
}

func TestLintOfARecord(t *testing.T) {
	check(t, map[string]broken{
		"no record":           {remove(typoRecord), []string{v2 + "adr-named"}, "the METADATA of package switchyard.routing in policies/routing/0.2.0/routing.rego names ADR-0002, which does not exist"},
		"a broken record":     {change(typoRecord, "status: accepted", "status: sure"), []string{"adr-valid", v2 + "adr-named"}, "status must be"},
		"of another version":  {change(rego, "ADR-0002", "ADR-0001"), []string{v2 + "unchanged", v2 + "adr-named"}, "about routing@0.1.0"},
		"of no policy":        {put(typoRecord, "---\nstatus: accepted\ndate: 2026-11-21\n---\n# ADR-0002: x\n"), []string{v2 + "adr-named"}, "no policy"},
		"proposed":            {change(typoRecord, "accepted", "proposed"), []string{v2 + "adr-accepted"}, "is proposed"},
		"rejected":            {change(typoRecord, "accepted", "rejected"), []string{v2 + "adr-accepted"}, "is rejected"},
		"superseded":          {change(typoRecord, "accepted", "superseded"), nil, ""},
		"supersedes another":  {change(typoRecord, "supersedes: routing@0.1.0", "supersedes: routing@0.0.9"), []string{v2 + "adr-supersedes"}, "routing@0.0.9"},
		"without its reasons": {change(typoRecord, "\nText.\n", "\nWhat goes wrong, how often, and who noticed.\n"), []string{v2 + "adr-text"}, "what goes wrong"},
		"without a consequence": {
			change(typoRecord, "\nMore.\n", "\n  What gets better, what gets worse, and what has to be done because of it.\r\n"), []string{v2 + "adr-text"}, "",
		},
		"reasons that say what": {change(typoRecord, "\nText.\n", "\nWhat goes wrong, how often, and who noticed: all of it.\n"), nil, ""},
		"supersedes none":       {change(typoRecord, "supersedes: routing@0.1.0\n", ""), []string{v2 + "adr-supersedes"}, "supersedes none"},
		"another diff":          {edit(func(r *adr.Record) { r.Diff.Digest = digest }), []string{v2 + "adr-diff"}, "is wrong: it is"},
		"a prettier summary":    {edit(func(r *adr.Record) { r.Diff.Summary = "nothing much" }), []string{v2 + "adr-diff"}, "is wrong: it is"},
		"no diff":               {edit(func(r *adr.Record) { r.Diff = nil }), []string{v2 + "adr-diff"}, "does not say"},
		"no replay":             {edit(func(r *adr.Record) { r.Replay = nil }), []string{v2 + "adr-replay"}, "does not say"},
		"another's replay":      {edit(func(r *adr.Record) { r.Replay.Policy = digest }), []string{v2 + "adr-replay"}, "of another policy"},
		"a forged replay":       {edit(func(r *adr.Record) { r.Replay.Digest = digest }), []string{v2 + "adr-replay"}, "not the ledger's"},
		"a shorter replay":      {edit(func(r *adr.Record) { r.Replay.Through = 4 }), []string{v2 + "adr-replay"}, "not the ledger's"},
		"a replay of nothing":   {edit(func(r *adr.Record) { r.Replay.Through = 0 }), []string{v2 + "adr-replay"}, "0 recorded decisions"},
		"two of one number": {
			func(_ *testing.T, f files) { f["docs/adr/0002-a.md"] = f[typoRecord] }, []string{"adr-valid", v2 + "adr-named"}, "ADR-0002 too",
		},
		"another table":     {change(typoRecord, "`spelling`", "`style`"), []string{v2 + "adr-diff"}, "shows another diff"},
		"no table":          {change(typoRecord, "<!-- switchyard:diff -->\n", ""), nil, ""},
		"of something else": {put("docs/adr/0003-a.md", "---\nstatus: proposed\ndate: 2026-11-21\n---\n# ADR-0003: x\n"), nil, ""},
	})
}

func TestLintOfTheVersionsTogether(t *testing.T) {
	renumber := func(number string) func(*testing.T, files) {
		return func(t *testing.T, f files) {
			f.replace(t, rego, "0.2.0", number)
			f.replace(t, typoRecord, "routing@0.2.0", "routing@"+number)
			f.move(second, "policies/routing/"+number+"/")
		}
	}
	check(t, map[string]broken{
		"no lock":          {remove(lockFile), []string{"lock-valid", "routing@0.1.0 locked", v2 + "locked"}, "no lock"},
		"a broken lock":    {add(lockFile, "what?\n"), []string{"lock-valid"}, "want NAME@VERSION"},
		"not locked":       {lockLine("routing@0.2.0", ""), []string{v2 + "locked"}, "does not have it"},
		"another digest":   {lockLine("routing@0.2.0", "routing@0.2.0 "+digest+"\n"), []string{v2 + "unchanged"}, "released as " + digest},
		"another built-in": {add(lockFile, "routing@1.1.0 "+digest+"\n"), []string{"routing@1.1.0 unchanged"}, "built in"},
		"gone":             {remove(rego, tests), []string{v2 + "kept", "adr-named", "routing@0.1.0 proven"}, "its directory is gone"},
		"the first one gone": {
			remove(first+"routing.rego", first+"routing_test.rego"), []string{"routing@0.1.0 kept", "adr-named", v2 + "adr-supersedes", v2 + "adr-diff"}, "routing@0.1.0",
		},
		"the first one broken": {change(first+"routing.rego", "_open if", "_open iff"), []string{"routing@0.1.0 loads"}, ""},
		"a number left out": {
			renumber("0.3.0"), []string{v2 + "kept", "routing@0.3.0 adr-diff", "routing@0.3.0 adr-replay", "routing@0.3.0 locked", "routing@0.3.0 step"}, "left out",
		},
		"too small a step": {
			renumber("0.1.1"), []string{v2 + "kept", "routing@0.1.1 adr-diff", "routing@0.1.1 adr-replay", "routing@0.1.1 locked", "routing@0.1.1 step"}, "needs a minor one: category spelling is new",
		},
		"larger a step than it needs": {
			renumber("1.0.0"), []string{
				v2 + "kept", "routing@1.0.0 adr-diff", "routing@1.0.0 adr-replay", "routing@1.0.0 locked",
			}, "does not have it",
		},
	})
}

func change(name, old, new string) func(*testing.T, files) {
	return func(t *testing.T, f files) { f.replace(t, name, old, new) }
}

func put(name, text string) func(*testing.T, files) {
	return func(_ *testing.T, f files) { f[name] = text }
}

func add(name, text string) func(*testing.T, files) {
	return func(_ *testing.T, f files) { f[name] += text }
}

func remove(names ...string) func(*testing.T, files) {
	return func(_ *testing.T, f files) {
		for _, name := range names {
			delete(f, name)
		}
	}
}

func lockLine(ref, line string) func(*testing.T, files) {
	return func(t *testing.T, f files) { f.lockLine(t, ref, line) }
}

func edit(how func(*adr.Record)) func(*testing.T, files) {
	return func(t *testing.T, f files) { f.edit(t, typoRecord, how) }
}

func waive(invariant string) func(*testing.T, files) {
	return edit(func(r *adr.Record) { r.Waives = append(r.Waives, adr.Waive{Invariant: invariant, Reason: "so"}) })
}

func both(a, b func(*testing.T, files)) func(*testing.T, files) {
	return func(t *testing.T, f files) {
		a(t, f)
		b(t, f)
	}
}

// sampledTrees is how many of a test's broken trees are linted by default.
const sampledTrees = 4

func check(t *testing.T, cases map[string]broken) {
	t.Helper()
	good := released(t)
	for _, name := range exhaustive.Sample(slices.Sorted(maps.Keys(cases)), sampledTrees) {
		c := cases[name]
		t.Run(name, func(t *testing.T) {
			f := maps.Clone(good)
			c.breaks(t, f)
			report := lint(t, plant(t, f), everything())
			want := slices.Sorted(slices.Values(c.rules))
			if got := rules(report.Findings); !slices.Equal(got, want) {
				t.Errorf("broken are %q, want %q", got, want)
			}
			said := len(c.rules) == 0
			for _, f := range report.Findings {
				said = said || strings.Contains(f.Message, c.says)
				if f.Message == "" || strings.ContainsAny(f.Message, "\n\r") || f.File == "" || f.Location != nil && (f.Location.File != f.File || f.Location.Row == 0) {
					t.Errorf("%+v at %+v", f, f.Location)
				}
			}
			if !said {
				t.Errorf("nothing says %q", c.says)
			}
			if t.Failed() {
				for _, f := range report.Findings {
					t.Logf("%s %s: %s: %s", f.Rule, f.Policy, f.File, f.Message)
				}
			}
		})
	}
}

// TestLintSaysTheSameTwice checks that the report of a tree with many defects is
// deterministic.
func TestLintSaysTheSameTwice(t *testing.T) {
	f := released(t)
	for _, breaks := range []func(*testing.T, files){
		change(rego, `["stuck", "fixer"]`, `["fixer", "stuck"]`), add(tests, "\ntodo_test_later := true\n"), waive("human-first"), lockLine("routing@0.1.0", ""),
		edit(func(r *adr.Record) { r.Diff = nil }), put("docs/adr/0003-a.md", "---\npolicy: 3\n"), put("docs/adr/0004-a.md", "---\npolicy: 4\n"), put("docs/adr/0005-a.md", "---\npolicy: 5\n"),
	} {
		breaks(t, f)
	}
	tree := plant(t, f)
	report := lint(t, tree, everything())
	if len(report.Findings) < 10 {
		t.Errorf("only %d findings", len(report.Findings))
	}
	for range 3 {
		if again := lint(t, tree, everything()); !reflect.DeepEqual(again, report) {
			t.Errorf("first it says\n%+v\nand then\n%+v", report, again)
		}
	}
}

// TestLintKnowsTheLine checks the location of a finding.
func TestLintKnowsTheLine(t *testing.T) {
	f := released(t)
	f.replace(t, rego, "_open if", "_open iff")
	report := lint(t, plant(t, f), everything())
	if len(report.Findings) == 0 {
		t.Fatal("nothing was found")
	}
	got := report.Findings[0]
	if got.Location == nil || got.Location.File != rego || !strings.HasPrefix(got.Location.Text, "_open iff") || got.Policy != "routing@0.2.0" {
		t.Errorf("%+v at %+v", got, got.Location)
	}
}

// TestOnlyTheNewestVersionIsHeldAgainstWhatIsRaised: users of an old version have the
// agents of its time.
func TestOnlyTheNewestVersionIsHeldAgainstWhatIsRaised(t *testing.T) {
	o := everything()
	o.Raised["brand-new"] = []string{"critic-security"}
	report := lint(t, plant(t, released(t)), o)
	if got := rules(report.Findings); !slices.Equal(got, []string{v2 + "proven"}) {
		t.Fatalf("%q", got)
	}
	if m := report.Findings[0].Message; !strings.Contains(m, "brand-new") || !strings.Contains(m, "critic-security") {
		t.Errorf("%s", m)
	}
	o.Raised = nil
	if report := lint(t, plant(t, released(t)), o); !report.Clean() {
		t.Errorf("nobody knows, and it says %+v", report.Findings)
	}
}

func TestLintWithoutALedger(t *testing.T) {
	f := released(t)
	f.edit(t, typoRecord, func(r *adr.Record) { r.Replay.Digest = digest })
	o := everything()
	o.Replay = nil
	if report := lint(t, plant(t, f), o); !report.Clean() {
		t.Errorf("%+v", report.Findings)
	}
}

// TestLintOfALedgerThatGrew checks that a replay is compared only with its part of the
// ledger.
func TestLintOfALedgerThatGrew(t *testing.T) {
	o := everything()
	grown := append(ledger(), ledger()[0])
	grown[3].Seq, grown[3].N = 12, 12
	o.Replay = replayedOf(grown)
	if report := lint(t, plant(t, released(t)), o); !report.Clean() {
		t.Errorf("%+v", report.Findings)
	}
	o.Replay = replayedOf(grown[:2])
	if got := rules(lint(t, plant(t, released(t)), o).Findings); !slices.Equal(got, []string{"routing@0.1.0 adr-replay", v2 + "adr-replay"}) {
		t.Errorf("a ledger that lost something: %q", got)
	}
}

func TestLintPassesErrorsOn(t *testing.T) {
	why := errors.New("the ledger is on fire")
	o := everything()
	o.Replay = func(context.Context, *routing.Policy, int64) (replay.Report, error) { return replay.Report{}, why }
	if _, err := plant(t, released(t)).Lint(t.Context(), o); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plant(t, released(t)).Lint(ctx, everything()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestWhatIsNoTree(t *testing.T) {
	for name, tree := range map[string]release.Tree{
		"an empty directory": {Root: t.TempDir()},
		"no directory":       {Root: filepath.Join(t.TempDir(), "missing")},
	} {
		if _, err := tree.Lint(t.Context(), everything()); errs.CodeOf(err) != errs.PolicyTreeUnreadable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLintWithoutVersions checks a tree whose only directory is not named as a version, without
// built-in versions.
func TestLintWithoutVersions(t *testing.T) {
	tree := plant(t, files{"policies/routing/later/routing.rego": small})
	tree.BuiltIn = nil
	if got := rules(lint(t, tree, everything()).Findings); !slices.Contains(got, "routing@later folder-name") {
		t.Errorf("%q", got)
	}
}

// TestNothingLeadsOutOfTheTree checks that links in the tree are not followed out of it.
func TestNothingLeadsOutOfTheTree(t *testing.T) {
	tree := plant(t, released(t))
	outside := plant(t, files{"routing.rego": small})
	links := map[string]string{
		"policies/routing/0.3.0":            outside.Root,
		"policies/routing/0.2.0/extra.rego": filepath.Join(outside.Root, "routing.rego"),
		"docs/adr/0003-outside.md":          filepath.Join(outside.Root, "routing.rego"),
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(tree.Root, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	report := lint(t, tree, everything())
	if got := rules(report.Findings); !slices.Equal(got, []string{"adr-valid", "folder-name", v2 + "loads"}) {
		t.Errorf("%q: %+v", got, report.Findings)
	}
}

func TestWaivers(t *testing.T) {
	f := released(t)
	waive("category-raised")(t, f)
	id := routing.Identity{Name: "routing", Version: "0.2.0", ADR: "ADR-0002"}
	got, err := plant(t, f).Waivers(id)
	if err != nil || len(got) != 1 || got[0].Invariant != "category-raised" || got[0].ADR != "ADR-0002" || got[0].Reason != "so" {
		t.Errorf("%+v, %v", got, err)
	}
	for name, other := range map[string]routing.Identity{
		"another version":  {Name: "routing", Version: "0.1.0", ADR: "ADR-0002"},
		"another record":   {Name: "routing", Version: "0.2.0", ADR: "ADR-0001"},
		"no such record":   {Name: "routing", Version: "0.2.0", ADR: "ADR-0099"},
		"nothing to waive": {Name: "routing", Version: "0.1.0", ADR: "ADR-0001"},
	} {
		if got, err := plant(t, f).Waivers(other); err != nil || got == nil || len(got) != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got[0].Proposed {
		t.Errorf("accepted: %+v", got)
	}
	f.replace(t, typoRecord, "accepted", "proposed")
	if got, err := plant(t, f).Waivers(id); err != nil || len(got) != 1 || !got[0].Proposed {
		t.Errorf("proposed: %+v, %v", got, err)
	}
	f.replace(t, typoRecord, "proposed", "rejected")
	if got, err := plant(t, f).Waivers(id); err != nil || len(got) != 0 {
		t.Errorf("rejected: %+v, %v", got, err)
	}
}
