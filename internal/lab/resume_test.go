package lab

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"assay"
	"assay/internal/dataset"
	"assay/internal/runner"
)

func TestSameTargets(t *testing.T) {
	target := func(driver, version, build string) assay.Target {
		return assay.Target{Driver: driver, DriverVersion: version, Build: build}
	}
	a, b := target("a", "v1", "1"), target("b", "v1", "1")
	before := []assay.Target{a, b}
	const rebuilt = "driver %s: its worker was rebuilt since the run was started: start a new run"
	for _, test := range []struct {
		now  []assay.Target
		want string
	}{
		{[]assay.Target{b, a}, "<nil>"},
		{[]assay.Target{a, target("b", "v1", "2")}, fmt.Sprintf(rebuilt, "b@v1")},
		{[]assay.Target{target("a", "v2", "1"), b}, fmt.Sprintf(rebuilt, "a@v2")},
		{[]assay.Target{a}, "driver b@v1: the run was started with it, and now its worker cannot be built or does not start: fix that, or start a new run"},
	} {
		if got := fmt.Sprint(sameTargets(before, test.now)); got != test.want {
			t.Errorf("%v: got %s, want %s", test.now, got, test.want)
		}
		if err := sameTargets(before, test.now); errors.Is(err, ErrChanged) != strings.HasSuffix(test.want, "since the run was started: start a new run") {
			t.Errorf("%v: got %v, want ErrChanged only where no repair lets the run go on", test.now, err)
		}
	}
}

// A file that changed is told once, with however many file settings it is used.
func TestSameFiles(t *testing.T) {
	data := &dataset.Data{Digest: "1", Spec: assay.Dataset{File: "shop.db"}}
	now := runner.Files{"/shop.db": data, "/shop.db page_size=8192": data}
	for want, before := range map[string]map[string]string{
		"<nil>": {"/shop.db": "1", "/shop.db page_size=8192": "1"},
		"shop.db has changed since the run was started: start a new run": {"/shop.db": "0", "/shop.db page_size=8192": "0"},
	} {
		if got := fmt.Sprint(sameFiles(before, now)); got != want {
			t.Errorf("%v: got %s, want %s", before, got, want)
		}
	}
}
