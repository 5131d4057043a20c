package facts

import (
	"slices"
	"strings"
)

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
func (l Library) Meant(place, key string) (Option, Effect, bool) {
	for _, o := range Options(l.Name) {
		name := o.String()
		ignored := slices.Contains(l.Misspelled, name)
		switch fails := slices.Contains(l.MisspelledFails, name); {
		case !ignored && !fails, o.Place != place, !slices.Contains(Misspellings(o.Key), key):
		case ignored:
			return o, Ignored, true
		default:
			return o, Fails, true
		}
		if (ignored || slices.Contains(l.MisspelledPlaces, name)) && o.nested(l.Name) && o.Key == key && slices.Contains(Misspellings(o.Place), place) {
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
