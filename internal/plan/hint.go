package plan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var amountPattern = regexp.MustCompile(`(?i)^([0-9]{1,9}) *([kmg])i?b?$`)

// amountHint says how an amount of memory is written for a setting of SQLite, which
// wants whole numbers; empty where the value is none.
func amountHint(name, value string) string {
	parts := amountPattern.FindStringSubmatch(strings.TrimSpace(value))
	if parts == nil {
		return ""
	}
	n, _ := strconv.ParseInt(parts[1], 10, 64)
	kib := n << map[string]int{"k": 0, "m": 10, "g": 20}[strings.ToLower(parts[2])]
	switch name {
	case "cache_size":
		return fmt.Sprintf("; %s is -%d, which is KiB below zero", value, kib)
	case "mmap_size", "journal_size_limit":
		return fmt.Sprintf("; %s is %d bytes", value, kib<<10)
	}
	return ""
}
