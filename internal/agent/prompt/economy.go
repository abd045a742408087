package prompt

import "slices"

// Economy is how much a project cares about too much code.
type Economy string

// The economies, from none to most.
const (
	// EconomyOff: nobody is told anything of it.
	EconomyOff Economy = "off"
	// EconomyLite: whoever writes the code is asked to write little. The default.
	EconomyLite Economy = "lite"
	// EconomyFull: the critic looks for too much code, too.
	EconomyFull Economy = "full"
	// EconomyUltra: and already objects to less of it.
	EconomyUltra Economy = "ultra"
)

// Economies returns all of them, from none to most.
func Economies() []Economy { return []Economy{EconomyOff, EconomyLite, EconomyFull, EconomyUltra} }

// ModuleNames returns the names of the modules that a critic gets, in their order.
func (e Economy) ModuleNames() []string {
	names := []string{"critic-style", "critic-tests", "critic-acceptance"}
	if e == EconomyFull || e == EconomyUltra {
		names = append(names, "critic-economy")
	}
	return slices.Clip(names)
}

// bar is what the critic's prompt says of it, "" where the module says enough.
func (e Economy) bar() string {
	if e != EconomyUltra {
		return ""
	}
	return "The bar of the economy module is low in this project: report every saving that it describes, also of a few lines."
}

// prevention is what whoever writes the code is told, "" for nothing.
func (e Economy) prevention() string {
	if !slices.Contains(Economies(), e) || e == EconomyOff {
		return ""
	}
	return "Before you add code, go down this list and stop at the first that serves: need it at all; the project has it; " +
		"the language or the platform has it; a dependency that is already there has it; one line does; write as little as works. " +
		"Tests, validation, error handling and security are not what to save on."
}
