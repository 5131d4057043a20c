// Command test runs make check and the tests of every module of this checkout.
// It prints the output of what fails, what is skipped, in the end once more the
// names of what failed, and as its last line how many tests passed and failed.
// Subtests are counted too.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	modules, err := exec.Command("scripts/modules").Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "test: list modules:", err)
		os.Exit(1)
	}
	r := newResults(os.Stdout)
	r.check()
	for _, dir := range strings.Fields(string(modules)) {
		r.module(dir)
	}
	fmt.Print(r.summary())
	if len(r.failed) > 0 {
		os.Exit(1)
	}
}

// results counts tests over all modules.
type results struct {
	out             io.Writer
	passed, skipped int
	failed          []string            // their names
	open            map[string]*running // packages that have not ended, by name
}

// running is a package whose tests run.
type running struct {
	output  []event
	done    map[string]bool // tests that passed or were skipped
	started []string        // tests that have not ended, in order
	failed  bool            // one of its tests
}

func newResults(out io.Writer) *results {
	return &results{out: out, open: map[string]*running{}}
}

// check runs make check, which counts as one test.
func (r *results) check() {
	cmd := exec.Command("scripts/check")
	cmd.Stdout, cmd.Stderr = r.out, r.out
	if err := cmd.Run(); err != nil {
		r.failed = append(r.failed, "make check")
		fmt.Fprintln(r.out, "FAIL make check:", err)
		return
	}
	r.passed++
	fmt.Fprintln(r.out, "ok   make check")
}

// module runs the tests in a folder. A failure that no event tells of, such
// as a go.mod that cannot be read, counts as one.
func (r *results) module(dir string) {
	cmd := exec.Command("go", "test", "-timeout=90m", "-json", "./...") // for a package, on a slow machine that compiles
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	before := len(r.failed)
	if err == nil {
		r.events(stdout)
		err = cmd.Wait()
	}
	if err != nil && len(r.failed) == before {
		r.failed = append(r.failed, "go test in "+dir)
		fmt.Fprintf(r.out, "FAIL go test in %s: %v\n%s", dir, err, &stderr)
	}
}

// event is one line of go test -json.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
	Elapsed float64
}

func (r *results) events(lines io.Reader) {
	decoder := json.NewDecoder(bufio.NewReader(lines))
	for {
		var e event
		if err := decoder.Decode(&e); err != nil {
			if err != io.EOF {
				fmt.Fprintln(r.out, "test: read events:", err)
			}
			io.Copy(r.out, lines)
			return
		}
		r.event(e)
	}
}

func (r *results) event(e event) {
	p := r.open[e.Package]
	if p == nil {
		p = &running{done: map[string]bool{}}
		r.open[e.Package] = p
	}
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output":
		p.output = append(p.output, e)
	case e.Test != "":
		r.test(p, e)
	case e.Action == "pass" || e.Action == "fail":
		r.pack(p, e)
	}
}

func (r *results) test(p *running, e event) {
	if e.Action == "run" {
		p.started = append(p.started, e.Test)
		return
	}
	switch e.Action {
	case "pass":
		r.passed++
		p.done[e.Test] = true
	case "skip":
		r.skipped++
		p.done[e.Test] = true
		fmt.Fprintf(r.out, "skip %s %s\n", e.Package, e.Test)
	case "fail":
		r.failed = append(r.failed, e.Package+" "+e.Test)
		p.failed = true
	default: // it waits, or goes on
		return
	}
	p.started = slices.DeleteFunc(p.started, func(name string) bool { return name == e.Test })
}

// pack reports a package that ended. Where it failed and none of its tests
// did, as when it does not compile or one never ends, that counts as one.
func (r *results) pack(p *running, e event) {
	delete(r.open, e.Package)
	if e.Action == "pass" {
		fmt.Fprintf(r.out, "ok   %s %.1f s\n", e.Package, e.Elapsed)
		return
	}
	if !p.failed {
		name := e.Package
		if len(p.started) > 0 {
			name += ", which ended in " + strings.Join(p.started, ", ")
		}
		r.failed = append(r.failed, name)
	}
	for _, line := range p.output {
		if !p.done[line.Test] && !strings.HasPrefix(line.Output, "=== ") {
			fmt.Fprint(r.out, line.Output)
		}
	}
}

// summary names what failed, where the output of it may be far above.
func (r *results) summary() string {
	var text strings.Builder
	for _, name := range r.failed {
		fmt.Fprintf(&text, "FAIL %s\n", name)
	}
	fmt.Fprintf(&text, "%d skipped\n%d passed, %d failed\n", r.skipped, r.passed, len(r.failed))
	return text.String()
}
