package footprint

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A start that is measured again keeps what a cold build of the same program took;
// another program has another cold build.
func TestSaveKeepsColdBuild(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "footprint")
	cold := &Cold{Took: time.Minute, Cross: "linux/arm64", Measured: time.Now().UTC()}
	save := func(f Footprint) Footprint {
		t.Helper()
		f, err := f.Save(folder)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	save(Footprint{Driver: "a", Build: "1", Machine: "x", Cold: cold})
	save(Footprint{Driver: "a@v1.0.0", Build: "0", Machine: "x"})
	if f := save(Footprint{Driver: "a", Build: "1", Machine: "x", Start: time.Millisecond}); f.Cold == nil || f.Cold.Took != time.Minute {
		t.Errorf("the same build: got %+v, want the cold build of before", f.Cold)
	}
	all, err := Load(folder)
	if err != nil || len(all) != 2 || all[0].Driver != "a" || all[0].Start != time.Millisecond || all[0].Cold == nil || all[1].Driver != "a@v1.0.0" {
		t.Errorf("got %+v, %v; want both, a with its cold build", all, err)
	}
	for name, f := range map[string]Footprint{"another build": {Driver: "a", Build: "2", Machine: "x"}, "another machine": {Driver: "a", Build: "1", Machine: "y"}} {
		save(Footprint{Driver: "a", Build: "1", Machine: "x", Cold: cold})
		if f := save(f); f.Cold != nil {
			t.Errorf("%s: got %+v, want no cold build", name, f.Cold)
		}
	}
}

func TestIsScript(t *testing.T) {
	script := filepath.Join(t.TempDir(), "worker")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]bool{script: true, own: false} {
		if got, err := isScript(program); err != nil || got != want {
			t.Errorf("%s: got %t, %v, want %t", program, got, err, want)
		}
	}
}
