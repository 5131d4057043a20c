package draft

import (
	"fmt"
	"strings"
)

// resize makes texts and blobs that are stored as long as those of the log, where others
// can be made: not values that come again, that refer to others, or that look like JSON.
func (g *guesser) resize(i int) {
	u, a, logged := g.all[i], &g.args[i], g.inLog(i)
	if logged == nil || logged.texts == 0 || u.column == nil || u.role != insert && u.role != set || !u.bare ||
		g.source.has(i) || u.column.parent.table != "" || u.column.found == nil {
		return
	}
	f := u.column.found
	mean := float64(logged.bytes) / float64(logged.texts)
	made := strings.HasPrefix(a.yaml, "{text: ") || strings.HasPrefix(a.yaml, "{blob: ")
	drawn := strings.HasPrefix(a.yaml, "{from: ") && (f.kind == "text" || f.kind == "blob") && !f.few() && !formatted(f)
	if !made && !drawn || drawn && !differs(float64(f.average), mean) {
		return
	}
	least, kind := 1.0, "text"
	if drawn && f.kind == "blob" || strings.HasPrefix(a.yaml, "{blob: ") {
		kind = "blob"
	}
	if g.fresh[u.column] {
		least = 12 // so that none comes twice
	}
	_, null, _ := strings.Cut(strings.TrimSuffix(a.yaml, "}"), ", null:")
	if null != "" {
		null = ", null:" + null
	}
	a.yaml = fmt.Sprintf("{%s: %.0f%s}", kind, max(least, mean), null)
	a.note += "; as long as in the log"
}
