package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"assay/internal/plan/sqltext"
)

const (
	searched = 100 // words that a full-text search draws from
	wordRows = 200 // texts that they are taken from
)

// matches searches for words of the texts, of which frequent ones come more often: one
// word alone would always read the same part of the index, which may be its shortest.
func (g *guesser) matches(ctx context.Context, i int, u use) (yaml, note string, err error) {
	var words []string
	var from []string
	for _, c := range u.table.columns {
		f, err := g.schema.stats(ctx, c)
		if err != nil || c.hidden || f.kind != "text" {
			continue
		}
		found, err := g.schema.words(ctx, c, f.values)
		if err != nil {
			return "", "", err
		}
		if words = append(words, found...); len(found) > 0 {
			from = append(from, c.String())
		}
	}
	if len(words) == 0 {
		return constant("word"), fmt.Sprintf("%s has no text yet", u.table.name), nil
	}
	s := source{name: fmt.Sprintf("%s-words-%d", strings.ReplaceAll(g.name, ".", "-"), g.first+i)}
	drawn := make([]string, min(searched, len(words)))
	for k := range drawn { // of each column as many as of the others
		drawn[k] = words[k*len(words)/len(drawn)]
	}
	s.sql = "SELECT column1 AS word FROM (VALUES ('" + strings.Join(drawn, "'), ('") + "'))"
	g.words = append(g.words, s)
	return fmt.Sprintf("{from: %s}", scalar(s.name+".word")), "a word of " + strings.Join(from, " or "), nil
}

// words are some words of a column's texts, as often as the texts have them.
func (s *schema) words(ctx context.Context, c *column, values int64) ([]string, error) {
	rows, err := texts(ctx, s.db, fmt.Sprintf("SELECT %s FROM %s WHERE rowid %% %d = 0 LIMIT %d",
		c.sql(), sqltext.Quote(c.table.name), 1+values/wordRows, wordRows))
	if err != nil {
		return nil, ctx.Err() // a module may keep no texts, and no row ids
	}
	var all []string
	for i, row := range rows {
		words := slices.DeleteFunc(strings.FieldsFunc(row[0], func(r rune) bool { return !unicode.IsLetter(r) }), operator)
		if len(words) > 0 {
			all = append(all, words[i%len(words)])
		}
	}
	return all, nil
}

// operator reports whether a word is one of FTS5's own.
func operator(word string) bool {
	return slices.Contains([]string{"AND", "OR", "NOT", "NEAR"}, word)
}
