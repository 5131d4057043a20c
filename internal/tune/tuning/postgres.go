package tuning

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay"
	"assay/internal/emit"
	"assay/internal/lab"
	"assay/internal/tune"
	"assay/kit/kv"
	"assay/kit/postgres"
)

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
	return append(slices.Sorted(maps.Keys(tune.CommitSettings())), "shared_buffers", "work_mem")
}

func (postgresServer) defaults() map[string]string { return tune.CommitSettings() }

func (postgresServer) class(t *Tuning) assay.Durability { return tune.ServerClass(t.effective) }

func (postgresServer) memory(effective map[string]string, connections int) int64 {
	return tune.ServerMemory(effective, connections)
}

func (postgresServer) unindexed() string { return "indexes and ANALYZE are tried for SQLite only" }

func (postgresServer) uses() bool { return true }

func (postgresServer) checkEmit(ecosystem string) error {
	if ecosystem != emit.PostgreSQL {
		return fmt.Errorf("--emit %s is for SQLite: PostgreSQL has its settings in %s", ecosystem, emit.PostgreSQL)
	}
	return nil
}
