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

// Slip is an option of a DSN that nobody tried, and the one that was probably meant.
type Slip struct {
	Written, Meant Option
}

// Names are the two as far as they differ.
func (s Slip) Names() (written, meant string) {
	written, _, _ = parts(s.Written.Key)
	if meant, _, _ = parts(s.Meant.Key); written != meant {
		return written, meant
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

// Near returns the option with effect that an untried one is nearest to; false
// where none is near.
func (f Facts) Near(untried Option) (Slip, bool) {
	return nearestOption(untried, func(o Option) bool {
		effect, _ := f.Effect(o)
		return effect == Applied
	})
}

// Named returns the option that a parameter is, or is nearest to, whatever drivers
// do with it, and the value; false where it is near none.
func Named(uri bool, parameter string) (Option, string, bool) {
	o, value, known := Parse(uri, parameter)
	if known {
		return o, value, true
	}
	slip, found := nearestOption(o, func(Option) bool { return true })
	name, pragma, _ := parts(o.Key)
	switch {
	case !found:
		return o, value, false
	case pragma != "":
		return slip.Meant, value, true
	}
	meant, _, _ := parts(slip.Meant.Key)
	return Parse(uri, meant+strings.TrimPrefix(parameter, name))
}

// nearestOption returns the option of some that an untried one is nearest to.
func nearestOption(untried Option, some func(Option) bool) (best Slip, found bool) {
	name, pragma, end := parts(untried.Key)
	if slices.Contains(otherKeys, name) {
		return best, false
	}
	least := mostWrong + 1
	for _, o := range spellings {
		if o.Place != untried.Place || !some(o) {
			continue
		}
		ofName, ofPragma, ofEnd := parts(o.Key)
		written, word, meant := o, name, ofName
		written.Key = name + strings.TrimPrefix(o.Key, ofName)
		if isPragmaKey(name) {
			if ofName != name || ofEnd != end {
				continue
			}
			written.Key, word, meant = untried.Key, pragma, ofPragma
		}
		if distance, slip := isSlip(word, meant); slip && distance < least {
			best, found, least = Slip{written, o}, true, distance
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
		all = append(all, s.Written)
	}
	f.Effects = maps.Clone(f.Effects)
	if err := noteEffects(ctx, l, f.Defaults, all, f.Effects); err != nil {
		return f, fmt.Errorf("facts of %s: %w", f.At(), err)
	}
	return f, nil
}

// Misspellings are the ways to write a word with one slip of the fingers: a
// letter left out, doubled or swapped with the next one, an underscore too many,
// left out or written as a dash, and a plural instead of a singular.
func Misspellings(word string) []string {
	all := []string{strings.ReplaceAll(word, "_", ""), strings.ReplaceAll(word, "_", "-"), word + "s"}
	for i := range word {
		all = append(all, word[:i]+word[i+1:], word[:i+1]+word[i:])
		if i > 0 {
			all = append(all, word[:i]+"_"+word[i:])
		}
		if i+1 < len(word) {
			all = append(all, word[:i]+word[i+1:i+2]+word[i:i+1]+word[i+2:])
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == word || s == "" })
}

// Meant returns the option that a key is a misspelling of, and what becomes of
// it: it is ignored, or no database can be opened. Of an option under another
// key, that key may be misspelled instead. False where some misspellings take
// effect, or nothing is near.
func (f Facts) Meant(place, key string) (Option, Effect, bool) {
	for _, o := range Options(f.Driver) {
		name := o.String()
		ignored := slices.Contains(f.Misspelled, name)
		switch fails := slices.Contains(f.MisspelledFails, name); {
		case !ignored && !fails, o.Place != place, !slices.Contains(Misspellings(o.Key), key):
		case ignored:
			return o, Ignored, true
		default:
			return o, Fails, true
		}
		if (ignored || slices.Contains(f.MisspelledPlaces, name)) && o.nested(f.Driver) && o.Key == key && slices.Contains(Misspellings(o.Place), place) {
			return o, Ignored, true
		}
	}
	return Option{}, "", false
}

// nested reports whether an option's place is a key that users write.
func (o Option) nested(library string) bool {
	return o.Place != "" && library != SQLAlchemy && o.Place != InName && o.Place != InFileName
}

type misspelling struct {
	Option
	of    string // the option that is meant
	place bool   // its place is misspelled instead of its key
}

// misspelled are the ways to misspell an option that no other option is called.
func (o Option) misspelled(library string) []misspelling {
	var all []misspelling
	add := func(place, key string) {
		if _, known := Find(library, place, key); !known {
			all = append(all, misspelling{Option{place, key, o.Meaning, o.Observed, o.Values}, o.String(), place != o.Place})
		}
	}
	for _, key := range Misspellings(o.Key) {
		add(o.Place, key)
	}
	if o.nested(library) {
		for _, place := range Misspellings(o.Place) {
			add(place, o.Key)
		}
	}
	return all
}
