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
// opened, and each ends with a write to it, its acknowledgement. A unit is
// covered where at least one sync completed since the acknowledgement before it,
// and each file in folder that commits write was synced after its last write.
// What commits write is what more than half of the units do: other files are
// written in the background, where the same data are in a log already.
func Judge(calls []Call, folder, marks string) Verdict {
	v := Verdict{Calls: map[string]int{}}
	units := split(calls, folder, marks)
	writers := map[string]int{} // by file, how many units write it
	for _, u := range units {
		for file := range u.written {
			writers[file]++
		}
	}
	total := 0
	for _, u := range units {
		covered := u.syncs > 0
		for file, ended := range u.written {
			began, synced := u.synced[file]
			if 2*writers[file] > len(units) && (!synced || began < ended) {
				covered = false
			}
		}
		if covered {
			v.Covered++
		}
		total += u.syncs
		v.Unseen = v.Unseen || u.unseen
		for name, n := range u.calls {
			v.Calls[name] += n
		}
	}
	if v.Units = len(units); v.Units > 0 {
		v.Syncs = float64(total) / float64(v.Units)
	}
	for _, c := range calls {
		if c.Kind == Map && inside(c.File, folder) && !slices.Contains(v.Mapped, filepath.Base(c.File)) {
			v.Mapped = append(v.Mapped, filepath.Base(c.File))
		}
	}
	slices.Sort(v.Mapped)
	return v
}

// unit is what was called between two acknowledgements.
type unit struct {
	written map[string]int // where the last write to each file ended
	synced  map[string]int // where the last sync of each file began, and it completed
	syncs   int
	unseen  bool
	calls   map[string]int
}

// split cuts a trace into its units.
func split(calls []Call, folder, marks string) []unit {
	var units []unit
	last := -1
	for i, c := range calls {
		if c.File != marks {
			continue
		}
		if c.Kind == Write && last >= 0 {
			units = append(units, newUnit(calls[last+1:i], folder, calls[last].Ended, c.Began))
		}
		last = i
	}
	return units
}

func newUnit(calls []Call, folder string, from, to int) unit {
	u := unit{written: map[string]int{}, synced: map[string]int{}, calls: map[string]int{}}
	for _, c := range calls {
		anonymous := c.Kind == SyncMap || c.Kind == Unseen
		if (anonymous || inside(c.File, folder)) && c.Ended <= to {
			u.add(c, from)
		}
	}
	return u
}

func (u *unit) add(c Call, from int) {
	switch c.Kind {
	case Unseen:
		u.unseen = true
	case Write:
		u.written[c.File] = c.Ended
		u.calls[c.Name]++
	case Flush:
		u.calls[c.Name]++
	case Sync, SyncMap:
		byItself := c.Kind == Sync && !strings.HasPrefix(c.Name, "f") // a write, which is counted already
		if !byItself {
			u.calls[c.Name]++
		}
		if c.Began <= from {
			return // it may have missed what was written since
		}
		u.syncs++
		u.synced[c.File] = c.Began
		if byItself {
			u.synced[c.File] = c.Ended
		}
	}
}

// inside reports whether a file is one of the folder's that holds data.
func inside(file, folder string) bool {
	return strings.HasPrefix(file, folder+string(filepath.Separator)) && !rebuilt(filepath.Base(file))
}

// rebuilt reports files that hold no data, by their engines' documentation:
// logs for people, locks, and SQLite's index of its write-ahead log.
func rebuilt(name string) bool {
	return name == "LOG" || name == "LOCK" || name == "lock.mdb" || strings.HasSuffix(name, "-shm")
}
