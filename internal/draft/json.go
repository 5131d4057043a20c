package draft

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/plan/sqltext"
)

// Functions of JSON whose arguments behind the first are paths, and those that have a
// path and a value in turn.
var (
	pathFunctions  = []string{"json_extract", "jsonb_extract", "json_type", "json_array_length", "json_remove", "jsonb_remove"}
	valueFunctions = []string{"json_set", "jsonb_set", "json_insert", "jsonb_insert", "json_replace", "jsonb_replace"}
)

// pathInto is the column into whose JSON the token at a place is a path; nil where it
// is none.
func (a *analysis) pathInto(at int) *column {
	if at >= 2 && a.tokens[at-1].Kind == '>' { // -> and ->>
		arrow := at - 2
		if a.tokens[arrow].Kind == '>' {
			arrow--
		}
		if arrow < 1 || a.tokens[arrow].Kind != '-' {
			return nil
		}
		_, c := a.columnEnding(arrow - 1)
		return c
	}
	open := a.group[at]
	if open < 1 {
		return nil
	}
	function, place := strings.ToLower(a.tokens[open-1].Text), a.position(open, at)
	if !slices.Contains(pathFunctions, function) && !slices.Contains(valueFunctions, function) ||
		place == 0 || place%2 == 0 && slices.Contains(valueFunctions, function) {
		return nil
	}
	first := open + 1
	for a.position(open, first) == 0 && first < at {
		first++
	}
	_, c := a.columnEnding(first - 2)
	return c
}

// next is what the log has of the first argument behind a path that is no literal, where
// the member is compared with it, or becomes it; nil elsewhere.
func (a *analysis) next(at int, step *loggedStep) *loggedArgument {
	behind, becomes := at+1, false
	if open := a.group[at]; a.tokens[at-1].Kind != '>' && open > 0 {
		if becomes = slices.Contains(valueFunctions, strings.ToLower(a.tokens[open-1].Text)); !becomes {
			behind = a.match[open] + 1
		}
	}
	compares := func(t sqltext.Token) bool {
		return strings.IndexByte("=<>!", t.Kind) >= 0 || slices.ContainsFunc([]string{"IS", "IN", "LIKE", "BETWEEN"}, t.Is)
	}
	if !becomes && (behind >= len(a.tokens) || !compares(a.tokens[behind])) {
		return nil
	}
	logged := step.arguments(a.query)
	for i := behind + 1; i < len(a.tokens) && logged != nil; i++ {
		if n, ok := a.argument[i]; ok && logged[n] != nil {
			return logged[n]
		}
	}
	return nil
}

// sampledRows bounds the rows whose JSON is read.
const sampledRows = 1000

// path leads to the member of a column's objects that is the most like an argument, and
// of those that are alike to one that the statement has no path to yet, and that most of
// them have; empty where there is none.
func (s *schema) path(ctx context.Context, c *column, like *loggedArgument, used []string) (string, error) {
	members, err := texts(ctx, s.db, fmt.Sprintf(`SELECT e.key, e.type, CAST(avg(length(e.value)) AS INT)
		FROM (SELECT %s AS v FROM %s LIMIT %d) AS r, json_each(CASE WHEN json_valid(r.v) AND json_type(r.v) = 'object' THEN r.v END) AS e
		WHERE e.type NOT IN ('null', 'array', 'object') GROUP BY 1, 2 ORDER BY count(*) DESC, 1`, c.sql(), sqltext.Quote(c.table.name), sampledRows))
	if err != nil {
		return "", ctx.Err() // the column has no JSON that can be read
	}
	best, least := "", math.Inf(1)
	for _, m := range members {
		length, _ := strconv.ParseFloat(m[2], 64)
		path, away := "'$."+m[0]+"'", like.unlike(m[1], length)
		if slices.Contains(used, path) {
			away++
		}
		if plainName.MatchString(m[0]) && away < least {
			best, least = path, away
		}
	}
	return best, nil
}

// unlike is how far a member of JSON is from the values of an argument: in bytes, and
// far where it has another type.
func (a *loggedArgument) unlike(kind string, length float64) float64 {
	const far = 1e9
	switch {
	case a == nil || a.values == 0:
		return 0
	case (a.texts > 0) != (kind == "text"):
		return far
	case a.texts > 0:
		return math.Abs(length - float64(a.bytes)/float64(a.texts))
	}
	return 0
}

// jsonValue draws what a member of a column's JSON becomes: a value as others are;
// empty where the argument is none, or the column has no such member.
func (g *guesser) jsonValue(ctx context.Context, argument int, c *column) (yaml, note string, err error) {
	at := slices.IndexFunc(indexes(len(g.tokens)), func(i int) bool { n, ok := g.argument[i]; return ok && n == argument })
	if at < 2 || g.tokens[at-1].Kind != ',' || g.tokens[at-2].Kind != sqltext.String || g.pathInto(at-2) != c ||
		!slices.Contains(valueFunctions, strings.ToLower(g.tokens[g.group[at]-1].Text)) {
		return "", "", nil
	}
	path := g.tokens[at-2].Text
	rows, err := texts(ctx, g.schema.db, fmt.Sprintf(`SELECT typeof(x), CAST(avg(length(x)) AS INT), min(x), max(x) FROM
		(SELECT CASE WHEN json_valid(%[1]s) THEN json_extract(%[1]s, %[2]s) END AS x FROM %[3]s LIMIT %[4]d) WHERE x IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 1`,
		c.sql(), path, sqltext.Quote(c.table.name), sampledRows))
	if err != nil || len(rows) == 0 {
		return "", "", ctx.Err()
	}
	switch note = fmt.Sprintf("%s of %s gets it; ", path, c); rows[0][0] {
	case "text":
		return fmt.Sprintf("{text: %s}", rows[0][1]), note + "as long as its values are", nil
	case "integer":
		return fmt.Sprintf("{uniform: [%s, %s]}", rows[0][2], rows[0][3]), note + "from the least to the greatest", nil
	}
	return "", "", nil
}
