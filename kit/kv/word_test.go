package kv

import "testing"

func TestWord(t *testing.T) {
	for _, c := range [][3]string{
		{"synchronous", "1", "NORMAL"}, {"synchronous", "2", "FULL"}, {"synchronous", "7", "7"}, {"temp_store", "2", "MEMORY"}, {"foreign_keys", "1", "ON"},
		{"busy_timeout", "1", "1"}, {"journal_mode", "wal", "wal"}, {"synchronous_commit", "off", "off"}, {"nothing", "1", "1"}, {"synchronous", "", ""},
	} {
		if got := Word(c[0], c[1]); got != c[2] {
			t.Errorf("%s %q is %q in words, want %q", c[0], c[1], got, c[2])
		}
	}
}
