package syncs

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Verdict says what a trace shows of units of work that were acknowledged one
// after the other.
type Verdict struct {
	Units   int // acknowledged
	Covered int // whose last write a completed sync covered before
	// Syncs is how many syncs completed for each unit, on the mean.
	Syncs float64
	// Calls are the system calls of all units, by name.
	Calls map[string]int
	// Mapped are files whose memory was mapped to be written: what is stored
	// there the trace does not show.
	Mapped []string
	// Unseen tells that calls were made whose writes the trace does not show.
	Unseen bool
}

// Answer is yes where each unit was synced before it was acknowledged, no where
// none was, otherwise how many of how many; empty where the trace cannot tell.
func (v Verdict) Answer() string {
	switch {
	case v.Units == 0 || v.Unseen:
		return ""
	case v.Covered == v.Units:
		return "yes"
	case v.Covered == 0:
		return "no"
	}
	return fmt.Sprintf("%d of %d", v.Covered, v.Units)
}

// Evidence is what the verdict rests on, in words.
func (v Verdict) Evidence() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v.Calls)) {
		parts = append(parts, fmt.Sprintf("%d %s", v.Calls[name], name))
	}
	text := fmt.Sprintf("%d commits: %s", v.Units, strings.Join(parts, ", "))
	if len(parts) == 0 {
		text = fmt.Sprintf("%d commits without a write or sync", v.Units)
	}
	if len(v.Mapped) > 0 {
		text += "; stores into mapped memory (" + strings.Join(v.Mapped, ", ") + ") are not seen"
	}
	return text
}

// Judge looks at the units of a trace. They begin where the file marks is
// opened, and each ends with a write to it, its acknowledgement. A unit is covered where at least one sync
// completed since the acknowledgement before it, and each file in folder that
// was written since then was synced after its last write. Files that hold no
// data do not count.
func Judge(calls []Call, folder, marks string) Verdict {
	j := judge{Verdict: Verdict{Calls: map[string]int{}}, folder: folder, written: map[string]int{}}
	last := -1
	for i, c := range calls {
		if c.File == marks && c.Kind == Write && last >= 0 {
			j.unit(calls[last+1:i], calls[last].Ended, c.Began)
		}
		if c.File == marks {
			last = i
		}
		if c.Kind == Map && j.inside(c.File) && !slices.Contains(j.Mapped, filepath.Base(c.File)) {
			j.Mapped = append(j.Mapped, filepath.Base(c.File))
		}
	}
	slices.Sort(j.Mapped)
	if j.Units > 0 {
		j.Syncs = float64(j.syncs) / float64(j.Units)
	}
	return j.Verdict
}

type judge struct {
	Verdict
	folder  string
	written map[string]int // where the last write to each file ended
	syncs   int
}

func (j *judge) inside(file string) bool {
	return strings.HasPrefix(file, j.folder+string(filepath.Separator)) && !rebuilt(filepath.Base(file))
}

// rebuilt reports files that hold no data, by their engines' documentation:
// logs for people, locks, and SQLite's index of its write-ahead log.
func rebuilt(name string) bool {
	return name == "LOG" || name == "LOCK" || name == "lock.mdb" || strings.HasSuffix(name, "-shm")
}

// unit judges the calls between two acknowledgements.
func (j *judge) unit(calls []Call, from, to int) {
	clear(j.written)
	syncs := 0
	synced := map[string]int{} // where the last sync of each file began
	for _, c := range calls {
		relevant := c.Kind == SyncMap || c.Kind == Unseen || j.inside(c.File)
		if !relevant || c.Ended > to {
			continue
		}
		j.Unseen = j.Unseen || c.Kind == Unseen
		switch c.Kind {
		case Write:
			j.written[c.File] = c.Ended
			j.Calls[c.Name]++
		case Flush:
			j.Calls[c.Name]++
		case Sync, SyncMap:
			byItself := c.Kind == Sync && !strings.HasPrefix(c.Name, "f") // a write, which is counted already
			if !byItself {
				j.Calls[c.Name]++
			}
			if c.Began <= from {
				continue
			}
			syncs++
			synced[c.File] = c.Began
			if byItself {
				synced[c.File] = c.Ended
			}
		}
	}
	covered := syncs > 0
	for file, ended := range j.written {
		began, ok := synced[file]
		if !ok || began < ended {
			covered = false
		}
	}
	j.Units++
	j.syncs += syncs
	if covered {
		j.Covered++
	}
}
