package syncs

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// process holds what the threads of one process share.
type process struct {
	synced map[string]bool // descriptors that were opened so that each write syncs
	maps   []mapping       // newest last
}

// mapping is a file in shared memory that can be written.
type mapping struct {
	file         string
	start, bytes uint64
}

// process returns the process of a thread. The first lines of a new one can
// stand before the end of the call that started it.
func (p *parser) process(thread string) *process {
	if known := p.processes[thread]; known != nil {
		return known
	}
	first, starter := pending{}, ""
	for by, call := range p.open {
		if starts(call.name) && (starter == "" || call.began < first.began) {
			first, starter = call, by
		}
	}
	if starter == "" {
		p.processes[thread] = &process{synced: map[string]bool{}}
		return p.processes[thread]
	}
	p.inherit(p.processes[starter], thread, first.text)
	return p.processes[thread]
}

func starts(call string) bool {
	return call == "clone" || call == "clone3" || call == "fork" || call == "vfork"
}

// inherit notes a thread that a process started: one of its own, or a copy of
// the process.
func (p *parser) inherit(parent *process, thread, flags string) {
	if p.processes[thread] != nil {
		return
	}
	parent = cmp.Or(parent, &process{synced: map[string]bool{}})
	if !strings.Contains(flags, "CLONE_FILES") {
		parent = &process{synced: maps.Clone(parent.synced), maps: slices.Clone(parent.maps)}
	}
	p.processes[thread] = parent
}

var (
	mappedPattern = regexp.MustCompile(`^[^,]+, (\d+), .*, \d+<(/[^>]*)>, (?:0x)?[0-9a-f]+\) += `)
	rangePattern  = regexp.MustCompile(`^0x([0-9a-f]+), (\d+)`)
	movedPattern  = regexp.MustCompile(`^0x([0-9a-f]+), \d+, (\d+)`)
)

// mapped notes a mapping and returns its file; empty where stores into it do not
// reach one.
func (o *process) mapped(text, result string) string {
	m := mappedPattern.FindStringSubmatch(text)
	if m == nil || !strings.Contains(text, "MAP_SHARED") || !strings.Contains(text, "PROT_WRITE") {
		return ""
	}
	o.maps = append(o.maps, mapping{file: m[2], start: number(strings.TrimPrefix(result, "0x"), 16), bytes: number(m[1], 10)})
	return m[2]
}

// remapped notes that a mapping was moved or made longer.
func (o *process) remapped(text, result string) {
	m := movedPattern.FindStringSubmatch(text)
	if m == nil {
		return
	}
	start := number(m[1], 16)
	if i := o.at(start); i >= 0 && o.maps[i].start == start {
		o.maps = append(o.maps, mapping{file: o.maps[i].file, start: number(strings.TrimPrefix(result, "0x"), 16), bytes: number(m[2], 10)})
	}
}

// syncedMap returns the file of the range that an msync is about, and whether
// that is all of its mapping.
func (o *process) syncedMap(text string) (Kind, string) {
	m := rangePattern.FindStringSubmatch(text)
	if m == nil {
		return SyncPart, ""
	}
	start, bytes := number(m[1], 16), number(m[2], 10)
	i := o.at(start)
	switch {
	case i < 0:
		return SyncPart, ""
	case start == o.maps[i].start && bytes >= o.maps[i].bytes:
		return SyncMap, o.maps[i].file
	}
	return SyncPart, o.maps[i].file
}

// at is the newest mapping that has an address, -1 where none has.
func (o *process) at(address uint64) int {
	for i := len(o.maps) - 1; i >= 0; i-- {
		if m := o.maps[i]; address >= m.start && address-m.start < m.bytes {
			return i
		}
	}
	return -1
}

// number is a number of the trace; what is none is 0, which no mapping has.
func number(text string, base int) uint64 {
	n, _ := strconv.ParseUint(text, base, 64)
	return n
}
