package tune

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"assay"
	"assay/internal/analysis/wording"
	"assay/kit/sqlite"
)

// Constraints holds what every candidate keeps.
type Constraints struct {
	Class  assay.Durability // at least
	Memory int64            // bytes that the caches of all connections may take, with what is mapped
	// Connections are the most that are open at the same time; each has a cache.
	Connections int
	// SingleProcess allows locks that no other process can pass.
	SingleProcess bool
	// Proven is what faults left of a class that the settings which it follows from
	// claim; nil: nothing was tried.
	Proven func(settings map[string]string, claimed assay.Durability) assay.Durability
	// Synced are the classes of a key-value store without sync ("0") and with it ("1").
	Synced map[string]assay.Durability
	// OwnFile says that the data are a user's file. To change what only a new file
	// takes, it would be rewritten, and that would be measured as the setting's gain.
	OwnFile bool
	// Unmapped says why the file is not to be mapped into memory; empty: it may be.
	Unmapped string
	// Drivers are the first, which is in use, and the others that may replace it.
	Drivers []string
}

// ClassOf is the durability that settings claim, as they are read back.
func ClassOf(effective map[string]string) assay.Durability {
	return assay.Durability(sqlite.Durability(effective))
}

// Classes are the names of the classes of durability that can be demanded.
func Classes() []string {
	var names []string
	for _, c := range assay.Durabilities[2:] {
		names = append(names, string(c))
	}
	return names
}

const (
	kib = 1 << 10
	mib = 1 << 20
	// worthwhile is by how much a larger cache or map has to exceed the current one.
	worthwhile = 1.5
)

// builder makes a space from what the current settings were read back as.
type builder struct {
	now map[string]string
	c   Constraints
	Space
}

// sqlite adds SQLite's settings.
func (s *builder) sqlite() error {
	effective, c := s.now, s.c
	if effective["memory"] == "1" || effective["immutable"] == "1" {
		return errors.New("the current profile keeps the database in memory or opens it immutable: there is nothing to tune")
	}
	if effective["read_only"] != "1" {
		if err := s.commit(); err != nil {
			return err
		}
	}
	if err := s.memory(); err != nil {
		return err
	}
	if !c.OwnFile && whole(effective["cache_size"]) <= 0 { // else it is counted in pages, and larger ones would take more memory
		s.words("page_size", "8192", "16384")
	}
	s.words("temp_store", "2")
	if effective["read_only"] != "1" {
		s.words("wal_autocheckpoint", "10000", "100")
		s.words("journal_size_limit", strconv.Itoa(64*mib))
	}
	if auto := effective["auto_vacuum"]; !c.OwnFile && auto != "" && auto != "0" {
		s.words("auto_vacuum", "0")
	}
	if c.SingleProcess && c.Connections == 1 {
		s.words("locking_mode", "exclusive")
	}
	if len(c.Drivers) > 1 {
		s.words("driver", c.Drivers[1:]...)
	}
	return nil
}

// words adds a setting with values other than the current one.
func (s *builder) words(name string, values ...string) {
	f := Factor{Name: name, Levels: []Level{{}}}
	for _, value := range values {
		if value != s.now[name] {
			f.Levels = append(f.Levels, Level{Settings: map[string]string{name: value}})
		}
	}
	s.add(f)
}

// add adds the factors of which there is a choice, or whose first level is not the current one.
func (s *builder) add(factors ...Factor) {
	for _, f := range factors {
		if len(f.Levels) > 1 || f.Levels[0].Settings != nil {
			s.Factors = append(s.Factors, f)
		}
	}
}

// class is the durability of a journal mode with a level of synchronous, as proved.
func (s *builder) class(journal, synchronous string) assay.Durability {
	settings := s.pair(journal, synchronous)
	return s.proven(settings, ClassOf(settings))
}

// proven returns what is left of a class that settings claim.
func (s *builder) proven(settings map[string]string, claimed assay.Durability) assay.Durability {
	if s.c.Proven != nil {
		return s.c.Proven(settings, claimed)
	}
	return claimed
}

// commit adds how commits reach the disk, as one factor: of each journal mode the
// weakest synchronous that the class allows. Neither setting promises anything
// without the other. Other classes are there for their price.
func (s *builder) commit() error {
	f := Factor{Name: "journal_mode, synchronous"}
	now := s.pair(s.now["journal_mode"], s.now["synchronous"])
	if s.class(s.now["journal_mode"], s.now["synchronous"]).AtLeast(s.c.Class) {
		f.Levels = append(f.Levels, Level{})
	} else {
		s.StartIsCurrent = false
	}
	for _, journal := range []string{"wal", "truncate", "persist", "delete"} {
		level, ok := s.weakest(journal, s.c.Class)
		if ok && !maps.Equal(level.Settings, now) && (journal != "delete" || len(f.Levels) == 0) {
			f.Levels = append(f.Levels, level)
		}
	}
	if len(f.Levels) == 0 {
		return fmt.Errorf("no journal mode keeps durability %s: assay crash refuted all that claim it", s.c.Class)
	}
	var prices []Level
	for _, synchronous := range []string{"0", "1", "2"} {
		level := Level{Settings: s.pair("wal", synchronous), Price: string(s.class("wal", synchronous))}
		candidate := slices.ContainsFunc(f.Levels, func(l Level) bool { return maps.Equal(l.Settings, level.Settings) })
		if !candidate && !maps.Equal(level.Settings, now) {
			prices = append(prices, level)
		}
	}
	f.Levels = append(f.Levels, s.nearest(prices)...)
	s.add(f)
	return nil
}

// nearest are, of levels that are there for their price, those of the classes next to the
// demanded one: of the weaker classes the strongest, and of the stronger the weakest.
func (s *builder) nearest(prices []Level) []Level {
	at := func(l Level) int {
		return slices.Index(assay.Durabilities, assay.Durability(l.Price)) - slices.Index(assay.Durabilities, s.c.Class)
	}
	below, above := -len(assay.Durabilities), len(assay.Durabilities)
	for _, l := range prices {
		switch distance := at(l); {
		case distance < 0:
			below = max(below, distance)
		case distance > 0:
			above = min(above, distance)
		}
	}
	return slices.DeleteFunc(prices, func(l Level) bool {
		return at(l) != below && at(l) != above || !assay.Durability(l.Price).AtLeast(assay.Process)
	})
}

func (s *builder) pair(journal, synchronous string) map[string]string {
	return map[string]string{"journal_mode": journal, "synchronous": synchronous}
}

// weakest is the level of a journal mode whose commits cost least of those that keep
// a class.
func (s *builder) weakest(journal string, class assay.Durability) (Level, bool) {
	for _, synchronous := range []string{"0", "1", "2", "3"} {
		if s.class(journal, synchronous).AtLeast(class) {
			return Level{Settings: s.pair(journal, synchronous)}, true
		}
	}
	return Level{}, false
}

// minPages is the smallest cache that a connection of SQLite has.
const minPages = 10

// memory adds the cache and the memory map. The largest of both together keep to the
// bound, so that every combination does.
func (s *builder) memory() error {
	bound, connections := s.c.Memory, int64(max(1, s.c.Connections))
	cache, mapped := cacheOf(s.now), whole(s.now["mmap_size"])
	cacheFactor, mapFactor := Factor{Name: "cache_size", Levels: []Level{{}}}, Factor{Name: "mmap_size", Levels: []Level{{}}}
	half := bound / 2 / connections
	if cache*connections+mapped > bound {
		if least := minPages * cmp.Or(whole(s.now["page_size"]), 4096); half < least {
			return fmt.Errorf("the memory of %s is too little for SQLite with %s: it takes at least %s", amount(bound), wording.Plural(int(connections), "connection"), amount(2*connections*least))
		}
		s.StartIsCurrent = false
		cache, mapped = min(cache, half), 0
		cacheFactor.Levels, mapFactor.Levels = []Level{cacheLevel(cache)}, []Level{{Settings: map[string]string{"mmap_size": "0"}}}
	}
	half = min(half, (bound-mapped)/connections) // beside what is mapped now
	largest := cache
	for _, size := range []int64{half, half / 4} {
		if float64(size) > worthwhile*float64(cache) {
			cacheFactor.Levels = append(cacheFactor.Levels, cacheLevel(size))
			largest = max(largest, size)
		}
	}
	if size := (bound - largest*connections) / mib * mib; s.c.Unmapped == "" && size >= 4*mib && float64(size) > worthwhile*float64(mapped) {
		mapFactor.Levels = append(mapFactor.Levels, Level{Settings: map[string]string{"mmap_size": strconv.FormatInt(size, 10)}})
	}
	s.add(cacheFactor, mapFactor)
	return nil
}

// cacheOf is the cache of a connection with some settings, in bytes.
func cacheOf(settings map[string]string) int64 {
	size := whole(settings["cache_size"])
	if size < 0 {
		return -size * kib
	}
	return size * cmp.Or(whole(settings["page_size"]), 4096)
}

func cacheLevel(size int64) Level {
	return Level{Settings: map[string]string{"cache_size": strconv.FormatInt(-size/kib, 10)}}
}

func whole(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // what SQLite read back is a number, or was not read back
	return n
}

// Without is the space without a level that cannot be had here; a factor that has no
// other goes too.
func (s Space) Without(factor, level int) Space {
	f := s.Factors[factor]
	s.Factors = slices.Clone(s.Factors)
	f.Levels = slices.Delete(slices.Clone(f.Levels), level, level+1)
	s.Factors[factor] = f
	if len(f.Levels) == 1 && f.Levels[0].Settings == nil {
		s.Factors = slices.Delete(s.Factors, factor, factor+1)
	}
	return s
}
