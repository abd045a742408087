package plugintest

import (
	"bytes"
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/plugins"
)

// maxDeterminism limits the number of repeated reports, and maxInterpreted the bytes of a
// report for the interpreter, which is slow.
const (
	maxDeterminism = 40
	maxInterpreted = 256 << 10
)

// determinism repeats reports with other memory and with the interpreter, and compares the
// answers byte for byte.
func (k *kit) determinism() {
	ways := []struct {
		name   string
		config plugins.Config
	}{
		{"another instance", plugins.Config{}},
		{"memory littered with 0xA5", plugins.Config{Scratch: 0xa5}},
		{"memory littered with 0x22, a quotation mark", plugins.Config{Scratch: '"'}},
		{"the interpreter", plugins.Config{Interpret: true}},
	}
	asked := k.seeds()
	asked = asked[:min(len(asked), maxDeterminism)]
	for _, way := range ways {
		if k.ctx.Err() != nil {
			return
		}
		other, err := k.runtime(way.config).Load(k.ctx, k.wasm)
		if err != nil {
			k.check(GroupDeterminism, way.name, err)
			continue
		}
		err = nil
		for _, s := range asked {
			if way.config.Interpret && len(s.doc.Bytes()) > maxInterpreted {
				continue
			}
			if err = k.compareAnswers(other, s); err != nil {
				break
			}
		}
		k.check(GroupDeterminism, way.name, err)
	}
}

// compareAnswers fails if two plugins answer differently.
func (k *kit) compareAnswers(other *plugins.Plugin, s seed) error {
	first, errFirst := k.plugin.Ask(k.ctx, s.doc, s.config)
	if errFirst != nil && isFailure(errs.CodeOf(errFirst)) {
		return fmt.Errorf("%s: %w", s.name, errFirst)
	}
	again, errAgain := other.Ask(k.ctx, s.doc, s.config)
	switch {
	case errFirst != nil && errAgain != nil && errs.CodeOf(errFirst) == errs.CodeOf(errAgain):
		return nil
	case errFirst != nil || errAgain != nil:
		return fmt.Errorf("%s: once %s, once %s", s.name, outcome(errFirst), outcome(errAgain))
	case !bytes.Equal(first.Answer, again.Answer):
		return fmt.Errorf("%s: other bytes come out, from byte %d on", s.name, firstDifference(first.Answer, again.Answer))
	}
	return nil
}

func outcome(err error) string {
	if err == nil {
		return "an answer"
	}
	return explain(err)
}

func firstDifference(a, b []byte) int {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return i
}
