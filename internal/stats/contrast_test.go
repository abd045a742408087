package stats_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestColorsHaveContrast requires a contrast of at least 4.5 for text and of 3 for
// graphics, in the light and the dark scheme (WCAG 2.2, 1.4.3 and 1.4.11).
func TestColorsHaveContrast(t *testing.T) {
	t.Parallel()
	style, schemes := colorsOf(t)
	for i, colors := range schemes {
		for name, color := range colors {
			least := 3.0
			switch name {
			case "ground", "line": // Grid lines only repeat the axis.
				continue
			case "ink", "soft":
				least = 4.5
			}
			if got := contrast(t, color, colors["ground"]); got < least {
				t.Errorf("scheme %d: %s has a contrast of %.2f, want %.1f", i, name, got, least)
			}
		}
	}
	for _, class := range regexp.MustCompile(`fill: var\(--([a-z0-9-]+)\)`).FindAllStringSubmatch(style, -1) {
		if schemes[0][class[1]] == "" {
			t.Errorf("there is no color --%s", class[1])
		}
	}
}

// colorsOf reads the style sheet and its two color schemes, the light one first.
func colorsOf(t testing.TB) (style string, schemes []map[string]string) {
	t.Helper()
	style = parse(t, html(t, of(t, &memLedger{}), about())).named("style")[0].text.String()
	for _, block := range regexp.MustCompile(`:root \{([^}]*--ink[^}]*)\}`).FindAllStringSubmatch(style, -1) {
		colors := make(map[string]string)
		for _, c := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(block[1], -1) {
			colors[c[1]] = c[2]
		}
		schemes = append(schemes, colors)
	}
	if len(schemes) != 2 || len(schemes[0]) != len(schemes[1]) || len(schemes[0]) < 14 {
		t.Fatalf("the schemes are %v", schemes)
	}
	return style, schemes
}

// TestColorsDifferForTheColorBlind requires that the colors of a chart are at least 12
// apart in CIELAB (1976), where 2.3 is just noticeable, as seen with each kind of color
// blindness.
func TestColorsDifferForTheColorBlind(t *testing.T) {
	t.Parallel()
	_, schemes := colorsOf(t)
	for i, colors := range schemes {
		var names []string
		for name := range colors {
			if !slices.Contains([]string{"ground", "ink", "soft", "line", "bar"}, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if len(names) != 10 {
			t.Fatalf("scheme %d has the colors %v", i, names)
		}
		for kind, matrix := range blindness() {
			for j, a := range names {
				for _, b := range names[j+1:] {
					if d := math.Sqrt(squares(seen(t, matrix, colors[a]), seen(t, matrix, colors[b]))); d < 12 {
						t.Errorf("scheme %d, %s: %s and %s are %.1f apart", i, kind, a, b, d)
					}
				}
			}
		}
	}
}

// blindness maps each color vision deficiency to its matrix for linear RGB: Machado,
// Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color Vision
// Deficiency, 2009, at full severity.
func blindness() map[string][3][3]float64 {
	return map[string][3][3]float64{
		"all colors":   {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
		"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
	}
}

// seen returns a color in CIELAB as seen with a deficiency.
func seen(t testing.TB, matrix [3][3]float64, color string) [3]float64 {
	t.Helper()
	linear := linearOf(t, color)
	var rgb [3]float64
	for i, row := range matrix {
		for j, v := range row {
			rgb[i] += v * linear[j]
		}
		rgb[i] = min(max(rgb[i], 0), 1)
	}
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*rgb[0] + 0.3576*rgb[1] + 0.1805*rgb[2]) / 0.95047)
	y := f(0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2])
	z := f((0.0193*rgb[0] + 0.1192*rgb[1] + 0.9505*rgb[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func squares(a, b [3]float64) float64 {
	var sum float64
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return sum
}

// contrast returns the contrast ratio of two colors as WCAG defines it, from 1 to 21.
func contrast(t testing.TB, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t testing.TB, color string) float64 {
	t.Helper()
	rgb := linearOf(t, color)
	return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
}

// linearOf returns the linear red, green and blue of an sRGB color, each in [0, 1].
func linearOf(t testing.TB, color string) [3]float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(color, "#"), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(shift int) float64 {
		v := float64(n>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return [3]float64{linear(16), linear(8), linear(0)}
}
