//go:build unix

package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"assay"
	"assay/internal/runner/host"
	"assay/internal/runner/syncs"
)

// TraceCache is a folder that keeps what traces showed, for later runs: the same
// build with the same settings makes the same system calls for the same operation
// on the same data, kernel and file system. What a trace shows is judged by package
// syncs, so that each version of assay wants a folder of its own. Empty keeps nothing.
type TraceCache string

type keptTrace struct {
	Verdict syncs.Verdict
	At      time.Time
}

// tracedCase is all that the system calls of a job's commits follow from.
type tracedCase struct {
	Target      assay.Target
	Profile     assay.Profile
	Without     string
	Operation   assay.Operation
	Statement   string
	Transaction int
	Data        string // digest
	Arguments   string // likewise
	Host        map[string]string
	Environment []string
	Tracer      string // its file's size and time
}

// traceFacts are the facts of the machine that system calls depend on.
var traceFacts = []string{"os", "kernel", "filesystem", "mount-options"}

// traceVariables begin the names of environment variables that change what a
// program, its runtime or a server's client calls.
var traceVariables = []string{"LD_", "DYLD_", "MALLOC_", "GLIBC_", "GO", "PG", "PYTHON", "NODE_", "UV_", "RUBY", "RAILS_", "BUNDLE_", "GEM_"}

// traceEnvironment are those that are set, in order.
func traceEnvironment() []string {
	kept := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return !slices.ContainsFunc(traceVariables, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
	})
	slices.Sort(kept)
	return kept
}

// path is where the trace of a job lies; empty where nothing is kept.
func (c TraceCache) path(j *job, folder, strace string) string {
	tracer, err := os.Stat(strace)
	if c == "" || err != nil {
		return ""
	}
	facts, here := map[string]string{}, host.Facts(folder)
	for _, name := range traceFacts {
		facts[name] = here[name]
	}
	operation, trace := j.committing()
	text, err := json.Marshal(tracedCase{j.target, j.Profile, j.Cell.Without, operation, j.Cell.Statement, j.tracedTransaction(), j.data.Digest, trace.Digest, facts,
		traceEnvironment(), fmt.Sprint(tracer.Size(), " ", tracer.ModTime())})
	if err != nil {
		return "" // it is traced each time
	}
	sum := sha256.Sum256(text)
	return filepath.Join(string(c), hex.EncodeToString(sum[:])+".json")
}

// readTrace returns what is kept. What cannot be read is made again.
func readTrace(path string) (tracing, bool) {
	var kept keptTrace
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &kept) != nil || kept.Verdict.Answer() == "" {
		return tracing{}, false
	}
	return tracing{verdict: kept.Verdict, earlier: kept.At}, true
}

// writeTrace keeps what a trace shows; one that says nothing is not kept.
func writeTrace(path string, found tracing) error {
	if path == "" || found.why != "" {
		return nil
	}
	text, err := json.Marshal(keptTrace{found.verdict, time.Now().UTC()})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = renameio.WriteFile(path, text, 0o644)
	}
	if err != nil {
		return own("keep a trace", err)
	}
	return nil
}
