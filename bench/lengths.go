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
	drivers := []string{lengthsAgainst, "modernc", "ncruces", "sqlite-c"}
	figures, ratios := map[string][]float64{}, map[string][]float64{}
	for launch := range launches {
		short, long, err := t.lengthsOf(drivers, launch)
		if err != nil {
			return err
		}
		for _, driver := range drivers {
			figures[driver] = append(figures[driver], short[driver]/long[driver])
			ratios[driver] = append(ratios[driver], short[driver]/short[lengthsAgainst]/(long[driver]/long[lengthsAgainst]))
		}
	}
	windows := fmt.Sprintf("windows of %s / %s", shortWindow, longWindow)
	for _, driver := range drivers {
		say("point reads of "+driver+", "+windows, stat.LogInterval(figures[driver]), "", "1 to 1.2", 1, 1.2)
	}
	for _, driver := range drivers[1:] {
		say("ratio "+driver+" / "+lengthsAgainst+", "+windows, stat.LogInterval(ratios[driver]), "", "0.93 to 1.07", 0.93, 1.07)
	}
	return nil
}

// lengthsOf measures one launch of several drivers whose instances are alive together. It
// returns ns per operation by driver.
func (t *tools) lengthsOf(drivers []string, launch int) (short, long map[string]float64, err error) {
	loops, length := map[string]*assayLoop{}, 0
	for _, driver := range drivers {
		c, err := pointRead(driver)
		if err != nil {
			return nil, nil, err
		}
		p, err := t.pointReads(driver, c)
		if err != nil {
			return nil, nil, err
		}
		path := filepath.Join(t.dir, driver+"-lengths.db")
		if err := p.copy(path); err != nil {
			return nil, nil, err
		}
		defer os.Remove(path)
		if loops[driver], err = t.startWorker(p, p.programs[launch%len(p.programs)].worker, path); err != nil {
			return nil, nil, err
		}
		defer loops[driver].worker.Kill()
		length = p.length
	}
	short, long = map[string]float64{}, map[string]float64{}
	for round := range lengthRounds {
		for window, sums := range map[time.Duration]map[string]float64{shortWindow: short, longWindow: long} {
			for _, k := range rand.Perm(len(drivers)) {
				n, took, err := loops[drivers[k]].window(window, rand.IntN(length))
				if err != nil {
					return nil, nil, err
				}
				if round > 0 { // the first is the warm-up
					sums[drivers[k]] += float64(took) / float64(n)
				}
			}
		}
	}
	return short, long, nil
}
