package gate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/build"

	"github.com/google/go-cmp/cmp"
)

// registry is a fake one of versions 1 to n, of which some cannot be built, some plan worse and some
// are slower; it writes down what is asked of it.
type registry struct {
	broken        []string
	undecided     []string
	plans, slower string // the first version that is worse; empty: none is
	asked         []string
}

func (r *registry) bisector(n int, known map[string]string) *bisector {
	b := &bisector{driver: "db", known: known, keep: func(map[string]string) error { return nil }}
	for i := 1; i <= n; i++ {
		b.versions = append(b.versions, fmt.Sprintf("1.%02d.0", i))
	}
	since := func(first, version string) bool { return first != "" && version >= first }
	b.plans = func(_ context.Context, version string) (map[string]string, error) {
		if slices.Contains(r.broken, version) {
			return nil, errors.New("it does not compile")
		}
		r.asked = append(r.asked, "plans "+version)
		if since(r.plans, version) {
			return map[string]string{"by-mail": "SCAN users"}, nil
		}
		return map[string]string{"by-mail": "SEARCH users USING INDEX mail (mail=?)"}, nil
	}
	b.measure = func(_ context.Context, version string) (string, error) {
		if slices.Contains(r.broken, version) {
			return "", errors.New("it does not compile")
		}
		r.asked = append(r.asked, "measured "+version)
		if slices.Contains(r.undecided, version) {
			return "", undecidedError("1 of 2 undecided")
		}
		if since(r.slower, version) {
			return "by-mail: 2x slower", nil
		}
		return "", nil
	}
	b.report = func(Step) {}
	return b
}

func TestBisect(t *testing.T) {
	for name, c := range map[string]struct {
		registry      registry
		first, before string
		between       []string
		most          int // questions
	}{
		"nothing is worse":              {registry{}, "", "", nil, 3},
		"a query plan":                  {registry{plans: "1.07.0"}, "1.07.0", "1.06.0", nil, 7},
		"figures":                       {registry{slower: "1.11.0"}, "1.11.0", "1.10.0", nil, 8},
		"a plan before figures":         {registry{plans: "1.14.0", slower: "1.03.0"}, "1.14.0", "1.13.0", nil, 7},
		"the bad one itself":            {registry{slower: "1.16.0"}, "1.16.0", "1.15.0", nil, 8},
		"the one after the good one":    {registry{slower: "1.02.0"}, "1.02.0", "1.01.0", nil, 8},
		"one that cannot be built":      {registry{plans: "1.07.0", broken: []string{"1.08.0"}}, "1.07.0", "1.06.0", nil, 8},
		"those before cannot be built":  {registry{plans: "1.07.0", broken: []string{"1.05.0", "1.06.0"}}, "1.07.0", "1.04.0", []string{"1.05.0", "1.06.0"}, 9},
		"the first one cannot be built": {registry{slower: "1.07.0", broken: []string{"1.07.0"}}, "1.08.0", "1.06.0", []string{"1.07.0"}, 9},
	} {
		r := c.registry
		got, err := r.bisector(16, map[string]string{}).find(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.First != c.first || got.Before != c.before || !slices.Equal(got.Between, c.between) || len(r.asked) > c.most {
			t.Errorf("%s: got %+v after %q, want %s after %s, skipped %q, in at most %d questions", name, got, r.asked, c.first, c.before, c.between, c.most)
		}
		for _, skipped := range c.between {
			if !strings.Contains(got.String(), skipped) {
				t.Errorf("%s: the answer %q does not name %s, which was skipped", name, got, skipped)
			}
		}
	}
	r := registry{slower: "1.05.0", broken: []string{"1.16.0"}}
	if got, err := r.bisector(16, map[string]string{}).find(t.Context()); err == nil {
		t.Errorf("the bad version cannot be built: got %+v, want an error", got)
	}
	b := (&registry{}).bisector(16, map[string]string{"plans 1.16.0": "worse"})
	b.plans = func(context.Context, string) (map[string]string, error) { return nil, build.ErrUnreachable }
	if got, err := b.find(t.Context()); !errors.Is(err, build.ErrUnreachable) {
		t.Errorf("the registry cannot be reached: got %+v, %v, want that error", got, err)
	}
}

// That the bad version is undecided is said, and not kept: it does not say that none is worse.
func TestBisectOfUndecided(t *testing.T) {
	r, known := registry{undecided: []string{"1.16.0"}}, map[string]string{}
	got, err := r.bisector(16, known).find(t.Context())
	want := &Bisection{Driver: "db", Good: "1.01.0", Bad: "1.16.0", Undecided: "1 of 2 undecided"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || !strings.Contains(got.String(), want.Undecided) {
		t.Errorf("%v, %q (-want +got)\n%s", err, got, diff)
	}
	if diff := cmp.Diff(map[string]string{"plans 1.16.0": ""}, known); diff != "" {
		t.Errorf("kept (-want +got)\n%s", diff)
	}
}

// What an earlier bisection found is not asked for again, also where it was interrupted.
func TestBisectGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bisect", "key.json")
	known, err := readKnown(path)
	must(t, err)
	first := registry{slower: "1.07.0"}
	b := first.bisector(16, known)
	b.keep = func(known map[string]string) error {
		must(t, writeKnown(path, known))
		if len(known) == 4 {
			return errors.New("interrupted")
		}
		return nil
	}
	if got, err := b.find(t.Context()); err == nil {
		t.Errorf("got %+v, want the error of what cannot be kept", got)
	}
	if known, err = readKnown(path); err != nil || len(known) != 4 {
		t.Fatalf("kept %q, %v; want what was found", known, err)
	}
	second := registry{slower: "1.07.0"}
	var told []string
	b = second.bisector(16, maps.Clone(known))
	b.report = func(s Step) { told = append(told, s.String()) }
	got, err := b.find(t.Context())
	if err != nil || got.First != "1.07.0" || got.Before != "1.06.0" {
		t.Errorf("got %+v, %v, want 1.07.0", got, err)
	}
	for question := range known {
		if slices.Contains(second.asked, question) {
			t.Errorf("%s is asked again", question)
		}
	}
	if len(told) < 4 || told[0] != "1.16.0 (query plans, known): not shown to be worse" {
		t.Errorf("told %q", told)
	}
}

// Between a good and a bad version lie the releases only, in the order of their versions.
func TestReleases(t *testing.T) {
	published := []string{"3.45.0.0", "3.46.0.0", "3.46.0.1", "3.46.1.0", "3.47.0.0rc1", "3.47.0.0", "3.48.0.0"}
	got, err := releases(build.PyPI, published, "3.46.0", "3.48.0")
	if diff := cmp.Diff([]string{"3.46.0", "3.46.0.1", "3.46.1.0", "3.47.0.0", "3.48.0"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for _, c := range [][2]string{{"3.48.0", "3.46.0"}, {"3.46", "3.46.0"}, {"latest", "3.46.0"}, {"3.46.0", "v3"}} {
		if got, err := releases(build.PyPI, published, c[0], c[1]); err == nil {
			t.Errorf("%q: got %q, want an error", c, got)
		}
	}
}
