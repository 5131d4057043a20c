package kv

import "testing"

func TestWord(t *testing.T) {
	for _, c := range [][3]string{
		{"synchronous", "1", "NORMAL"}, {"synchronous", "2", "FULL"}, {"synchronous", "7", "7"}, {"temp_store", "2", "MEMORY"}, {"foreign_keys", "1", "ON"},
		{"busy_timeout", "1", "1"}, {"journal_mode", "wal", "wal"}, {"synchronous_commit", "off", "off"}, {"shared_buffers", "134217728", "128MB"}, {"work_mem", "655360", "640kB"},
		{"work_mem", "1000001", "1000001"}, {"shared_buffers", "128MB", "128MB"}, {"effective_io_concurrency", "1024", "1024"}, {"nothing", "1", "1"}, {"synchronous", "", ""},
	} {
		if got := Word(c[0], c[1]); got != c[2] {
			t.Errorf("%s %q is %q in words, want %q", c[0], c[1], got, c[2])
		}
	}
}
