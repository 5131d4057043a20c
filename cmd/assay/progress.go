package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"assay/internal/build"
	"assay/internal/runner"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// plainEvery is how often progress is written where there is no terminal.
const plainEvery = 10 * time.Second

// progress shows what is going on: a bar on a terminal, lines elsewhere. It is
// drawn only when something happens between measurements, never by a timer,
// so that nothing of it runs in a measured window.
type progress struct {
	out    io.Writer
	quiet  bool
	bars   *mpb.Progress // nil without a terminal
	bar    *mpb.Bar
	redraw chan any
	mu     sync.Mutex
	what   string
	left   time.Duration
	last   time.Time // of the last plain line
	phase  string
}

func newProgress(out io.Writer, quiet bool) *progress {
	p := &progress{out: out, quiet: quiet}
	if file, ok := out.(*os.File); ok && !quiet && term.IsTerminal(int(file.Fd())) {
		p.redraw = make(chan any)
		p.bars = mpb.New(mpb.WithOutput(out), mpb.WithManualRefresh(p.redraw), mpb.WithWidth(40))
	}
	return p
}

// Build shows what is built, and how long it took.
func (p *progress) Build(e build.Event) {
	if p.quiet {
		return
	}
	switch e.State {
	case build.Building:
		fmt.Fprintf(p.lines(), "building worker %s: the first build compiles its driver and may take minutes\n", e.Worker)
	case build.Built:
		fmt.Fprintf(p.lines(), "built worker %s in %s\n", e.Worker, brief(e.Took))
	}
}

// Note shows a line of text.
func (p *progress) Note(text string) { fmt.Fprintln(p.lines(), text) }

// Data shows how far a dataset is made.
func (p *progress) Data(table string, done, rows int) {
	if p.quiet || p.bars != nil {
		return
	}
	if now := time.Now(); now.Sub(p.last) >= plainEvery {
		p.last = now
		fmt.Fprintf(p.out, "making data: table %s, %d of %d rows\n", table, done, rows)
	}
}

// Measure shows what the runner does.
func (p *progress) Measure(e runner.Event) {
	if p.quiet {
		return
	}
	if e.Phase == "budget" {
		fmt.Fprintf(p.lines(), "%s %s, and the budget for them is %s: some will have fewer, and no verdict; raise --budget, or choose cells with --only\n",
			e.What, brief(e.Total), brief(e.Budget))
		return
	}
	left := max(0, e.Total-e.Done) // far too long where nothing limits the run yet
	if p.bars != nil {
		p.draw(e, left)
		return
	}
	now := time.Now()
	if e.Phase == p.phase && now.Sub(p.last) < plainEvery {
		return
	}
	p.phase, p.last = e.Phase, now
	if e.Phase != "measure" {
		fmt.Fprintf(p.out, "preparing %s\n", e.What)
		return
	}
	fmt.Fprintf(p.out, "measuring, round %d: %s; about %s left\n", e.Round, e.What, brief(left))
}

// lines is where lines go: above the bar, if there is one.
func (p *progress) lines() io.Writer {
	if p.bars != nil {
		return p.bars
	}
	return p.out
}

func (p *progress) draw(e runner.Event, left time.Duration) {
	p.mu.Lock()
	p.what, p.left = e.What, left
	p.mu.Unlock()
	if p.bar == nil {
		p.bar = p.bars.AddBar(1,
			mpb.PrependDecorators(decor.Any(p.label, decor.WCSyncWidthR)),
			mpb.AppendDecorators(decor.Any(p.timeLeft)))
	}
	p.bar.SetTotal(max(1, e.Total.Milliseconds()), false)
	p.bar.SetCurrent(min(e.Done.Milliseconds(), e.Total.Milliseconds()-1))
	p.redraw <- time.Now()
}

func (p *progress) label(decor.Statistics) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.what
}

func (p *progress) timeLeft(decor.Statistics) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return " about " + brief(p.left) + " left"
}

// close ends the display. It may be called again.
func (p *progress) close() {
	if p.bars == nil {
		return
	}
	if p.bar != nil {
		p.bar.Abort(true)
		p.redraw <- time.Now()
	}
	close(p.redraw)
	p.bars.Wait()
	p.bars = nil
	p.quiet = true
}

// brief writes a duration for people: 1m40s, 12s, 340ms.
func brief(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}
