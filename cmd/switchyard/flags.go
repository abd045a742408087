package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// textVar adds a flag for a text that must not be empty.
func textVar(flags *pflag.FlagSet, value *string, name, usage string) {
	flags.Var((*text)(value), name, usage)
}

// text is the value of a flag that textVar adds.
type text string

func (t *text) String() string { return string(*t) }

func (t *text) Type() string { return "string" }

func (t *text) Set(s string) error {
	if s == "" {
		return ruleError("is empty")
	}
	*t = text(s)
	return nil
}

// numberVar adds a flag for an integer of at least low, and of at most high unless high
// is 0.
func numberVar[N int | int64](flags *pflag.FlagSet, value *N, name string, low, high N, usage string) {
	flags.Var(&number[N]{value, low, high}, name, usage)
}

// roundVar adds a flag for the number of a round.
func roundVar(flags *pflag.FlagSet, value *int, usage string) {
	numberVar(flags, value, "round", 1, 0, usage)
}

// number is the value of a flag that numberVar adds.
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
		return ruleError(fmt.Sprintf("%s: it is from %d to %d", s, n.low, n.high))
	case i < int64(n.low) || int64(N(i)) != i:
		return ruleError(fmt.Sprintf("%s: it is at least %d", s, n.low))
	}
	*n.value = N(i)
	return nil
}

// durationVar adds a flag for a duration that is longer than 0.
func durationVar(flags *pflag.FlagSet, value *time.Duration, name, usage string) {
	flags.Var((*interval)(value), name, usage)
}

// interval is the value of a flag that durationVar adds.
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

// choiceVar adds a flag that accepts one of a few words. The shell completes them.
func choiceVar[T ~string](flags *pflag.FlagSet, value *T, name, usage string, words ...T) {
	flags.Var(&choice[T]{value, words}, name, usage)
}

// choice is the value of a flag that choiceVar adds.
type choice[T ~string] struct {
	value *T
	words []T
}

func (c *choice[T]) String() string { return string(*c.value) }

func (c *choice[T]) Type() string { return "word" }

func (c *choice[T]) Set(s string) error {
	if !slices.Contains(c.words, T(s)) {
		words := c.options()
		last := len(words) - 1
		return fmt.Errorf("%q is neither %s nor %s", s, strings.Join(words[:last], ", "), words[last])
	}
	*c.value = T(s)
	return nil
}

// options returns the words that the flag accepts.
func (c *choice[T]) options() []string {
	all := make([]string, len(c.words))
	for i, word := range c.words {
		all[i] = string(word)
	}
	return all
}

// given returns those of the named flags that the command line sets, as "--name". A
// flag that is switched off does not count.
func given(flags *pflag.FlagSet, names ...string) []string {
	var all []string
	for _, name := range names {
		if f := flags.Lookup(name); f != nil && f.Changed && (f.Value.Type() != "bool" || f.Value.String() == "true") {
			all = append(all, "--"+name)
		}
	}
	return all
}

// checkExclusive returns an error if the command line sets several of the named flags.
func checkExclusive(flags *pflag.FlagSet, names ...string) error {
	if all := given(flags, names...); len(all) > 1 {
		return usagef("%s exclude each other; give one", strings.Join(all, " and "))
	}
	return nil
}

// checkRequired returns an error for the first of these flags that is missing.
func checkRequired(flags *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if !flags.Changed(name) {
			return usagef("--%s is missing", name)
		}
	}
	return nil
}

// breaksRule reports whether a flag's value was parsed but is out of range.
func breaksRule(err error) bool {
	_, ok := errors.AsType[ruleError](err)
	return ok
}

// valueProblem returns the error for a flag's invalid value.
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
