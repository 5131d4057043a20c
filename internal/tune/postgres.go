package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/emit"
	"assay/internal/lab"
	"assay/kit/kv"
	"assay/kit/postgres"
)

// The settings of PostgreSQL that others of this package name.
const (
	sharedBuffers = "shared_buffers"
	workMem       = "work_mem"
)

// What PostgreSQL starts with at least, and the size of a page of its cache.
const (
	minSharedBuffers = 128 * kib
	minWorkMem       = 64 * kib
	serverPage       = 8 * kib
)

// PostgreSQL is the space of the settings of a server that keeps the constraints.
// effective are the current settings as they are read back, in their normal form.
func PostgreSQL(effective map[string]string, c Constraints) (Space, error) {
	s := &builder{now: effective, c: c, Space: Space{StartIsCurrent: true}}
	if err := s.serverCommit(); err != nil {
		return Space{}, err
	}
	if err := s.serverMemory(); err != nil {
		return Space{}, err
	}
	s.words("wal_compression", "lz4", "pglz", "off")
	s.words("effective_io_concurrency", "200", "16")
	s.words("jit", "off", "on")
	return s.Space, nil
}

// CommitSettings are those that the durability of a server's commits follows from, with
// what they are in a new cluster.
func CommitSettings() map[string]string {
	return map[string]string{"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
}

// ServerClass is the durability that a server's settings claim, as they are read back.
func ServerClass(effective map[string]string) assay.Durability {
	return assay.Durability(postgres.Durability(effective))
}

// serverCommit adds synchronous_commit. A value that keeps the class is a candidate
// where it promises no more than the current one; the class beside the demanded one is
// there for its price. No level turns fsync or full_page_writes off: a power cut could
// then damage the whole cluster.
func (s *builder) serverCommit() error {
	now := map[string]string{}
	for name := range CommitSettings() {
		now[name] = s.now[name]
	}
	nowClass := s.proven(now, ServerClass(now))
	kept := nowClass.AtLeast(s.c.Class)
	f := Factor{Name: "synchronous_commit"}
	if kept {
		f.Levels = []Level{{}}
	}
	var prices []Level
	for _, value := range []string{"off", "on"} { // the weakest first
		settings := CommitSettings()
		settings["synchronous_commit"] = value
		if kept && ServerClass(settings) == ServerClass(now) {
			continue
		}
		class := s.proven(settings, ServerClass(settings))
		level := Level{Settings: settings}
		if class.AtLeast(s.c.Class) && (kept && nowClass.AtLeast(class) || len(f.Levels) == 0) {
			f.Levels = append(f.Levels, level)
			continue
		}
		level.Price = string(class)
		prices = append(prices, level)
	}
	if len(f.Levels) == 0 {
		return fmt.Errorf("PostgreSQL does not keep durability %s: assay crash refuted it of synchronous_commit=on", s.c.Class)
	}
	s.StartIsCurrent = s.StartIsCurrent && kept
	if f.Levels = append(f.Levels, s.nearest(prices)...); len(f.Levels) > 1 || !kept {
		s.Factors = append(s.Factors, f)
	}
	return nil
}

// serverMemory adds the cache of the server, and what one sort or hash table of a
// connection may take.
func (s *builder) serverMemory() error {
	connections := int64(max(1, s.c.Connections))
	half := s.c.Memory / 2
	if ServerMemory(s.now, s.c.Connections) > s.c.Memory && (half < minSharedBuffers || half/connections < minWorkMem) {
		return fmt.Errorf("the memory of %s is too little for PostgreSQL with %s: it takes at least %s",
			amount(s.c.Memory), wording.Plural(int(connections), "connection"), amount(2*max(minSharedBuffers, connections*minWorkMem)))
	}
	s.divide(division{cache: sharedBuffers, table: workMem, tables: connections, unit: serverPage})
	return nil
}

// ServerMemory is what the cache of a server may take with some settings, with one sort
// or hash table for each connection.
func ServerMemory(effective map[string]string, connections int) int64 {
	return whole(effective[sharedBuffers]) + int64(max(1, connections))*whole(effective[workMem])
}

// postgresServer is a private server of PostgreSQL.
type postgresServer struct{}

func (postgresServer) name() string { return postgres.Engine }

// read has the settings in their normal form, as SHOW writes 128MB.
func (e postgresServer) read(_ context.Context, t *Tuning) (assay.Durability, bool, error) {
	if len(t.drivers) > 1 {
		return "", true, lab.AsInputError(errors.New("tune searches the settings of PostgreSQL with one driver: name one with --drivers"))
	}
	for name, value := range t.effective {
		if s, ok := postgres.Lookup(name); ok {
			if normal, err := s.Normal(value); err == nil {
				t.effective[name] = normal
			}
		}
	}
	return e.class(t), true, nil
}

func (postgresServer) own(settings map[string]string) map[string]string {
	all, _ := postgres.Own(kv.InPostgres(settings))
	return all
}

func (postgresServer) explicit() []string {
	return append(slices.Sorted(maps.Keys(CommitSettings())), "shared_buffers", "work_mem")
}

func (postgresServer) defaults() map[string]string { return CommitSettings() }

func (postgresServer) class(t *Tuning) assay.Durability { return ServerClass(t.effective) }

func (postgresServer) memory(effective map[string]string, connections int) int64 {
	return ServerMemory(effective, connections)
}

func (postgresServer) unindexed() string { return "indexes and ANALYZE are tried for SQLite only" }

func (postgresServer) uses() bool { return true }

func (postgresServer) checkEmit(ecosystem string) error {
	if ecosystem != emit.PostgreSQL {
		return fmt.Errorf("--emit %s is for SQLite: PostgreSQL has its settings in %s", ecosystem, emit.PostgreSQL)
	}
	return nil
}
