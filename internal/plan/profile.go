package plan

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay"
	"assay/internal/plan/sqltext"
	"assay/internal/sys/near"
	"assay/kit/kv"
	"assay/kit/sqlite"
)

// resolve checks a profile and normalises its settings.
func (p *profile) resolve(m *mistakes, name string, drivers []string) assay.Profile {
	if p.Raw.set() && len(p.settings) > 0 {
		m.at(p.settings[0].key.place, "a raw profile has no typed settings: put %s into the DSN and into requests", p.settings[0].key.value)
	}
	if p.Requests.set() && !p.Raw.set() && !p.Once.set() && !p.Each.set() {
		m.at(p.Requests.place, "requests belongs to raw, once or each: write the settings themselves into the profile")
	}
	return assay.Profile{
		Name:        name,
		Settings:    settings(m, p.settings),
		Raw:         p.dsns(m, drivers),
		Requests:    settings(m, p.Requests.entries),
		Prepare:     preparing(m, p.Prepare),
		Once:        statements(m, p.Once),
		Each:        statements(m, p.Each),
		Lazy:        p.Lazy.isTrue(),
		AsPublished: p.Published.isTrue(),
	}
}

// settings normalises settings to the form in which SQLite reads them back.
func settings(m *mistakes, entries []entry[scalar]) map[string]string {
	var normal map[string]string
	for _, e := range entries {
		setting, ok := kv.AllSettings.Lookup(e.key.value)
		if !ok || !e.value.set() {
			continue
		}
		value, err := setting.Normal(e.value.value)
		if err != nil {
			m.add(Error{m.file, e.value.line, e.value.column, err.Error() + amountHint(setting.Name, e.value.value), near.Word(e.value.value, setting.Words)})
		}
		if normal == nil {
			normal = map[string]string{}
		}
		normal[setting.Name] = value
	}
	return normal
}

// templatePattern is a template of a profile's texts, which know {{path}}.
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

// statements returns the statements of the keys once and each, one in each text: not every driver
// executes what stands behind the first.
func statements(m *mistakes, l list[text]) []string {
	var sql []string
	for _, s := range l.items {
		m.paths(s)
		if s.value != "" { // which is told already
			m.single(s.place, s.value)
		}
		sql = append(sql, s.value)
	}
	return sql
}

// preparing are the statements of the key prepare. Others than these could change
// rows, and the operations of two profiles would not be the same work.
func preparing(m *mistakes, l list[text]) []string {
	var sql []string
	for _, s := range l.items {
		tokens, ok := m.single(s.place, s.value)
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
		case !strings.EqualFold(e.value.value, "wal"):
			m.at(e.value.place, "the only journal mode that a file keeps is wal")
		}
	}
	return settings(m, p.File.entries)
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
