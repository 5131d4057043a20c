package sqlite

import (
	"slices"
	"strings"
	"testing"

	"assay/kit/setting"
)

func TestNormal(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"journal_mode", "WAL", "wal"},
		{"journal_mode", "delete", "delete"},
		{"locking_mode", "EXCLUSIVE", "exclusive"},
		{"synchronous", "off", "0"},
		{"synchronous", "NORMAL", "1"},
		{"synchronous", "full", "2"},
		{"synchronous", "extra", "3"},
		{"synchronous", "2", "2"},
		{"temp_store", "memory", "2"},
		{"auto_vacuum", "incremental", "2"},
		{"secure_delete", "fast", "2"},
		{"foreign_keys", "on", "1"},
		{"foreign_keys", "true", "1"},
		{"foreign_keys", "no", "0"},
		{"busy_timeout", "5s", "5000"},
		{"busy_timeout", "250", "250"},
		{"cache_size", "-65536", "-65536"},
		{"cache_size", "+10", "10"},
		{"mmap_size", "268435456", "268435456"},
		{"page_size", "8192", "8192"},
		{"encoding", "utf-8", "UTF-8"},
		{"journal_size_limit", "-1", "-1"},
		{"immutable", "1", "1"},
		{"mutex", "no", "no"},
	} {
		got, err := Normal(c.name, c.value)
		if err != nil || got != c.want {
			t.Errorf("Normal(%q, %q) = %q, %v, want %q", c.name, c.value, got, err, c.want)
		}
		if again, err := Normal(c.name, got); err != nil || again != got {
			t.Errorf("Normal(%q, %q) = %q, %v, want the same again", c.name, got, again, err)
		}
	}
}

func TestNormalRefuses(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"jornal_mode", "wal", `unknown setting "jornal_mode"`},
		{"journal_mode", "wall", `journal_mode cannot be "wall": want delete, truncate, persist, memory, wal or off`},
		{"synchronous", "4", `synchronous cannot be "4": want off, normal, full, extra, or 0 to 3`},
		{"foreign_keys", "2", `foreign_keys cannot be "2": want on or off`},
		{"mmap_size", "256MB", `mmap_size cannot be "256MB": want a whole number of 0 or more`},
		{"cache_size", "10MB", `cache_size cannot be "10MB": want a whole number from -2147483648 to 2147483647`},
		{"page_size", "1000", `page_size cannot be "1000": want a power of two from 512 to 65536`},
		{"busy_timeout", "-1", `busy_timeout cannot be "-1": want milliseconds or a duration such as 5s`},
		{"busy_timeout", "1us", `busy_timeout cannot be "1us": want milliseconds or a duration such as 5s`},
	} {
		got, err := Normal(c.name, c.value)
		if err == nil || err.Error() != c.want {
			t.Errorf("Normal(%q, %q) = %q, %v, want error %s", c.name, c.value, got, err, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	if !slices.IsSortedFunc(Settings, func(a, b setting.Setting) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("settings are not sorted: %v", Settings)
	}
	var file, flags []string
	for _, s := range Settings {
		if s.OfFile {
			file = append(file, s.Name)
		}
		if !s.Pragma {
			flags = append(flags, s.Name)
		}
	}
	if want := []string{"auto_vacuum", "encoding", "page_size"}; !slices.Equal(file, want) {
		t.Errorf("settings of the file: %v, want %v", file, want)
	}
	if want := []string{"immutable", "memory", "mutex", "read_only", "shared_cache"}; !slices.Equal(flags, want) {
		t.Errorf("settings without a PRAGMA: %v, want %v", flags, want)
	}
}

func TestDurability(t *testing.T) {
	want := map[string][4]string{ // by synchronous 0 to 3
		"wal":      {"process", "consistent", "power", "power"},
		"truncate": {"process", "last-commit", "power", "power"},
		"persist":  {"process", "last-commit", "power", "power"},
		"delete":   {"process", "last-commit", "last-commit", "power"},
		"memory":   {"none", "none", "none", "none"},
		"off":      {"none", "none", "none", "none"},
		"":         {"", "", "", ""},
	}
	for journal, classes := range want {
		for sync, class := range classes {
			settings := map[string]string{"journal_mode": journal, "synchronous": string(rune('0' + sync))}
			if got := Durability(settings); got != class {
				t.Errorf("Durability(%v) = %q, want %q", settings, got, class)
			}
		}
	}
	for memory, want := range map[string]string{"0": "power", "1": "none", "private": "none"} {
		if got := Durability(map[string]string{"memory": memory, "journal_mode": "wal", "synchronous": "2"}); got != want {
			t.Errorf("Durability with memory %q = %q, want %q", memory, got, want)
		}
	}
	for _, sync := range []string{"", "full"} {
		if got := Durability(map[string]string{"journal_mode": "wal", "synchronous": sync}); got != "" {
			t.Errorf("Durability with synchronous %q = %q, want nothing", sync, got)
		}
	}
}

// The name of a set of options stands for them, among others.
func TestCompileOptions(t *testing.T) {
	got, want := CompileOptions([]string{"A", Recommended, "B=1"}), slices.Concat([]string{"A"}, recommended, []string{"B=1"})
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
