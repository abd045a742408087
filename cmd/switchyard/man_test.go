package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/internal/cli"
)

// manVariable names the directory to which make man writes the pages. A test writes
// them so that the binary does not contain that code.
const manVariable = "SWITCHYARD_MAN"

// TestManPages writes a manual page for each command, from its help.
func TestManPages(t *testing.T) {
	dir := os.Getenv(manVariable)
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	eachShownCommand(func(cmd *cobra.Command) {
		page := manPage(cmd)
		path := filepath.Join(dir, manName(cmd)+".1")
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !strings.Contains(" .TH .SH .PP .TP .nf .fi ", " "+strings.Fields(line)[0]+" ") {
				t.Errorf("%s: a line is taken for a request: %s", path, line)
			}
		}
		if mandoc, err := exec.LookPath("mandoc"); err == nil {
			if out, err := exec.Command(mandoc, "-T", "lint", "-W", "error", path).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		}
	})
}

// TestFlagsNameOneDefault checks that no usage names a default that pflag adds by itself.
func TestFlagsNameOneDefault(t *testing.T) {
	eachShownCommand(func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			one := pflag.NewFlagSet("", pflag.ContinueOnError)
			one.AddFlag(f)
			if usage := one.FlagUsages(); strings.Count(usage, "(default ") > 1 {
				t.Errorf("%s: %s", cmd.CommandPath(), usage)
			}
		})
	})
}

// TestFlagsAreInColumns checks that the values' names are ASCII, because pflag counts bytes to
// align the descriptions.
func TestFlagsAreInColumns(t *testing.T) {
	cli.EachCommand(newRootCmd(&app{}, nil), func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
				t.Errorf("%s: --%s %s", cmd.CommandPath(), f.Name, name)
			}
		})
	})
}

// eachShownCommand calls f for each command that users are shown.
func eachShownCommand(f func(*cobra.Command)) {
	cli.EachCommand(newRootCmd(&app{}, nil), func(cmd *cobra.Command) {
		if !cmd.Hidden {
			f(cmd)
		}
	})
}

// commandsVariable names the directory to which make site writes a page for each command.
const commandsVariable = "SWITCHYARD_COMMANDS"

// TestCommandPages writes a page in Markdown for each command, from its help, and a list
// of them.
func TestCommandPages(t *testing.T) {
	dir := os.Getenv(commandsVariable)
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := "# Commands\n\n| command | does |\n|---|---|\n"
	eachShownCommand(func(cmd *cobra.Command) {
		var help strings.Builder
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		if code := run(t.Context(), args, cli.Streams{Out: &help, Err: &help}); code != 0 {
			t.Fatalf("%q: %d: %s", args, code, &help)
		}
		name := manName(cmd) + ".md"
		list += fmt.Sprintf("| [`%s`](%s) | %s |\n", cmd.CommandPath(), name, cmd.Short)
		prose, usage, ok := strings.Cut(help.String(), "\nUsage:\n")
		if !ok {
			t.Fatalf("the help of %s has no usage:\n%s", cmd.CommandPath(), &help)
		}
		page := "# " + cmd.CommandPath() + "\n"
		for paragraph := range strings.SplitSeq(strings.TrimSpace(prose), "\n\n") {
			if strings.Contains("\n"+paragraph, "\n ") {
				paragraph = "```text\n" + paragraph + "\n```"
			} else {
				paragraph = strings.NewReplacer("*", `\*`, "_", `\_`, "[", `\[`, "<", `\<`, "`", "\\`").Replace(paragraph)
			}
			page += "\n" + paragraph + "\n"
		}
		write(name, page+"\n```text\nUsage:\n"+strings.TrimRight(usage, "\n")+"\n```\n")
	})
	write("README.md", list)
}

// manName returns the name of a command's page.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage writes a command's page in roff.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	section := func(title string) { fmt.Fprintf(&b, ".SH %s\n", title) }
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"Switchyard\" \"User Commands\"\n", strings.ToUpper(roff(manName(cmd))))
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&b, "\\fB%s\\fR\n", roff(cmd.UseLine()))
	section("DESCRIPTION")
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		switch {
		case strings.Contains("\n"+paragraph, "\n "):
			verbatim(&b, paragraph)
		case i > 0:
			b.WriteString(".PP\n")
			fallthrough
		default:
			b.WriteString(roff(paragraph) + "\n")
		}
	}
	if cmd.HasAvailableFlags() {
		section("OPTIONS")
		cmd.InitDefaultHelpFlag()
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
	}
	section("EXIT STATUS")
	_, status, _ := strings.Cut(exitStatusOf(cmd), "Exit status:\n")
	verbatim(&b, status)
	if cmd.Example != "" {
		section("EXAMPLES")
		verbatim(&b, cmd.Example)
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, manName(cmd.Parent()))
	}
	for _, below := range cmd.Commands() {
		also = append(also, manName(below))
	}
	section("SEE ALSO")
	for i, name := range also {
		also[i] = "\\fB" + roff(name) + "\\fR(1)"
	}
	b.WriteString(strings.Join(also, ",\n") + "\n")
	return b.String()
}

func manFlag(b *strings.Builder, f *pflag.Flag) {
	name, usage := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n")
	if f.Shorthand != "" {
		fmt.Fprintf(b, "\\fB%s\\fR, ", roff("-"+f.Shorthand))
	}
	fmt.Fprintf(b, "\\fB%s\\fR", roff("--"+f.Name))
	if name != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(name))
	}
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	b.WriteString("\n" + roff(usage) + "\n")
}

// verbatim writes lines unchanged.
func verbatim(b *strings.Builder, text string) {
	fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(strings.Trim(text, "\n")))
}

// roff escapes a text.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
