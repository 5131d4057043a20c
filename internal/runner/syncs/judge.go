package syncs

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Verdict says what a trace shows of units of work that were acknowledged one
// after the other.
type Verdict struct {
	Units   int // acknowledged
	Idle    int // more units, which changed nothing: see Judge
	Covered int // whose last write a completed sync covered before
	// Syncs is how many syncs completed for each unit, on the mean, idle ones included.
	Syncs float64
	// Calls are the system calls of all units, by name.
	Calls map[string]int
	// Mapped are files whose memory was mapped to be written: what is stored
	// there the trace does not show.
	Mapped []string
	// Hidden says why the trace cannot tell; empty: it can.
	Hidden string
}

// The reasons why a trace cannot tell.
const (
	hiddenAsync = "the trace does not show what io_uring and io_submit write"
	hiddenRange = "msync was called for parts of a mapped file, and the trace does not show which parts were stored to"
)

// Answer is yes where each unit was synced before it was acknowledged, no where
// none was, otherwise how many of how many; empty where the trace cannot tell.
func (v Verdict) Answer() string {
	switch {
	case v.Units == 0 || v.Hidden != "":
		return ""
	case v.Covered == v.Units:
		return "yes"
	case v.Covered == 0:
		return "no"
	}
	return fmt.Sprintf("%d of %d", v.Covered, v.Units)
}

// Evidence returns what the verdict rests on, in words.
func (v Verdict) Evidence() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(v.Calls)) {
		parts = append(parts, fmt.Sprintf("%d %s", v.Calls[name], name))
	}
	text := fmt.Sprintf("%d commits: %s", v.Units, strings.Join(parts, ", "))
	if len(parts) == 0 {
		text = fmt.Sprintf("%d commits without a write or sync", v.Units)
	}
	if v.Idle > 0 {
		text += fmt.Sprintf("; %d more changed nothing", v.Idle)
	}
	if len(v.Mapped) > 0 {
		text += "; stores into mapped memory (" + strings.Join(v.Mapped, ", ") + ") are not seen"
	}
	return text
}

// Judge looks at the units of a trace. They begin where the file marks is
// opened, and each ends with a write to it, its acknowledgement. A unit is
// covered where a sync of something that it wrote completed since the
// acknowledgement before it, and each file in folder that commits write was
// synced after its last write. What commits write is what more than half of the
// units do: other files are written in the background, where the same data are
// in a log already. Files that differ in a number only count as one there, for a
// log can go on in a new file. Where all that changes is written before the unit
// ends (direct), one that wrote and synced nothing changed nothing: it is idle.
func Judge(calls []Call, folder, marks string, direct bool) Verdict {
	v := Verdict{Calls: map[string]int{}}
	units := split(calls, folder, marks)
	if all := len(units); direct {
		units = slices.DeleteFunc(units, unit.idle)
		v.Idle = all - len(units)
	}
	writers := map[string]int{} // by family of files, how many units write it
	for _, u := range units {
		families := map[string]bool{}
		for file := range u.written {
			families[family(file)] = true
		}
		for f := range families {
			writers[f]++
		}
	}
	total := 0
	for _, u := range units {
		covered, hidden := u.covered(func(file string) bool { return 2*writers[family(file)] > len(units) })
		if covered {
			v.Covered++
		}
		v.Hidden = cmp.Or(v.Hidden, hidden)
		total += u.syncs
		for name, n := range u.calls {
			v.Calls[name] += n
		}
	}
	v.Units = len(units)
	v.Syncs = float64(total) / float64(max(1, v.Units+v.Idle))
	for _, c := range calls {
		if c.Kind == UnseenAll {
			v.Hidden = hiddenAsync
		}
		if c.Kind == Map && inside(c.File, folder) && !slices.Contains(v.Mapped, filepath.Base(c.File)) {
			v.Mapped = append(v.Mapped, filepath.Base(c.File))
		}
	}
	slices.Sort(v.Mapped)
	return v
}

var numbered = regexp.MustCompile(`[0-9a-fA-F]{8,}|[0-9]+`)

// family is a file's path with # for the numbers in its name.
func family(file string) string {
	return filepath.Join(filepath.Dir(file), numbered.ReplaceAllString(filepath.Base(file), "#"))
}

// unit holds what was called between two acknowledgements.
type unit struct {
	written map[string]int // where the last write to each file ended
	synced  map[string]int // where the last sync of each file began, and it completed
	all     int            // where the last sync of all files began; 0: there was none
	mapped  bool           // a whole mapping was synced
	syncs   int
	parts   int // of the syncs are of a part of a mapping
	unseen  bool
	calls   map[string]int
}

// idle reports a unit without a write and a sync.
func (u unit) idle() bool { return !u.unseen && len(u.written) == 0 && u.syncs == 0 }

// covered reports whether the unit was on the disk before it was acknowledged,
// and why that cannot be told.
func (u unit) covered(committing func(file string) bool) (covered bool, hidden string) {
	if u.unseen {
		return false, hiddenAsync
	}
	something := u.mapped || len(u.written) == 0 && u.syncs > u.parts
	for file, ended := range u.written {
		began, synced := u.synced[file]
		durable := synced && began >= ended || u.all > ended
		if !durable && committing(file) {
			return false, ""
		}
		something = something || durable
	}
	if !something && u.parts > 0 {
		return false, hiddenRange
	}
	return something, ""
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
		relevant := c.Kind == Unseen || inside(c.File, folder)
		if c.Kind == SyncAll {
			relevant = c.File == "" || c.File == folder || relevant
		}
		if relevant && c.Ended <= to {
			u.add(c, from)
		}
	}
	return u
}

func (u *unit) add(c Call, from int) {
	if c.Kind == Unseen {
		u.unseen = true
		return
	}
	if c.Kind == Open || c.Kind == Map || c.Kind == Truncate {
		return
	}
	if c.Kind != SyncWrite { // a write, which is counted already
		u.calls[c.Name]++
	}
	if c.Kind == Write {
		u.written[c.File] = c.Ended
		return
	}
	if c.Kind == Flush || c.Began <= from {
		return // it promises nothing, or may have missed what was written since
	}
	u.syncs++
	switch c.Kind {
	case Sync:
		u.synced[c.File] = c.Began
	case SyncWrite:
		u.synced[c.File] = c.Ended
	case SyncAll:
		u.all = c.Began
	case SyncMap:
		u.synced[c.File], u.mapped = c.Began, true
	case SyncPart:
		u.parts++
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
