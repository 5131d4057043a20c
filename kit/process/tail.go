//go:build unix

package process

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	tailLines = 32
	tailBytes = 64 << 10
)

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if extra := len(t.data) - tailBytes; extra > 0 {
		t.data = bytes.Clone(t.data[extra:])
	}
	return len(p), nil
}

// scheduler are lines that Go's runtime prints for keepsMonitorAwake.
var scheduler = regexp.MustCompile(`^(SCHED \d+ms: |  [PMG]\d+: )`)

// causes begin the line that says why a program of Go ends: the stack below it is
// often longer than what is kept.
var causes = []string{"panic: ", "fatal error: "}

// lines returns the last lines written. The first of them is the newest cause,
// where that is not among them.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimRight(string(t.data), "\n")
	if text == "" {
		return nil
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), scheduler.MatchString)
	first := max(0, len(lines)-tailLines)
	for i := len(lines) - 1; i >= 0; i-- {
		if slices.ContainsFunc(causes, func(cause string) bool { return strings.HasPrefix(lines[i], cause) }) {
			if i < first {
				lines[first] = lines[i]
			}
			break
		}
	}
	return lines[first:]
}
