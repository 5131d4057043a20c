package facts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/sys/near"
	"assay/internal/sys/scratch"
)

// Slip is a spelling that nobody tried, and the one that was probably meant.
type Slip struct {
	Written, Meant Spelling
}

// Names are the two spellings as far as they differ.
func (s Slip) Names() (written, meant string) {
	if s.Written.Key != s.Meant.Key {
		return s.Written.Key, s.Meant.Key
	}
	return s.Written.With("..."), s.Meant.With("...")
}

// otherKeys are parameters that drivers or SQLite have and that no experiment is
// about: they are no misspellings.
var otherKeys = []string{
	"vfs", "psow", "nolock", "modeof", "key", "hexkey", "textkey", "_key", "8_3_names", "delete_on_close", // of SQLite and what it loads
	"_auth", "_auth_user", "_auth_pass", "_auth_crypt", "_auth_salt", "_loc", "_txlock", "_case_sensitive_like", "_cslike",
	"_defer_foreign_keys", "_defer_fk", "_stmt_cache_size", // of mattn
	"_time_format", "_timezone", "_time_integer_format", "_inttotime", "_texttotime", "_dqs", "_error_rc", "_timefmt", // of others
}

const (
	mostWrong = 2 // letters of a slip
	longWord  = 7 // the least number of letters of a word in which so many may be wrong
)

// isSlip reports whether a word is another one with one or two letters wrong.
func isSlip(word, meant string) (distance int, slip bool) {
	distance = max(1, near.Distance(strings.ToLower(word), strings.ToLower(meant)))
	return distance, distance == 1 || distance == mostWrong && len(meant) >= longWord
}

// Near returns the spelling with effect that an untried one is nearest to; false
// where none is near.
func (f Facts) Near(untried Spelling) (Slip, bool) {
	return nearestSpelling(untried, func(s Spelling) bool {
		effect, _ := f.Effect(s)
		return effect == Applied
	})
}

// Named returns the spelling that a parameter is, or is nearest to, whatever drivers
// do with it, and the value; false where it is near none.
func Named(uri bool, parameter string) (Spelling, string, bool) {
	s, value, known := Parse(uri, parameter)
	if known {
		return s, value, true
	}
	slip, found := nearestSpelling(s, func(Spelling) bool { return true })
	switch {
	case !found:
		return s, value, false
	case isPragmaKey(s.Key):
		return slip.Meant, value, true
	}
	_, text, _ := strings.Cut(parameter, "=")
	return Parse(uri, slip.Meant.Key+"="+text)
}

// nearestSpelling returns the spelling of some that an untried one is nearest to.
func nearestSpelling(untried Spelling, some func(Spelling) bool) (best Slip, found bool) {
	if slices.Contains(otherKeys, untried.Key) {
		return best, false
	}
	least := mostWrong + 1
	for _, s := range Spellings() {
		if s.URI != untried.URI || !some(s) {
			continue
		}
		written, word, meant := s, untried.Key, s.Key
		if written.Key = untried.Key; isPragmaKey(untried.Key) {
			if s.Key != untried.Key || s.Equals != untried.Equals {
				continue
			}
			written.Pragma, word, meant = untried.Pragma, untried.Pragma, s.Pragma
		}
		if distance, slip := isSlip(word, meant); slip && distance < least {
			best, found, least = Slip{written, s}, true, distance
		}
	}
	return best, found
}

// Try makes the experiment with each slip, in the same way as Measure does, and
// returns the facts with the effects.
func Try(ctx context.Context, w Worker, f Facts, slips []Slip, dir string) (Facts, error) {
	work, err := scratch.New(dir, "facts-")
	if err != nil {
		return f, err
	}
	defer work.Remove()
	l := &lab{worker: w, scratch: work.Path}
	if _, err := l.describe(ctx); err != nil {
		return f, err
	}
	var all []Option
	for _, s := range slips {
		o := s.Meant.Option()
		o.Key = s.Written.String()
		all = append(all, o)
	}
	f.Effects = maps.Clone(f.Effects)
	if err := noteEffects(ctx, l, f.Defaults, all, f.Effects); err != nil {
		return f, fmt.Errorf("facts of %s: %w", f.Name(), err)
	}
	return f, nil
}
