package plan

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay"
	"assay/kit/kv"
)

// keysOf returns the keys that the schema has for a part of the format, without settings.
func keysOf(t *testing.T, way ...string) []string {
	t.Helper()
	keys, ok := under(theFormat().root, append(way, "properties")...).(map[string]any)
	if !ok {
		t.Fatalf("the schema has no part %v", way)
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(keys)), func(key string) bool { return slices.Contains(kv.AllSettings.Names(), key) })
}

// parts are where the schema describes the structs of the format.
var parts = map[string]any{
	"": document{}, "$defs/profile": profile{}, "$defs/workload": workload{}, "$defs/records": records{}, "$defs/operation": operation{},
	"$defs/step": step{}, "$defs/check/anyOf/1": check{}, "$defs/pool/anyOf/1": pool{},
}

// TestSchemaHasTheFields: each key of the schema is read, and each field has a key.
func TestSchemaHasTheFields(t *testing.T) {
	for way, part := range parts {
		var fields []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(part)) {
			if f.IsExported() {
				fields = append(fields, strings.ToLower(f.Name))
			}
		}
		slices.Sort(fields)
		if diff := cmp.Diff(fields, keysOf(t, strings.FieldsFunc(way, func(r rune) bool { return r == '/' })...)); diff != "" {
			t.Errorf("%s (-fields +schema)\n%s", way, diff)
		}
	}
}

// The name of the working directory is not the schema's matter.
func TestSchemaAnywhere(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a b%20c#d")
	must(t, os.Mkdir(folder, 0o700))
	t.Chdir(folder)
	if got := readFormat(); got.Schema == nil {
		t.Error("got no schema")
	}
}

// TestSchemaHasTheWords: the schema lists the words that the code knows.
func TestSchemaHasTheWords(t *testing.T) {
	words := func(all []string) (values []any) {
		for _, w := range all {
			values = append(values, w)
		}
		return values
	}
	var begins []string
	for _, b := range assay.Begins {
		begins = append(begins, string(b))
	}
	for name, want := range map[string][]string{"begin": begins, "arrivals": assay.Arrivals} {
		if got := under(theFormat().root, "$defs", name, "enum"); !reflect.DeepEqual(got, words(want)) {
			t.Errorf("%s: the schema has %v, want %v", name, got, want)
		}
	}
	draws := maps.Clone(keyDraws)
	delete(draws, "")
	drawn := map[string]assay.ValueKind{"uniform": assay.Uniform, "in-order": assay.Seq, "zipfian": assay.Scrambled, "zipfian-table": assay.Zipf, "latest": assay.Latest}
	if diff := cmp.Diff(drawn, draws); diff != "" {
		t.Errorf("draw of keys (-want +got)\n%s", diff)
	}
	for _, draw := range under(theFormat().root, "$defs", "keyDraw", "enum").([]any) {
		delete(draws, draw.(string))
		if _, known := drawn[draw.(string)]; !known && draw != "next" {
			t.Errorf("draw: the schema has %v for keys, which nothing reads", draw)
		}
	}
	if len(draws) > 0 {
		t.Errorf("draw: the schema lacks %v for keys", draws)
	}
	for _, draw := range under(theFormat().root, "$defs", "rowDraw", "enum").([]any) {
		if _, known := sqlDraws[draw.(string)]; !known {
			t.Errorf("draw: the schema has %v, which nothing reads", draw)
		}
	}
}

// schemaKeys returns every key of the format.
func schemaKeys(t *testing.T) []string {
	t.Helper()
	var keys []string
	for way := range parts {
		keys = append(keys, keysOf(t, strings.FieldsFunc(way, func(r rune) bool { return r == '/' })...)...)
	}
	return keys
}
