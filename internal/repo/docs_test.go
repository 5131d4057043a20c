package repo_test

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"assay"
	"assay/internal/store"
	"assay/plans"
)

// documents are all that are written for readers, by name.
func documents(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("docs/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	all := map[string]string{}
	for _, name := range append(names, "README.md", "CONTRIBUTING.md", "CHANGELOG.md") {
		text, err := os.ReadFile(name)
		must(t, err)
		all[name] = string(text)
	}
	return all
}

// fenced returns what stands in a document's fences of a language.
func fenced(text, language string) []string {
	var all []string
	for _, match := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

// command is how a line of README's sh fences is held to the code.
type command struct {
	as     string // run instead of it, from the checkout; empty: the line itself, beside a fresh bin/assay
	source string // ASSAY_SOURCE; empty: the checkout
	status int
	output string // regexp of what is printed
}

// understood is of a run that would take long: without sources of workers it
// ends when plan, flags and cells are known to be right and the first worker
// is to be built.
var understood = command{source: "nowhere", status: 1, output: "ASSAY_SOURCE=nowhere has no kit"}

var commands = map[string]command{
	"bin/assay run quick --drivers mattn,pgx":  understood,
	"bin/assay run ycsb-b --drivers pgx,bbolt": understood,
	"make run":                         {as: "make -n run", output: "bin/assay run quick"},
	"make build":                       {as: "make -n build", output: "-o bin/assay ./cmd/assay"},
	"bin/assay run quick --budget 90s": understood,
	"bin/assay run statements":         understood,
	"bin/assay run kv":                 understood,
	"bin/assay run ycsb-b":             understood,
	"bin/assay run rails":              understood,
	"bin/assay run orm":                understood,
	"bin/assay run quick --drivers mattn,python,better-sqlite3":                    understood,
	"bin/assay run rails --drivers activerecord --only workload=suite --budget 1m": understood,
	"bin/assay inspect activerecord --profile rails/default --diff rails/tuned":    understood,
	"bin/assay plans rails":                                                                                          {output: "(?m)^name: rails$"},
	"bin/assay run http --only clients=50 --budget 4m":                                                               understood,
	"bin/assay run http --drivers mattn,zombiezen --find-capacity p99=5ms --budget 6m":                               understood,
	"bin/assay run kv --drivers bbolt,pebble,lmdb --only operation=random --budget 2m":                               understood,
	"bin/assay run quick --drivers '*' --budget 4m":                                                                  understood,
	"bin/assay run quick --drivers mattn,mattn@v1.14.37 --only operation=point-read":                                 understood,
	"bin/assay run quick --drivers mattn,mattn:DQS=0:DEFAULT_MEMSTATUS=0,sqlite-c@mattn --only operation=point-read": understood,
	"bin/assay lint --dir my-service":                                                                                {status: 1, output: `main.go:9:34: .*\[no-busy-timeout\]`},
	"bin/assay doctor app.db":                                                                                        {status: 1, output: `^1\. journal-mode: `},
	"bin/assay crash quick --drivers mattn,modernc":                                                                  understood,
	"bin/assay audit":                                                                  {output: "Published claims, checked on this machine"},
	"bin/assay plan check my-plan.yaml":                                                {output: "plan my-plan is valid: 4 cells, budget 1m0s"},
	"bin/assay run my-plan.yaml":                                                       understood,
	"bin/assay gate --driver modernc --base v1.60.0 --head v1.61.1":                    understood,
	"bin/assay tune my-plan.yaml --durability power --memory 256M":                     understood,
	"bin/assay emit --profile quick/web --for django":                                  {output: `"PRAGMA busy_timeout = 5000",`},
	"bin/assay run monster --only operation=SelectByID --only clients=100 --budget 3m": understood,
	"bin/assay run quick --resume":                                                     understood,
	"bin/assay plans":                                                                  {output: `(?m)^quick +\d+ `},
	"bin/assay drivers":                                                                {output: `(?m)^mattn +v`},
	"bin/assay inspect modernc --profile quick/web":                                    understood,
	"bin/assay runs":                                                                   {output: `(?m)^fixture +quick .* finished`},
	"bin/assay report":                                                                 {output: "QUICK: RECOMMENDATION"},
	"bin/assay report --format csv -o figures.csv":                                     {output: "^$"},
	"bin/assay report --format html -o report.html":                                    {output: "^$"},
	"bin/assay report --format svg -o charts":                                          {output: `(?m)^charts: charts as files: \d+$`},
	"bin/assay run quick --drivers mattn,modernc@v1.60.0 --only operation=point-read,insert-100 --only rows=100000": understood,
}

// TestReadmeCommands runs the commands of README and of the guide.
func TestReadmeCommands(t *testing.T) {
	readme, guide := documents(t)["README.md"], documents(t)["docs/guide.md"]
	if lines := strings.Count(readme, "\n"); lines >= 150 {
		t.Errorf("README.md has %d lines, want fewer than 150", lines)
	}
	b := newBench(t)
	b.writeFixtures(t, readme)
	known := map[string]bool{}
	for line := range strings.Lines(strings.Join(append(fenced(readme, "sh"), fenced(guide, "sh")...), "")) {
		line = strings.TrimSpace(line)
		c, ok := commands[line]
		if !ok {
			t.Errorf("no test knows the documented command %q: add it to internal/repo/docs_test.go", line)
			continue
		}
		known[line] = true
		t.Run(line, func(t *testing.T) { b.check(t, line, c) })
	}
	for line := range commands {
		if !known[line] {
			t.Errorf("neither README.md nor docs/guide.md has the command %q any more", line)
		}
	}
}

// bench is a folder with a fresh bin/assay.
type bench struct{ dir, checkout string }

func newBench(t *testing.T) bench {
	t.Helper()
	checkout, err := os.Getwd()
	must(t, err)
	b := bench{t.TempDir(), checkout}
	must(t, buildAssay())
	must(t, os.Symlink(programs, filepath.Join(b.dir, "bin")))
	return b
}

// run runs a command with folders of its own and returns what it printed.
func (b bench) run(t *testing.T, line string, c command) string {
	t.Helper()
	shell := exec.Command("bash", "-c", line)
	shell.Dir = b.dir
	if c.as != "" {
		shell = exec.Command("bash", "-c", c.as)
	}
	source := c.source
	if source == "" {
		source = b.checkout
	}
	shell.Env = append(shell.Environ(), "ASSAY_SOURCE="+source,
		"XDG_DATA_HOME="+filepath.Join(b.dir, "data"), "XDG_CACHE_HOME="+filepath.Join(b.dir, "cache"))
	out, err := shell.CombinedOutput()
	if got := shell.ProcessState.ExitCode(); got != c.status {
		t.Errorf("exit status %d, want %d (%v)\n%s", got, c.status, err, out)
	}
	return string(out)
}

func (b bench) check(t *testing.T, line string, c command) {
	if out := b.run(t, line, c); !regexp.MustCompile(c.output).MatchString(out) {
		t.Errorf("want %q in\n%s", c.output, out)
	}
}

// writeService writes an application: a Go module, and its database.
func (b bench) writeService(t *testing.T) {
	t.Helper()
	files := fstest.MapFS{
		"go.mod": {Data: []byte("module my-service\n\ngo 1.24\n\nrequire modernc.org/sqlite v1.61.1\n"), Mode: 0o644},
		"main.go": {Data: []byte(`package main

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

func main() { sql.Open("sqlite", "file:app.db") }
`), Mode: 0o644},
	}
	must(t, os.CopyFS(filepath.Join(b.dir, "my-service"), files))
	db, err := sql.Open("sqlite", filepath.Join(b.dir, "app.db"))
	must(t, err)
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"); err != nil {
		t.Fatal(err)
	}
}

// writeFixtures writes README's plan, and a store with a finished and an
// interrupted run.
func (b bench) writeFixtures(t *testing.T, readme string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(b.dir, "my-plan.yaml"), []byte(fenced(readme, "yaml")[0]), 0o644))
	b.writeService(t)
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(b.dir, "data", "assay", "assay.db"))
	must(t, err)
	defer s.Close()
	quick, _ := plans.Read("quick")
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	finished := assay.Run{ID: "fixture", Plan: "quick", PlanText: string(quick), PlanFile: "quick.yaml", Started: at, Status: assay.Finished}
	interrupted := finished
	interrupted.ID, interrupted.Started, interrupted.Status = "earlier", at.Add(-time.Hour), assay.Interrupted
	for _, run := range []assay.Run{interrupted, finished} {
		must(t, s.Begin(ctx, run))
	}
	trial := assay.Trial{Cell: assay.Cell{Plan: "quick", Operation: "point-read", Driver: "mattn", Profile: "web", Clients: 1, Pool: 1, Idle: 1},
		Launch: 1, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: 7000}}
	must(t, s.Append(ctx, finished.ID, trial))
}

// The words that readers meet in output must be explained somewhere.
func TestDocumentsNameTheVocabulary(t *testing.T) {
	var words []string
	for _, place := range []struct {
		file, pattern string
		least         int
	}{
		{"trial.go", `(?m)^\t\w+ +Outcome += "([^"]+)"`, 7},
		{"trial.go", `(?m)^\t\w+ +Durability += "([^"]+)"`, 4},
		{"assay.go", `(?m)^\t\w+ +Status += "([^"]+)"`, 3},
		{"internal/stat/compare.go", `(?m)^\t\w+ +Verdict += "([^"]+)"`, 4},
		{"internal/analysis/doubt_traits.go", `(?m)^\t"([^"]+)": `, 40},
		{"internal/runner/warnings.go", `Code: "([^"]+)"`, 2},
		{"internal/runner/engine.go", `Code: "([^"]+)"`, 1},
		{"internal/runner/synced.go", `Code: "([^"]+)"`, 2},
	} {
		text, err := os.ReadFile(place.file)
		must(t, err)
		found := regexp.MustCompile(place.pattern).FindAllStringSubmatch(string(text), -1)
		if len(found) < place.least {
			t.Errorf("%s has %d of %s, expected are %d", place.file, len(found), place.pattern, place.least)
		}
		for _, match := range found {
			words = append(words, match[1])
		}
	}
	wantNamed(t, words)
}

func TestDocumentsNameEveryVariableOfTheEnvironment(t *testing.T) {
	var names []string
	for _, s := range sources(t) {
		text, err := os.ReadFile(s.name)
		must(t, err)
		for _, match := range regexp.MustCompile(`os\.Getenv\("(\w+)"\)`).FindAllStringSubmatch(string(text), -1) {
			if !s.test() && !strings.Contains(s.name, "cmd/assay/internal/fakes/") { // a program of tests
				names = append(names, match[1])
			}
		}
	}
	if len(names) < 4 {
		t.Errorf("found the variables %v only", names)
	}
	wantNamed(t, names)
}

// wantNamed demands that some document has each word as code.
func wantNamed(t *testing.T, words []string) {
	t.Helper()
	var all strings.Builder
	for _, text := range documents(t) {
		all.WriteString(text)
	}
	for _, word := range words {
		if !regexp.MustCompile("`" + regexp.QuoteMeta(word) + "[`=]").MatchString(all.String()) {
			t.Errorf("no document explains `%s`", word)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksResolve(t *testing.T) {
	all := documents(t)
	linked := map[string]bool{}
	for name, text := range all {
		for _, match := range link.FindAllStringSubmatch(withoutFences(text), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := name
			if target != "" {
				path = filepath.Join(filepath.Dir(name), target)
			}
			if name == "README.md" {
				linked[path] = true
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links %s: %v", name, match[1], err)
			} else if anchor != "" && !slices.Contains(anchors(all[path]), anchor) {
				t.Errorf("%s links %s: no such heading", name, match[1])
			}
		}
	}
	for name := range all {
		if name != "README.md" && !linked[name] {
			t.Errorf("README.md does not link %s", name)
		}
	}
}

func withoutFences(text string) string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```").ReplaceAllString(text, "")
}

// anchors are the names by which a document's headings are linked.
func anchors(text string) []string {
	var all []string
	for _, match := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(withoutFences(text), -1) {
		plain := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(match[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

// Documents are for every machine: no absolute path but those of the kernel
// and of folders that every system has, and no host that serves packages.
func TestDocumentsAreOfNoPlace(t *testing.T) {
	path := regexp.MustCompile("(?:^|[\\s\"'(=`])(/[a-z]+/[a-z][^\\s`]*)")
	host := regexp.MustCompile(`(?i)\b(?:proxy|sum|registry|mirror)\.[a-z]+\.[a-z]+|\b(?:rubygems|pypi|crates|npmjs)\.[a-z]+`)
	for name, text := range documents(t) {
		for line := range strings.Lines(text) {
			for _, match := range path.FindAllStringSubmatch(line, -1) {
				everywhere := []string{"/proc/", "/sys/", "/dev/", "/etc/", "/usr/local/bin/", "/tmp/assay-"}
				if !slices.ContainsFunc(everywhere, func(folder string) bool { return strings.HasPrefix(match[1], folder) }) {
					t.Errorf("%s has the path %s", name, match[1])
				}
			}
			if found := host.FindString(line); found != "" {
				t.Errorf("%s has the host %s", name, found)
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
