//go:build unix

package main

import (
	"bufio"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"assay/internal/stat"
)

const (
	leftRuns   = 10
	leftBudget = "40s"
	// leftWithin is how far what is said may be from what it takes, as a share of it.
	leftWithin = 1.0 / 3
)

var leftPattern = regexp.MustCompile(`about ([0-9hms.µ]+) left`)

// forecast is what a run said about its end, and when.
type forecast struct {
	at   time.Time
	said time.Duration
}

// left watches runs of quick, and compares the time that each says is left with
// the time that it takes from then on.
func (t *tools) left() error {
	right, all := 0, 0
	for n := range leftRuns {
		said, ended, err := t.forecasts(fmt.Sprint("left-", n))
		if err != nil {
			return err
		}
		line := ""
		for _, f := range said {
			took := ended.Sub(f.at)
			all++
			if math.Abs((f.said - took).Seconds()) <= leftWithin*took.Seconds() {
				right++
			}
			line += fmt.Sprintf(" %s/%s", f.said, took.Round(100*time.Millisecond))
		}
		fmt.Printf("  said / took:%s\n", line)
	}
	say("times left that are right within a third", one(100*stat.Share(right, all).Center), "%", "at least 90", 90, 100)
	return nil
}

// forecasts runs quick, and returns what it says on standard error.
func (t *tools) forecasts(name string) (said []forecast, ended time.Time, err error) {
	command := exec.CommandContext(t.ctx, filepath.Join("bin", "assay"), "run", "quick", "--drivers", "mattn,modernc",
		"--only", "rows=100000", "--budget", leftBudget, "--store", filepath.Join(t.dir, name+".db"))
	stderr, err := command.StderrPipe()
	if err != nil {
		return nil, ended, err
	}
	if err := command.Start(); err != nil {
		return nil, ended, err
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		found := leftPattern.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		left, err := time.ParseDuration(found[1])
		if err != nil {
			return nil, ended, err
		}
		said = append(said, forecast{time.Now(), left})
	}
	return said, time.Now(), command.Wait()
}
