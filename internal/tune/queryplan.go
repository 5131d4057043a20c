package tune

import (
	"regexp"
	"slices"
	"strings"
)

var (
	scanned   = regexp.MustCompile(`\bSCAN (?:TABLE )?([^\s(]\S*)(.*)`)
	automatic = regexp.MustCompile(`\bSEARCH (?:TABLE )?(\S+).*USING AUTOMATIC (?:PARTIAL )?(?:COVERING )?INDEX`)
)

// Unindexed says of a query plan, as EXPLAIN QUERY PLAN prints it, which tables it
// reads from end to end without an index, and of which it makes an index for each
// query. An index of these may be worth more than any setting.
func Unindexed(plan string) []string {
	var all []string
	add := func(text string) {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for line := range strings.Lines(plan) {
		if m := automatic.FindStringSubmatch(line); m != nil {
			add("makes an index of " + m[1] + " for each query")
		}
		m := scanned.FindStringSubmatch(line)
		if m != nil && m[1] != "CONSTANT" && !strings.Contains(m[2], "INDEX") && !strings.Contains(m[2], "PRIMARY KEY") {
			add("reads all of " + m[1])
		}
	}
	return all
}
