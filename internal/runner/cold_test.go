//go:build linux

package runner

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"assay"
)

const coldReads = `name: cold
drivers: [honest, store]
workload: {records: {n: 30000, key: "printf('%016x', hash(:i))", value: blob(100)}}
operations:
  get: {kv: get, cache: [cold, warm], count: 40}
`

// With a cold cache, a database that is read as it is asked reads from storage;
// one that reads everything when it is opened is not-applied.
func TestCold(t *testing.T) {
	const tmpfs = 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs(t.TempDir(), &fs); err != nil || fs.Type == tmpfs {
		t.Skip("temporary files are in memory: nothing can be cold")
	}
	b := newBench(t, coldReads)
	b.run(t)
	var got []string
	for _, trial := range b.trials {
		fetches := "fetches nothing"
		if trial.Figures["fetched-B/op"] >= minFetched { // the worker may fetch a page of its program at any time
			fetches = "fetches"
		}
		got = append(got, strings.Join([]string{trial.Cell.Driver, trial.Cell.Params["cache"], string(trial.Outcome), string(trial.Mode), fetches}, " "))
		if trial.Outcome == assay.NotApplied && !strings.Contains(trial.Reason, "a cold cache was asked for") {
			t.Error(trial.Reason)
		}
		if trial.Digest == "" {
			t.Errorf("%s is not verified", got[len(got)-1])
		}
	}
	slices.Sort(got)
	same(t, "trials", slices.Compact(got), []string{
		"honest cold ok blocks fetches",
		"honest warm ok windows fetches nothing",
		"store cold not-applied blocks fetches nothing",
		"store warm ok windows fetches nothing",
	})
}
