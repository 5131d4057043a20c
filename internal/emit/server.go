package emit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/kit/kv"
	"assay/kit/postgres"
)

// PostgreSQL names the form for a server of PostgreSQL.
const PostgreSQL = "postgresql.conf"

func server(s Source) Form {
	var out strings.Builder
	var f Form
	fmt.Fprintf(&out, "# Profile %s for PostgreSQL: lines of postgresql.conf.\n", strings.Join(strings.Fields(s.Name), " "))
	var lines []string
	requested := s.Profile.Requested()
	for _, name := range slices.Sorted(maps.Keys(requested)) {
		own, _ := postgres.Settings.Own(kv.InPostgres(map[string]string{name: requested[name]}))
		if len(own) == 0 {
			f.Unset = append(f.Unset, fmt.Sprintf("%s=%s: it is not a setting of PostgreSQL", name, requested[name]))
		}
		for setting, value := range own {
			lines = append(lines, serverLine(setting, value))
			if setting == "shared_buffers" {
				fmt.Fprintln(&out, "# shared_buffers takes effect when the server is started again.")
			}
		}
	}
	for _, some := range []struct {
		sql []string
		why string
	}{{s.Profile.Each, everyConnection}, {s.Profile.Once, onceAfterOpening}, {s.Profile.Prepare, beforeOpening}} {
		for _, text := range some.sql {
			f.Unset = append(f.Unset, lacking(text, some.why))
		}
	}
	for _, unset := range f.Unset {
		fmt.Fprintf(&out, "# NOT SET: %s.\n", unset)
	}
	fmt.Fprintf(&out, "\n%s\n", strings.Join(lines, "\n"))
	f.Text = out.String()
	return f
}

// serverLine is a setting as postgresql.conf has it.
func serverLine(name, value string) string {
	if s, ok := postgres.Lookup(name); ok {
		if normal, err := s.Normal(value); err == nil {
			value = normal
		}
	}
	if word := postgres.Word(name, value); word != value {
		return name + " = " + word
	}
	_, argument, _ := strings.Cut(postgres.Argument(name, value), "=")
	return name + " = " + argument
}
