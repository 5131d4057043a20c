package sqldb

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"runtime"
	"slices"
	"strings"

	"assay/kit"
	"assay/kit/opening"
	"assay/kit/setting"
	worker "assay/kit/sql"
	"assay/kit/sqlite"
	"assay/kit/sqlrows"
	"assay/kit/wire"
)

// Other is an engine with a file of its own that is not SQLite, and has strict types.
type Other struct {
	Engine     string // its name
	Capability string // by which assay knows what the worker opens
	Version    string // the query of its version
	Settings   setting.Table
	Setting    string // the query of a setting's value, by its name; no row where it has none
	// Attach are statements for each connection to a database in memory that open the file
	// of a path, which no DSN of the driver can have in it.
	Attach func(path string) []string
	// Refused reports whether an error is about SQL that the engine does not understand.
	Refused func(error) bool
	// Durability is the class of every commit.
	Durability string
}

func (o *Other) target(d Driver, facts map[string]string, conn sqlite.Conn) (wire.Target, error) {
	target := wire.Target{Driver: d.Name, DriverVersion: kit.ModuleVersion(d.Module), Engine: o.Engine, Facts: facts}
	facts["cgo"], facts["go"], facts["module"] = fmt.Sprint(d.Cgo), runtime.Version(), d.Module
	facts["uncounted"] = "B/op and allocs/op leave out what the engine itself allocates"
	version, err := conn.Texts(o.Version)
	if err == nil {
		target.EngineVersion = strings.TrimPrefix(version[0][0], "v")
	}
	return target, err
}

// source gives settings to the driver as parameters of its DSN.
func (o *Other) source(request wire.Open) (*opening.Source, error) {
	if request.DSN != "" {
		return &opening.Source{Opened: wire.Opened{DSN: request.DSN, Each: request.Each, Durability: o.Durability}}, nil
	}
	s := &opening.Source{Opened: wire.Opened{DSN: request.Path, Issued: map[string]string{}, Durability: o.Durability}}
	if strings.ContainsAny(request.Path, "?#%") {
		s.DSN, s.Each = ":memory:", o.Attach(request.Path)
	}
	separator := "?"
	for _, name := range slices.Sorted(maps.Keys(request.Settings)) {
		if _, known := o.Settings.Lookup(name); !known {
			return nil, wire.Errorf(wire.Unsupported, "%s has no setting %s", o.Engine, name)
		}
		s.Issued[name] = name + "=" + url.QueryEscape(request.Settings[name])
		s.DSN += separator + s.Issued[name]
		separator = "&"
	}
	s.Each = append(s.Each, request.Each...)
	return s, nil
}

func (o *Other) setting(c *conn, name string) (value string, known bool, err error) {
	rows, err := c.QueryContext(context.Background(), o.Setting, name)
	if err != nil {
		return "", false, err
	}
	texts, err := sqlrows.Texts(rows)
	if err != nil || len(texts) == 0 {
		return "", false, err
	}
	return texts[0][0], true, nil
}

// explain returns the last column of EXPLAIN.
func (o *Other) explain(c *conn, step worker.Step) (plan []string, err error) {
	rows, err := c.QueryContext(context.Background(), "EXPLAIN "+step.SQL, step.FirstArguments()...)
	if err == nil {
		var texts [][]string
		texts, err = sqlrows.Texts(rows)
		for _, row := range texts {
			plan = append(plan, row[len(row)-1])
		}
	}
	if err != nil && o.Refused(err) {
		return nil, wire.Errorf(wire.Unsupported, "the engine does not understand it: %v", err)
	}
	return plan, err
}
