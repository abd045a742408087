package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

// TextVar adds a flag for a text that must not be empty.
func TextVar(flags *pflag.FlagSet, value *string, name, usage string) {
	flags.Var((*Text)(value), name, usage)
}

// Text is the value of a flag that TextVar adds.
type Text string

func (t *Text) String() string { return string(*t) }

func (t *Text) Type() string { return "string" }

func (t *Text) Set(s string) error {
	if s == "" {
		return ruleError("is empty")
	}
	*t = Text(s)
	return nil
}

// NumberVar adds a flag for an integer of at least low, and of at most high unless high
// is 0.
func NumberVar[N int | int64](flags *pflag.FlagSet, value *N, name string, low, high N, usage string) {
	flags.Var(&number[N]{value, low, high}, name, usage)
}

// number is the value of a flag that NumberVar adds.
type number[N int | int64] struct {
	value     *N
	low, high N
}

func (n *number[N]) String() string { return fmt.Sprint(*n.value) }

func (n *number[N]) Type() string { return "int" }

func (n *number[N]) Set(s string) error {
	i, err := strconv.ParseInt(s, 0, 64)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a whole number", s)
	case n.high != 0 && (i < int64(n.low) || i > int64(n.high)):
		return ruleError(fmt.Sprintf("%s: it must be from %d to %d", s, n.low, n.high))
	case i < int64(n.low) || int64(N(i)) != i:
		return ruleError(fmt.Sprintf("%s: it must be at least %d", s, n.low))
	}
	*n.value = N(i)
	return nil
}

// DurationVar adds a flag for a duration that is longer than 0.
func DurationVar(flags *pflag.FlagSet, value *time.Duration, name, usage string) {
	flags.Var((*interval)(value), name, usage)
}

// interval is the value of a flag that DurationVar adds.
type interval time.Duration

func (v *interval) String() string {
	if *v == 0 {
		return ""
	}
	return time.Duration(*v).String()
}

func (v *interval) Type() string { return "duration" }

func (v *interval) Set(s string) error {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a duration, such as 90s or 10m", s)
	case d <= 0:
		return ruleError(s + ": it must be longer than 0")
	}
	*v = interval(d)
	return nil
}

// ruleError says which rule a flag's value breaks.
type ruleError string

func (e ruleError) Error() string { return string(e) }

// ChoiceVar adds a flag that accepts one of a few words. The shell completes them.
func ChoiceVar[T ~string](flags *pflag.FlagSet, value *T, name, usage string, words ...T) {
	flags.Var(&choice[T]{value, words}, name, usage)
}

// choice is the value of a flag that ChoiceVar adds.
type choice[T ~string] struct {
	value *T
	words []T
}

func (c *choice[T]) String() string { return string(*c.value) }

func (c *choice[T]) Type() string { return "word" }

func (c *choice[T]) Set(s string) error {
	if !slices.Contains(c.words, T(s)) {
		words := c.Options()
		last := len(words) - 1
		return fmt.Errorf("%q is neither %s nor %s", s, strings.Join(words[:last], ", "), words[last])
	}
	*c.value = T(s)
	return nil
}

// Options returns the words that the flag accepts.
func (c *choice[T]) Options() []string { return textutil.Strings(c.words) }

// Given returns the named flags that the command line sets, as "--name". A flag that is
// switched off does not count.
func Given(flags *pflag.FlagSet, names ...string) []string {
	var all []string
	for _, name := range names {
		if f := flags.Lookup(name); f != nil && f.Changed && (f.Value.Type() != "bool" || f.Value.String() == "true") {
			all = append(all, "--"+name)
		}
	}
	return all
}

// CheckExclusive returns an error if the command line sets several of the named flags.
func CheckExclusive(flags *pflag.FlagSet, names ...string) error {
	if all := Given(flags, names...); len(all) > 1 {
		return Usagef("%s exclude each other; give one", strings.Join(all, " and "))
	}
	return nil
}

// CheckRequired returns an error for the first of these flags that is missing.
func CheckRequired(flags *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if !flags.Changed(name) {
			return Usagef("--%s is missing", name)
		}
	}
	return nil
}

// breaksRule reports whether a flag's value was parsed but is out of range.
func breaksRule(err error) bool {
	_, ok := errors.AsType[ruleError](err)
	return ok
}

func valueProblem(invalid *pflag.InvalidValueError) error {
	name, err := invalid.GetFlag().Name, invalid.Unwrap()
	if breaksRule(err) {
		return fmt.Errorf("--%s %w", name, err)
	}
	if invalid.GetFlag().Value.Type() == "bool" {
		err = fmt.Errorf("%q is neither true nor false", invalid.GetValue())
	}
	return fmt.Errorf("--%s: %w", name, err)
}

// MaxRoundsVar adds --max-rounds.
func MaxRoundsVar(flags *pflag.FlagSet, rounds *int) {
	NumberVar(flags, rounds, "max-rounds", task.MinRounds, task.MaxRounds,
		fmt.Sprintf("the task's cap of `N` rounds, %d to %d (default %d, or the project's)", task.MinRounds, task.MaxRounds, task.DefaultRounds))
}

// PolicyVar adds --policy.
func PolicyVar(flags *pflag.FlagSet, policy *string) {
	TextVar(flags, policy, "policy", "decide by `POLICY`: "+policies.Default+", a directory or an OPA bundle")
}

// AdapterVar adds --adapter.
func AdapterVar(flags *pflag.FlagSet, adapter *string) {
	TextVar(flags, adapter, "adapter", "run agents with `ADAPTER`: claude, codex, gemini, opencode, copilot, exec or one of the project's (default spawn.adapter of switchyard.yaml)")
}
