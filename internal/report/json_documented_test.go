package report

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/json.md has a section for each object of the document, with its fields and no others.
func TestJSONIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]reflect.Type{}
	collectObjects(reflect.TypeFor[jsonReport](), objects)
	for _, section := range strings.Split(string(page), "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		name := "json" + title
		if title == "The document" {
			name = "jsonReport"
		}
		var got []string
		for line := range strings.Lines(text) {
			if cells := strings.Split(line, "|"); len(cells) > 2 {
				for _, field := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
					got = append(got, field[1])
				}
			}
		}
		of, found := objects[name]
		if !found {
			t.Errorf("docs/json.md has the section %s, which is no object of the document", title)
			continue
		}
		delete(objects, name)
		var want []string
		for _, field := range reflect.VisibleFields(of) {
			if !field.Anonymous {
				tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				want = append(want, tag)
			}
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("docs/json.md has the fields %q of %s, want %q", got, title, want)
		}
	}
	for name := range objects {
		t.Errorf("docs/json.md has no section for %s", name)
	}
}

// collectObjects finds the types of objects that a value may have within.
func collectObjects(of reflect.Type, into map[string]reflect.Type) {
	switch of.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer:
		collectObjects(of.Elem(), into)
	case reflect.Struct:
		if !strings.HasPrefix(of.Name(), "json") || into[of.Name()] != nil {
			return
		}
		into[of.Name()] = of
		for i := range of.NumField() {
			collectObjects(of.Field(i).Type, into)
		}
	}
}
