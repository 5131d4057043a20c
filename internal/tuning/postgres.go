package tuning

import (
	"errors"

	"assay"
	"assay/internal/lab"
	"assay/internal/tune"
	"assay/kit/postgres"
)

// readServer has the settings of a PostgreSQL server in their normal form, as SHOW
// writes 128MB, and returns the class of the current settings.
func (t *Tuning) readServer() (assay.Durability, error) {
	switch {
	case len(t.drivers) > 1:
		return "", lab.AsInputError(errors.New("tune searches the settings of PostgreSQL with one driver: name one with --drivers"))
	case t.request.Emit != "":
		return "", lab.AsInputError(errors.New("--emit is for SQLite: PostgreSQL has its settings in postgresql.conf"))
	}
	for name, value := range t.effective {
		if s, ok := postgres.Lookup(name); ok {
			if normal, err := s.Normal(value); err == nil {
				t.effective[name] = normal
			}
		}
	}
	return tune.ServerClass(t.effective), nil
}
