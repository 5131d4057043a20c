package lint

import (
	"fmt"
	"strings"
	"testing"
)

func settingsOf(t *testing.T, text string) string {
	t.Helper()
	all, err := railsSettings("", []byte(text))
	must(t, err)
	var lines []string
	for _, w := range all {
		lines = append(lines, fmt.Sprintf("%d:%d %s", w.at.Line, w.at.Column, w.shown))
	}
	return strings.Join(lines, "\n")
}

func TestRailsSettings(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"one database": {"test:\n  adapter: sqlite3\n  timeout: 5000\n", "2:3 adapter: sqlite3\n3:3 timeout: 5000"},
		"merged once":  {"default: &d\n  adapter: sqlite3\ntest:\n  <<: *d\n  timeout: 5\n", "2:3 adapter: sqlite3\n5:3 timeout: 5"},
		"several databases": {"production:\n  primary:\n    adapter: sqlite3\n  cache:\n    adapter: postgresql\n    timeout: 1\n",
			"3:5 adapter: sqlite3"},
		"pragmas":              {"test: {adapter: sqlite3, pragmas: {journal_mode: wal}}\n", "1:8 adapter: sqlite3\n1:36 pragmas: {journal_mode: wal}"},
		"another adapter, too": {"d: &d\n  timeout: 5\na:\n  <<: *d\n  adapter: sqlite3\nb:\n  <<: *d\n  adapter: postgresql\n", "5:3 adapter: sqlite3"},
		"overridden":           {"d: &d\n  adapter: postgresql\n  timeout: 5\na:\n  <<: *d\n  adapter: sqlite3\n  timeout: 6\n", "6:3 adapter: sqlite3\n7:3 timeout: 6"},
		"templates": {"<% require 'x' %>\ntest:\n  adapter: sqlite3\n  pool: <%= ENV.fetch(\"N\") { 5 } %>\n  database: <%= 'a' +\n    'b' %>\n<% if x %>\n  timeout: 5\n<% end %>\n",
			"3:3 adapter: sqlite3\n4:3 pool: ...\n5:3 database: ...\n8:3 timeout: 5"},
		"by version": {"test:\n  adapter: sqlite3\n  <% if Rails::VERSION::MAJOR >= 8 -%>\n  timeout: 5\n  <% else %>\n  retries: 5\n  <% end %>\n  pool: 5\n" +
			"  <% if x %>\n  <% 2.times do |i| %>\n  a: 1\n  <% end %>\n  <% elsif RUBY_VERSION > '3' %>\n  b: 1\n  <% end %>\n  c: 1\n",
			"2:3 adapter: sqlite3\n8:3 pool: 5\n11:3 a: 1\n16:3 c: 1"},
		"two branches":       {"<% if x %>\na: &a\n  adapter: postgresql\n  timeout: 5\n<% else %>\na: &a\n  adapter: sqlite3\n  timeout: 6\n<% end %>\n", "7:3 adapter: sqlite3\n8:3 timeout: 6"},
		"a scalar":           {"nothing\n", ""},
		"an alias of itself": {"a: &a\n  <<: *a\n  adapter: sqlite3\n", "3:3 adapter: sqlite3"},
	} {
		if got := settingsOf(t, c.text); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
	if _, err := railsSettings("", []byte("a: [\n")); err == nil {
		t.Error("what is no YAML is no error")
	}
}

// A mapping that is merged into itself many times is refused, and takes no time.
func TestRailsMerges(t *testing.T) {
	_, err := railsSettings("", []byte("a: &a\n"+strings.Repeat("  <<: *a\n", 50)+"  adapter: sqlite3\n"))
	if err == nil || !strings.Contains(err.Error(), "more than 10000 mappings") {
		t.Errorf("got %v, want that too much is merged", err)
	}
}

func FuzzRailsSettings(f *testing.F) {
	f.Add("default: &d\n  adapter: sqlite3\n  pool: <%= 5 %>\ntest:\n  <<: *d\n  pragmas: {a: b}\n")
	f.Add("a: &a\n  b: *a\n")
	f.Add("<% if Rails.version %>\na: 1\n<% elsif x %>\n<% end %><% end %>")
	f.Fuzz(func(t *testing.T, text string) {
		plain := withoutERB(text)
		if len(plain) != len(text) || strings.Count(plain, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q became %q, of another size or with other lines", text, plain)
		}
		for line := range ofVersions(text) {
			if line < 1 || line > strings.Count(text, "\n")+1 {
				t.Fatalf("%q has line %d", text, line)
			}
		}
		_, _ = railsSettings("", []byte(text))
	})
}
