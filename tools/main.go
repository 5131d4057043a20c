//go:build unix

// Command tools checks assay's own speed: what its loop costs, whether it measures the
// same as a loop written by hand, how much of a run is spent in measured windows, how
// much memory it takes, what a large report costs, how fast it sends HTTP requests, and
// how long it takes to decide. Everything that is compared is measured side by side in
// one run; each line ends with its bar. Arguments name the parts to run.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"

	"assay/internal/build"
	"assay/kit/process"
	"assay/kit/wire"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == reportArgument {
		if err := writeLargeReport(); err != nil {
			fmt.Fprintln(os.Stderr, "tools:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := check(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tools:", err)
		os.Exit(1)
	}
}

// tools holds what the benchmarks share.
type tools struct {
	ctx     context.Context
	dir     string // for everything that is made
	cache   string // as the command's
	builder *build.Builder
}

type part struct {
	name string
	run  func(*tools) error
}

var parts = []part{
	{"loop", (*tools).loop}, {"byhand", (*tools).byHand}, {"reports", (*tools).reports},
	{"quick", (*tools).quick}, {"race", (*tools).race}, {"load", (*tools).load},
}

func choose(names []string) ([]part, error) {
	if len(names) == 0 {
		return parts, nil
	}
	var chosen []part
	for _, name := range names {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no part is called %q: there are %v", name, parts)
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}

// String is the part's name.
func (p part) String() string { return p.name }

func check(ctx context.Context, names []string) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "assay-tools-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	cache = filepath.Join(cache, "assay")
	source, err := build.FindSource(cache)
	if err != nil {
		return err
	}
	t := &tools{ctx: ctx, dir: dir, cache: cache, builder: &build.Builder{Source: source, Cache: cache}}
	for i, p := range chosen {
		fmt.Fprintf(os.Stderr, "measuring %s (%d of %d)\n", p, i+1, len(chosen))
		if err := p.run(t); err != nil {
			return err
		}
	}
	if missed {
		return errors.New("a bar is missed")
	}
	return nil
}

func (t *tools) worker(name string) (string, error) {
	w, err := t.builder.Build(t.ctx, build.Spec{Name: name})
	return w.Program, err
}

// opened starts a worker in a folder and has it open a database.
func (t *tools) opened(program, dir string, open wire.Open) (*process.Worker, error) {
	worker, err := process.Start(t.ctx, program, process.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	if err := worker.Call(t.ctx, wire.TypeOpen, open, nil); err != nil {
		worker.Kill()
		return nil, err
	}
	return worker, nil
}

// programs is a worker and the loop written by hand that lies beside it.
type programs struct{ worker, byHand string }

// programs builds them in several layouts: orders of their functions. C is not reordered.
func (t *tools) programs(name string) ([]programs, error) {
	w, err := t.builder.BuildLayouts(t.ctx, build.Spec{Name: name}, layouts)
	if err != nil {
		return nil, err
	}
	if name == "sqlite-c" {
		byHand := filepath.Join(t.dir, "handwritten-"+name)
		return []programs{{w.Program, byHand}}, t.builder.BuildBeside(t.ctx, build.Spec{Name: name}, "handwritten", byHand)
	}
	var all []programs
	for i, program := range w.Layouts {
		byHand, err := t.handwritten(name, i+1)
		if err != nil {
			return nil, err
		}
		all = append(all, programs{program, byHand})
	}
	return all, nil
}

// handwritten builds the loop written by hand in a layout.
func (t *tools) handwritten(name string, layout int) (string, error) {
	program := filepath.Join(t.dir, fmt.Sprintf("handwritten-%s-%d", name, layout))
	command := exec.CommandContext(t.ctx, "go", "build", "-trimpath", fmt.Sprintf("-ldflags=-randlayout=%d", layout), "-o", program, "./handwritten")
	command.Dir = filepath.Join(t.builder.Source.Dir, "workers", name)
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the loop by hand of %s: %w\n%s", name, err, out)
	}
	return program, nil
}
