//go:build unix

package runner

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"assay"
	"assay/internal/advisories"
)

// defaultCache is SQLite's page cache without any setting: cache_size -2000,
// in KiB (https://www.sqlite.org/pragma.html#pragma_cache_size).
const defaultCache = 2000 << 10

// layoutWarning is about two builds of one driver, which can differ through
// the order of their functions alone.
func (j *job) layoutWarning() []assay.Warning {
	fixed := j.program.FixedLayout
	if fixed == "" {
		return nil
	}
	return []assay.Warning{{Code: "layout",
		Evidence: "two builds of " + j.Cell.Driver + " are compared, and the layout of " + fixed + " is the same in all launches",
		Advice:   "a difference of a few percent, up to ten, can be the layout alone"}}
}

// knownBugs says which faults the build has, of those that its settings do not rule out.
func knownBugs(target assay.Target, settings []assay.Setting) []assay.Warning {
	journal := slices.IndexFunc(settings, func(s assay.Setting) bool { return s.Name == "journal_mode" })
	var all []assay.Warning
	for _, bug := range advisories.OfTarget(target) {
		if bug.WAL && journal >= 0 && settings[journal].Effective != "wal" {
			continue
		}
		all = append(all, assay.Warning{Code: "known-bug", Evidence: fmt.Sprintf("%s %s: %s", target.Engine, target.EngineVersion, bug.Sentence()),
			Advice: "use a build with " + strings.Join(bug.Fixed, " or ") + " or newer: " + bug.URL})
	}
	return all
}

// cacheWarning says where settings of the cache cannot matter.
func (j *job) cacheWarning() []assay.Warning {
	info, err := os.Stat(j.data.Path)
	if err != nil || info.Size() > defaultCache {
		return nil
	}
	requested := j.Profile.Requested()
	var tuned []string
	for _, name := range []string{"cache_size", "mmap_size"} {
		if _, asked := requested[name]; asked {
			tuned = append(tuned, name)
		}
	}
	if len(tuned) == 0 {
		return nil
	}
	return []assay.Warning{{Code: "inside-default-cache",
		Evidence: fmt.Sprintf("the data are %d KB, and SQLite's default cache holds %d KB: %s cannot matter",
			info.Size()/1000, defaultCache/1000, strings.Join(tuned, " and ")),
		Advice: "measure on a table larger than the cache"}}
}

// storageWarning says why no setting makes commits survive a power cut here.
func (in *instance) storageWarning(op assay.Operation) []assay.Warning {
	if !op.Changes || in.r.storage.loss == "" {
		return nil
	}
	return []assay.Warning{{Code: "storage-loses-syncs",
		Evidence: "whatever the settings are, synced commits need not survive a power cut: " + in.r.storage.loss,
		Advice:   "set XDG_CACHE_HOME to a folder on a local disk"}}
}

// txlock is how a DSN says how transactions begin.
var txlock = regexp.MustCompile(`(?i)\b_txlock=\w+`)

// BeginWarning says where a DSN asks for a way to begin transactions: that is not what is
// measured.
func BeginWarning(c assay.Case) []assay.Warning {
	asked := txlock.FindString(c.Profile.Raw[c.Cell.Driver])
	if asked == "" || c.Cell.Begin != "" || !c.Operation.Transacts() {
		return nil
	}
	return []assay.Warning{{Code: "begin-immediate",
		Evidence: fmt.Sprintf("the DSN has %s, and every transaction begins with BEGIN IMMEDIATE whatever it says", asked),
		Advice:   "to compare ways to begin transactions, give the plan begin: [deferred, immediate]"}}
}
