package prompt

import "slices"

// Economy is the degree of attention that a project pays to unneeded code.
type Economy string

// The economies, in ascending order.
const (
	// EconomyOff: unneeded code is not mentioned.
	EconomyOff Economy = "off"
	// EconomyLite, the default: the executor is asked to write little code.
	EconomyLite Economy = "lite"
	// EconomyFull: the critic also reports unneeded code.
	EconomyFull Economy = "full"
	// EconomyUltra: the critic also reports small amounts of it.
	EconomyUltra Economy = "ultra"
)

// Economies returns all economies in order.
func Economies() []Economy { return []Economy{EconomyOff, EconomyLite, EconomyFull, EconomyUltra} }

// ModuleNames returns the names of the critic's modules in order.
func (e Economy) ModuleNames() []string {
	names := []string{"critic-style", "critic-tests", "critic-acceptance"}
	if e == EconomyFull || e == EconomyUltra {
		names = append(names, "critic-economy")
	}
	return names
}

// bar returns the addition to the critic's prompt, "" if the module suffices.
func (e Economy) bar() string {
	if e != EconomyUltra {
		return ""
	}
	return "This project is strict about economy: report every saving that the economy module describes, even of a few lines."
}

// prevention returns the advice to the executor, or "".
func (e Economy) prevention() string {
	if !slices.Contains(Economies(), e) || e == EconomyOff {
		return ""
	}
	return "Before you add code, take the first of these that works: nothing needs to be added; the project already has it; the language or " +
		"the platform has it; an existing dependency has it; one line is enough; write the least code that works. " +
		"Never save on tests, validation, error handling or security."
}
