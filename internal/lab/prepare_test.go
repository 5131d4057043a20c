package lab

import (
	"errors"
	"testing"

	"assay"
)

// Two names of one build would be one target with the trials of both.
func TestDistinct(t *testing.T) {
	of := func(version, build string) assay.Target {
		return assay.Target{Driver: "mattn", DriverVersion: version, Build: build}
	}
	for name, c := range map[string]struct {
		targets []assay.Target
		refused bool
	}{
		"one":             {[]assay.Target{of("v1", "a")}, false},
		"two versions":    {[]assay.Target{of("v1", "a"), of("v2", "b")}, false},
		"two builds":      {[]assay.Target{of("v1", "a"), of("v1", "b")}, false},
		"two of one name": {[]assay.Target{of("v1", "a"), of("v2", "b"), of("v1", "a")}, true},
	} {
		err := distinct(c.targets)
		if refused := errors.As(err, new(*InputError)); refused != c.refused {
			t.Errorf("%s: got %v, want it refused: %t", name, err, c.refused)
		}
	}
}
