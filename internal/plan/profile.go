package plan

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"assay"
	"assay/internal/plan/sqltext"
	"assay/internal/sys/near"
	"assay/kit/kv"
	"assay/kit/sqlite"
)

// profile is a set of settings. Beside the keys of the struct it has one for
// each setting of SQLite.
type profile struct {
	place
	Raw       dict[text]   `yaml:"raw" jsonschema_description:"The DSN literally, by driver; {{path}} stands for the file."`
	File      dict[scalar] `yaml:"file" jsonschema_description:"Settings of the file, applied while it is prepared: page_size, auto_vacuum, encoding and journal_mode: wal."`
	Prepare   list[text]   `yaml:"prepare" jsonschema_description:"SQL of indexes and statistics (CREATE INDEX, DROP INDEX, REINDEX, ANALYZE, PRAGMA optimize) that is run on the file when it is filled."`
	Requests  dict[scalar] `yaml:"requests" jsonschema_description:"What raw, once and each mean, so that a setting without effect is found."`
	Once      list[text]   `yaml:"once" jsonschema_description:"SQL that is run on one connection after opening."`
	Each      list[text]   `yaml:"each" jsonschema_description:"SQL that is run on every new connection."`
	Drivers   list[text]   `yaml:"drivers" jsonschema_description:"The drivers that the profile is for; all by default."`
	Lazy      boolean      `yaml:"lazy" jsonschema_description:"true: for operations with serve, connections are opened when requests first need them, as database/sql does by itself; otherwise all are open before."`
	Published boolean      `yaml:"published" jsonschema_description:"true: the condition as it was published, faults included; its failure does not fail the run."`

	settings []entry[scalar]
}

func (p *profile) read(m *mistakes, n ast.Node) {
	p.place = placeOf(n)
	if !isMap(n) {
		m.at(p.place, "a profile is a map, such as {} or {journal_mode: wal}, not %s", describe(n))
		return
	}
	own, _ := keysOf(p)
	for _, pair := range m.pairs(n, "a profile") {
		if part, ok := own[pair.key]; ok {
			part.read(m, pair.value)
			continue
		}
		var s scalar
		s.read(m, pair.value)
		p.settings = append(p.settings, entry[scalar]{text{pair.place, pair.key}, s})
	}
}

// resolve checks a profile and normalises its settings.
func (p *profile) resolve(m *mistakes, name string, drivers []string) assay.Profile {
	if p.Raw.set() && len(p.settings) > 0 {
		m.at(p.settings[0].key.place, "a raw profile has no typed settings: put %s into the DSN and into requests", p.settings[0].key.value)
	}
	if p.Requests.set() && !p.Raw.set() && !p.Once.set() && !p.Each.set() {
		m.at(p.Requests.place, "requests belongs to raw, once or each: write the settings themselves into the profile")
	}
	_, own := keysOf(p)
	return assay.Profile{
		Name:        name,
		Settings:    settings(m, p.settings, own),
		Raw:         p.dsns(m, drivers),
		Requests:    settings(m, p.Requests.entries, nil),
		Prepare:     preparing(m, p.Prepare),
		Once:        statements(m, p.Once),
		Each:        statements(m, p.Each),
		Lazy:        p.Lazy.value,
		AsPublished: p.Published.value,
	}
}

// settings normalises settings to the form in which SQLite reads them back.
func settings(m *mistakes, entries []entry[scalar], others []string) map[string]string {
	var normal map[string]string
	for _, e := range entries {
		setting, ok := kv.AllSettings.Lookup(e.key.value)
		if !ok {
			m.unknown(e.key.place, "setting", e.key.value, append(kv.AllSettings.Names(), others...))
			continue
		}
		value, err := setting.Normal(e.value.text)
		if err != nil && e.value.set() {
			m.add(Error{m.file, e.value.line, e.value.column, err.Error() + amountHint(setting.Name, e.value.text), near.Word(e.value.text, setting.Words)})
		}
		if normal == nil {
			normal = map[string]string{}
		}
		normal[setting.Name] = value
	}
	return normal
}

var templatePattern = regexp.MustCompile(`\{\{(.*?)\}\}`)

func (p *profile) dsns(m *mistakes, drivers []string) map[string]string {
	if !p.Raw.set() {
		return nil
	}
	dsns := map[string]string{}
	for _, e := range p.Raw.entries {
		if !slices.Contains(drivers, e.key.value) {
			m.unknown(e.key.place, "driver", e.key.value, drivers)
		}
		m.paths(e.value)
		dsns[e.key.value] = e.value.value
	}
	return dsns
}

// paths checks that a text has no template but that of the file's path.
func (m *mistakes) paths(t text) {
	for _, found := range templatePattern.FindAllStringSubmatch(t.value, -1) {
		if found[1] != "path" {
			m.unknown(t.place, "template", found[0], []string{"{{path}}"})
		}
	}
}

func statements(m *mistakes, l list[text]) []string {
	var sql []string
	for _, s := range l.items {
		if s.set() && s.value == "" {
			m.at(s.place, "the SQL is empty")
		}
		m.paths(s)
		sql = append(sql, s.value)
	}
	return sql
}

// preparing are the statements of the key prepare. Others than these could change
// rows, and the operations of two profiles would not be the same work.
func preparing(m *mistakes, l list[text]) []string {
	var sql []string
	for _, s := range l.items {
		tokens, whole := sqltext.Scan(s.value)
		if !whole {
			m.at(s.place, "the SQL has a quote or comment without an end")
			continue
		}
		tokens, ok := m.single(s.place, tokens)
		switch {
		case !ok:
		case !changesNoRow(tokens):
			m.at(s.place, "prepare is for CREATE INDEX, DROP INDEX, REINDEX, ANALYZE and PRAGMA optimize only: put what changes rows into the schema of the workload")
		default:
			sql = append(sql, s.value)
		}
	}
	return sql
}

// changesNoRow reports whether a statement is of indexes and statistics only.
func changesNoRow(tokens []sqltext.Token) bool {
	beginnings := [][]string{{"CREATE", "INDEX"}, {"CREATE", "UNIQUE", "INDEX"}, {"DROP", "INDEX"}, {"REINDEX"}, {"ANALYZE"}, {"PRAGMA", "optimize"}}
	return slices.ContainsFunc(beginnings, func(words []string) bool {
		return len(tokens) >= len(words) && slices.EqualFunc(tokens[:len(words)], words, sqltext.Token.Is)
	})
}

// file resolves the settings of the key file: those of file scope, and the one
// journal mode that a file keeps.
func (p *profile) file(m *mistakes) map[string]string {
	for _, e := range p.File.entries {
		s, known := sqlite.Lookup(e.key.value)
		switch {
		case !known || s.OfFile:
		case s.Name != "journal_mode":
			m.at(e.key.place, "%s is a setting of a connection, not of the file", s.Name)
		case !strings.EqualFold(e.value.text, "wal"):
			m.at(e.value.place, "the only journal mode that a file keeps is wal")
		}
	}
	return settings(m, p.File.entries, nil)
}

// fileSettings returns the settings that are applied while the file is
// prepared: those of the key file, and those of file scope among the profile's
// own. These stay there, where they are proved.
func fileSettings(p assay.Profile, prepared map[string]string) map[string]string {
	file := maps.Clone(prepared)
	for name, value := range p.Settings {
		if s, ok := sqlite.Lookup(name); ok && s.OfFile {
			if file == nil {
				file = map[string]string{}
			}
			file[name] = value
		}
	}
	return file
}
