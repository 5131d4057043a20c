package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/build"
	"assay/internal/report"
	"assay/internal/runner"
	"assay/internal/runner/host"
	"assay/internal/sys/printable"
)

// plainEvery is how often progress is written where there is no terminal.
const plainEvery = 20 * time.Second

// progress shows what is going on: on a terminal the figures so far and a line
// that says what is done, both rewritten in place, elsewhere a line from time to
// time. It writes only when something happens between measurements, never by a
// timer, so that nothing of it runs in a measured window.
type progress struct {
	out      io.Writer
	terminal *os.File // nil: there is none
	quiet    bool
	mu       sync.Mutex
	figures  figuresSoFar
	status   string    // the line below the figures
	drawn    int       // lines of the terminal that are rewritten
	building []string  // workers, while they are built
	last     time.Time // of the last plain line
	phase    runner.Phase
	step     string // that began last
	making   string // the table of the last plain line, while it is made
}

func newProgress(a *app, quiet bool) *progress {
	return &progress{out: a.stderr, terminal: a.terminal, quiet: quiet}
}

// line writes a line that stays, above what is rewritten.
func (p *progress) line(format string, args ...any) {
	p.erase()
	fmt.Fprintln(p.out, fold(columnsOf(p.terminal), fmt.Sprintf(format, args...)))
	p.draw()
}

func (p *progress) rewrite(text string) {
	p.status = strings.ReplaceAll(printable.String(text), "\n", " ")
	p.erase()
	p.draw()
}

// erase takes away what is rewritten, line by line, and leaves the cursor where it began: what
// is cleared up to the end of the screen, terminals keep to scroll back to.
func (p *progress) erase() {
	if p.drawn == 0 {
		return
	}
	fmt.Fprint(p.terminal, "\r\x1b[K"+strings.Repeat("\x1b[A\x1b[K", p.drawn-1))
	p.drawn = 0
}

// draw writes the table and the status, with room for some lines that stay.
func (p *progress) draw() {
	if p.terminal == nil || p.status == "" {
		return
	}
	width, height := p.size()
	lines := append(p.figures.lines(width-1, height-6), p.status)
	for i, line := range lines {
		if letters := []rune(line); len(letters) >= width {
			lines[i] = string(letters[:width-1])
		}
	}
	p.drawn = len(lines)
	fmt.Fprint(p.terminal, strings.Join(lines, "\n"))
}

// size returns the size of the terminal, in columns and lines.
func (p *progress) size() (width, height int) {
	width, height, err := term.GetSize(int(p.terminal.Fd()))
	if err != nil || width < 2 {
		return 80, 24
	}
	return width, height
}

// Build shows what is built, and how long it took.
func (p *progress) Build(e build.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	switch e.State {
	case build.Building:
		p.buildingOn(e)
	case build.Built:
		p.building = slices.DeleteFunc(p.building, func(worker string) bool { return worker == e.Worker })
		p.line("built worker %s in %s", e.Worker, wording.Brief(e.Took))
	}
}

// buildingOn shows that a build begins or, some time later, that it goes on.
func (p *progress) buildingOn(e build.Event) {
	if slices.Contains(p.building, e.Worker) {
		p.line("still building worker %s after %s", e.Worker, wording.Brief(e.Took))
		return
	}
	p.building = append(p.building, e.Worker)
	if e.Of > 0 {
		p.line("building worker %s (%d of %d)", e.Worker, e.Number, e.Of)
		return
	}
	p.line("building worker %s: the first build compiles its driver and may take minutes", e.Worker)
}

// Note shows a line of text.
func (p *progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line("%s", text)
}

// Step shows what comes next.
func (p *progress) Step(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step, p.last = what, time.Now()
	switch {
	case p.quiet:
	case p.terminal != nil:
		p.rewrite(what)
	default:
		p.line("%s", what)
	}
}

// Within shows what is done within the step.
func (p *progress) Within(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pass(p.step + ": " + what)
}

// pass shows what is soon over: without a terminal only from time to time.
func (p *progress) pass(text string) {
	switch now := time.Now(); {
	case p.quiet:
	case p.terminal != nil:
		p.rewrite(text)
	case now.Sub(p.last) >= plainEvery:
		p.last = now
		p.line("%s", text)
	}
}

// Data shows how far a dataset is made.
func (p *progress) Data(table string, done, rows int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, before := fmt.Sprintf("making data: table %s, %d of %d rows", table, done, rows), p.last
	switch {
	case p.making == table && done == rows && !p.quiet && p.terminal == nil:
		p.line("%s", text) // else it would seem to stand still
		p.making = ""
	default:
		if p.pass(text); p.last != before && done < rows {
			p.making = table
		}
	}
}

// Trial adds a trial to the figures, which the next status brings to the terminal.
func (p *progress) Trial(run assay.Run, t assay.Trial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal != nil && !p.quiet {
		p.figures.add(run, t)
	}
}

// Measure shows what the runner does. That it waits is told once also to who wants no progress:
// it may take minutes.
func (p *progress) Measure(e runner.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.quiet && (e.Phase != runner.Waiting || p.phase == runner.Waiting):
		return
	case p.quiet:
		p.phase = e.Phase
		p.line("%s", doing(e))
		return
	case e.Phase >= runner.BudgetTooSmall:
		p.line("%s", doing(e))
		return
	case p.terminal != nil:
		columns, _ := p.size()
		p.rewrite(statusLine(e, columns))
		return
	}
	now := time.Now()
	if e.Phase == p.phase && now.Sub(p.last) < plainEvery {
		return
	}
	p.phase, p.last = e.Phase, now
	if e.Phase == runner.Measuring {
		p.line("measuring, %s%s", doing(e), joined("; ", remaining(e)))
		return
	}
	p.line("%s", doing(e))
}

// timeLeft returns how long measuring still takes; while that is unknown, all of the budget.
func timeLeft(e runner.Event) time.Duration {
	return max(0, cmp.Or(e.Total, e.Budget)-e.Done)
}

// remaining says how long measuring still takes; empty where that is unknown and nothing
// limits it. Until each operation was measured once, it is known that a run ends with its
// budget, and not how much earlier.
func remaining(e runner.Event) string {
	left := wording.Brief(timeLeft(e))
	switch {
	case timeLeft(e) == 0:
		return ""
	case e.Total == 0:
		return "at most " + left + " left"
	}
	return "about " + left + " left"
}

// joined is a text with what joins it to another one; empty where it is empty.
func joined(by, text string) string {
	if text == "" {
		return ""
	}
	return by + text
}

// statusLine returns how long it will take, a bar, and what is done. The bar is short where
// a terminal of so many columns has no room for what is done.
func statusLine(e runner.Event, columns int) string {
	width := 20
	if columns < 100 {
		width = 5
	}
	left := timeLeft(e)
	filled := 0
	if e.Done > 0 && cmp.Or(e.Total, e.Budget) > 0 {
		filled = int(time.Duration(width) * e.Done / (e.Done + left))
	}
	text := "[" + strings.Repeat("=", filled) + strings.Repeat(" ", width-filled) + "] " + doing(e)
	if said := remaining(e); said != "" {
		return said + " " + text
	}
	return text
}

func doing(e runner.Event) string {
	switch e.Phase {
	case runner.Preparing:
		return "preparing " + e.What
	case runner.Waiting:
		return "waiting for " + e.What
	case runner.Measuring:
		return fmt.Sprintf("round %d: %s", e.Round, e.What)
	case runner.BudgetTooSmall:
		return fmt.Sprintf("the budget of %s is too small for %s: some comparisons will stay undecided", wording.Brief(e.Budget), e.What)
	case runner.MachineBusy:
		return busyMachine(e.Load)
	case runner.LeftForLast:
		return fmt.Sprintf("the budget of %s is too small for all sizes: %s are measured last, if there is time", wording.Brief(e.Budget), e.What)
	}
	return e.What
}

// busyMachine says what others take of the machine, and what follows from that.
func busyMachine(load host.Load) string {
	text := fmt.Sprintf("this machine is busy: others take %.0f %% of it", 100*(load.Noise.Foreign+load.Noise.Steal))
	var users []string
	for _, u := range load.Users {
		users = append(users, fmt.Sprintf("%s %.0f %% of one processor", printable.String(u.Name), 100*u.Share))
	}
	if load.Noise.Steal > load.Noise.Foreign {
		users = append(users, "the hypervisor most of it")
	}
	if len(users) > 0 {
		text += " (" + strings.Join(users, ", ") + ")"
	}
	return text + ". Reads are compared by CPU time; all else is less sure, or takes longer"
}

// close ends the display and leaves nothing of the rewritten line. It may be
// called again.
func (p *progress) close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.status, p.quiet = "", true
}

// figuresSoFar are the lines of the answer that a run has so far: the same table as at its end.
type figuresSoFar struct {
	run    assay.Run
	trials []assay.Trial
	drawn  []string
	size   [2]int
	after  time.Time // when they are worked out again
}

// workedShare is the part of the time, at most, in which figures are worked out.
const workedShare = 0.02

// add keeps of a trial what figures are made of.
func (f *figuresSoFar) add(run assay.Run, t assay.Trial) {
	t.Samples, t.Histogram = nil, nil
	f.run, f.trials = run, append(f.trials, t)
}

// lines draws them with at most so many letters a line and that many lines.
func (f *figuresSoFar) lines(width, height int) []string {
	began, size := time.Now(), [2]int{width, height}
	if len(f.trials) == 0 || size == f.size && began.Before(f.after) {
		return slices.Clone(f.drawn)
	}
	result, err := analysis.New(f.run, func(yield func(assay.Trial, error) bool) {
		for _, t := range f.trials {
			if !yield(t, nil) {
				return
			}
		}
	})
	if err == nil {
		f.drawn, f.size = report.New(result).FigureLines(width, height), size
	}
	f.after = time.Now().Add(time.Duration(float64(time.Since(began)) / workedShare))
	return slices.Clone(f.drawn)
}
