package duckdb

import "testing"

// A setting that is given and what DuckDB shows of it are one value.
func TestSettings(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"memory_limit", "512MiB", "512MiB"},
		{"memory_limit", "512.0 MiB", "512MiB"},
		{"memory_limit", "4 GiB", "4GiB"},
		{"memory_limit", "1.5 GiB", ""}, // it may be shown of another amount
		{"memory_limit", "1024MiB", ""}, // shown as 1.0 GiB
		{"memory_limit", "1GB", ""},
		{"checkpoint_threshold", "16.0 MiB", "16MiB"},
		{"preserve_insertion_order", "off", "false"},
		{"preserve_insertion_order", "true", "true"},
		{"threads", "0", ""},
		{"threads", "2", "2"},
	} {
		s, known := Settings.Lookup(c.name)
		got, err := s.Normal(c.value)
		if !known || got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s=%s: got %q (%v), want %q", c.name, c.value, got, err, c.want)
		}
	}
}
