//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"assay/internal/stat"
)

// Windows of a run are short, so that what drifts is alike for all. A long one shows what
// the caches of the processor lose meanwhile to the other instances.
const (
	shortWindow    = 5 * time.Millisecond
	longWindow     = 100 * time.Millisecond
	lengthRounds   = 40
	lengthsAgainst = "mattn" // whose figures those of the others are compared with
)

// lengths compares point reads in short windows with those in long ones: the figures, and
// their ratios.
func (t *tools) lengths() error {
	var all []pair
	for _, driver := range []string{lengthsAgainst, "modernc", "ncruces", "sqlite-c"} {
		c, err := pointRead(driver)
		if err != nil {
			return err
		}
		p, err := t.pointReads(driver, c)
		if err != nil {
			return fmt.Errorf("windows of %s: %w", driver, err)
		}
		all = append(all, p)
	}
	figures, ratios := map[string][]float64{}, map[string][]float64{}
	for launch := range launches {
		short, long, err := t.lengthsOf(all, launch)
		if err != nil {
			return err
		}
		for _, p := range all {
			longer := short[p.name] / long[p.name]
			figures[p.name] = append(figures[p.name], longer)
			ratios[p.name] = append(ratios[p.name], longer/(short[lengthsAgainst]/long[lengthsAgainst]))
		}
	}
	windows := fmt.Sprintf("windows of %s / %s", shortWindow, longWindow)
	for _, p := range all {
		say("point reads of "+p.name+", "+windows, stat.LogInterval(figures[p.name]), "", "1 to 1.2", 1, 1.2)
	}
	for _, p := range all[1:] {
		say("ratio "+p.name+" / "+lengthsAgainst+", "+windows, stat.LogInterval(ratios[p.name]), "", "0.93 to 1.07", 0.93, 1.07)
	}
	return nil
}

// lengthsOf measures one launch of workers whose instances are alive together. It returns
// ns per operation by driver.
func (t *tools) lengthsOf(all []pair, launch int) (short, long map[string]float64, err error) {
	var loops []*assayLoop
	for _, p := range all {
		path := filepath.Join(t.dir, p.name+"-lengths.db")
		if err := p.copy(path); err != nil {
			return nil, nil, err
		}
		defer os.Remove(path)
		loop, err := t.startWorker(p, p.programs[launch%len(p.programs)].worker, path)
		if err != nil {
			return nil, nil, err
		}
		defer loop.worker.Kill()
		loops = append(loops, loop)
	}
	short, long = map[string]float64{}, map[string]float64{}
	for round := range lengthRounds {
		for window, sums := range map[time.Duration]map[string]float64{shortWindow: short, longWindow: long} {
			for _, k := range rand.Perm(len(all)) {
				n, took, err := loops[k].window(window, rand.IntN(all[k].length))
				if err != nil {
					return nil, nil, err
				}
				if round > 0 { // the first is the warm-up
					sums[all[k].name] += float64(took) / float64(n)
				}
			}
		}
	}
	return short, long, nil
}
