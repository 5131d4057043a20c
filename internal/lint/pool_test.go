package lint

import (
	"go/types"
	"strings"
	"testing"
)

// The advice names a method that the pool has: that of gorm is behind its method DB.
func TestOneConnection(t *testing.T) {
	pointer := func(path string) types.Type {
		name := types.NewTypeName(0, types.NewPackage(path, ""), "DB", nil)
		return types.NewPointer(types.NewNamed(name, types.NewStruct(nil, nil), nil))
	}
	results := types.NewTuple(types.NewVar(0, nil, "", pointer("gorm.io/gorm")), types.NewVar(0, nil, "", types.Universe.Lookup("error").Type()))
	for name, c := range map[string]struct {
		pool types.Type
		gorm bool
	}{"database/sql": {pointer("database/sql"), false}, "gorm": {pointer("gorm.io/gorm"), true}, "what gorm.Open returns": {results, true}, "nothing": {nil, false}} {
		if got := strings.Contains(oneConnection(c.pool), "the method DB"); got != c.gorm {
			t.Errorf("%s: got %q, which is that of gorm: %t, want %t", name, oneConnection(c.pool), got, c.gorm)
		}
	}
}
