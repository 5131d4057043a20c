package runner

import (
	"testing"
	"time"
)

// A part of a budget has no nanoseconds that a reader needs.
func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{16 * time.Second / 3: "5.3s", 90 * time.Second: "1m30s", 70 * time.Millisecond: "70ms", 0: "0s"} {
		if got := brief(d).String(); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}
