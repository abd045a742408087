package prompt

import "slices"

// Economy is how much attention a project pays to unneeded code.
type Economy string

// The economies, from none to most.
const (
	// EconomyOff: none.
	EconomyOff Economy = "off"
	// EconomyLite, the default: the executor is asked to write little code.
	EconomyLite Economy = "lite"
	// EconomyFull: the critic also reports unneeded code.
	EconomyFull Economy = "full"
	// EconomyUltra: and objects to smaller amounts.
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
	return slices.Clip(names)
}

// bar is what the critic's prompt adds, "" if the module suffices.
func (e Economy) bar() string {
	if e != EconomyUltra {
		return ""
	}
	return "The bar of the economy module is low in this project: report every saving that it describes, also of a few lines."
}

// prevention is what the executor is told, "" for nothing.
func (e Economy) prevention() string {
	if !slices.Contains(Economies(), e) || e == EconomyOff {
		return ""
	}
	return "Before you add code, go down this list and stop at the first that serves: need it at all; the project has it; " +
		"the language or the platform has it; a dependency that is already there has it; one line does; write as little as works. " +
		"Tests, validation, error handling and security are not what to save on."
}
