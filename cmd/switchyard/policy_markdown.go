package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// markdownFormat is the flag --output of a command whose result can be pasted into a
// decision record.
type markdownFormat struct{ *outputFormat }

func (f markdownFormat) Set(s string) error {
	if outputFormat(s) == outputMarkdown {
		*f.outputFormat = outputMarkdown
		return nil
	}
	if f.outputFormat.Set(s) != nil {
		return fmt.Errorf("%q is neither text, json nor markdown", s)
	}
	return nil
}

// offersMarkdown lets a command's --output be markdown too. The command then asks
// a.output and prints with printText. Every other command refuses the word, as the
// root's flag does not know it.
func (a *app) offersMarkdown(cmd *cobra.Command) {
	cmd.Flags().Var(markdownFormat{&a.output}, "output", "print `FORMAT`: text, json or markdown")
	_ = cmd.RegisterFlagCompletionFunc("output", words("text", "json", "markdown"))
}

// printText writes a result that is a text already, byte for byte.
func (a *app) printText(text string) error {
	if _, err := io.WriteString(a.out, text); err != nil {
		return errs.New(errs.OutputFailed, "write the result: %w", err)
	}
	return nil
}
