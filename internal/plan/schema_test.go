package plan

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// schema is the part of JSON Schema that ours uses, enough to check plans.
type schema struct {
	Ref                  string             `json:"$ref"`
	Defs                 map[string]*schema `json:"$defs"`
	AnyOf                []*schema          `json:"anyOf"`
	Type                 string             `json:"type"`
	Enum                 []any              `json:"enum"`
	Pattern              string             `json:"pattern"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties *schemaOrFalse     `json:"additionalProperties"`
	Required             []string           `json:"required"`
	Items                *schema            `json:"items"`
	MinItems, MaxItems   *int
}

type schemaOrFalse struct{ *schema }

func (s *schemaOrFalse) UnmarshalJSON(text []byte) error {
	if string(text) == "false" {
		return nil
	}
	return json.Unmarshal(text, &s.schema)
}

func readSchema(t *testing.T) *schema {
	t.Helper()
	text, err := Schema()
	must(t, err)
	s := &schema{}
	must(t, json.Unmarshal(text, s))
	return s
}

// accepts says why a value does not follow the schema, or "".
func (s *schema) accepts(root *schema, v any) string {
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, "#/$defs/")
		if root.Defs[name] == nil {
			return "no definition " + s.Ref
		}
		return root.Defs[name].accepts(root, v)
	}
	if s.AnyOf != nil && !slices.ContainsFunc(s.AnyOf, func(form *schema) bool { return form.accepts(root, v) == "" }) {
		return fmt.Sprintf("%v is none of the forms", v)
	}
	if s.Type != "" && !slices.Contains(jsonTypes(v), s.Type) {
		return fmt.Sprintf("%v is no %s", v, s.Type)
	}
	if s.Enum != nil && !slices.Contains(s.Enum, v) {
		return fmt.Sprintf("%v is none of %v", v, s.Enum)
	}
	switch v := v.(type) {
	case string:
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) {
			return fmt.Sprintf("%q is not like %s", v, s.Pattern)
		}
	case []any:
		return s.acceptsItems(root, v)
	case map[string]any:
		return s.acceptsKeys(root, v)
	}
	return ""
}

func (s *schema) acceptsItems(root *schema, items []any) string {
	if s.MinItems != nil && len(items) < *s.MinItems || s.MaxItems != nil && len(items) > *s.MaxItems {
		return fmt.Sprintf("%d items", len(items))
	}
	if s.Items == nil {
		return ""
	}
	for _, item := range items {
		if why := s.Items.accepts(root, item); why != "" {
			return why
		}
	}
	return ""
}

func (s *schema) acceptsKeys(root *schema, m map[string]any) string {
	if s.Type != "object" {
		return ""
	}
	for _, key := range s.Required {
		if _, ok := m[key]; !ok {
			return "no " + key
		}
	}
	for key, value := range m {
		property := s.Properties[key]
		if property == nil && s.AdditionalProperties != nil {
			property = s.AdditionalProperties.schema
		}
		if property == nil {
			return "unknown key " + key
		}
		if why := property.accepts(root, value); why != "" {
			return key + ": " + why
		}
	}
	return ""
}

func jsonTypes(v any) []string {
	switch v.(type) {
	case nil:
		return []string{"null"}
	case bool:
		return []string{"boolean"}
	case string:
		return []string{"string"}
	case []any:
		return []string{"array"}
	case map[string]any:
		return []string{"object"}
	}
	return []string{"number"}
}

func TestSchemaAccepts(t *testing.T) {
	plans := examples(t)
	for _, glob := range []string{"../../plans/*.yaml", "testdata/expand/*.yaml"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("no plans %s: %v", glob, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			must(t, err)
			plans = append(plans, string(text))
		}
	}
	s := readSchema(t)
	for _, text := range plans {
		var v any
		must(t, yaml.Unmarshal([]byte(text), &v))
		if why := s.accepts(s, v); why != "" {
			t.Errorf("the schema refuses: %s\nin\n%s", why, text)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	s := readSchema(t)
	for text, want := range map[string]string{
		`{about: x}`:                                             "no name",
		`{name: p, oops: 1}`:                                     "unknown key oops",
		`{name: p, budget: 5}`:                                   "budget: 5 is no string",
		`{name: p, profiles: {a: {b: c}}}`:                       "profiles: a: unknown key b",
		`{name: p, operations: {a: {per: column}}}`:              "operations: a: per: column is none of [row]",
		`{name: p, operations: {a: {statement: [once, twice]}}}`: "operations: a: statement: [once twice] is none of the forms",
		`{name: p, operations: {a: {args: 5}}}`:                  "operations: a: args: 5 is no string",
	} {
		var v any
		must(t, yaml.Unmarshal([]byte(text), &v))
		if why := s.accepts(s, v); why != want {
			t.Errorf("%s: got %q, want %q", text, why, want)
		}
	}
}

// schemaKeys returns every key of the format.
func schemaKeys(t *testing.T) []string {
	t.Helper()
	var keys []string
	for _, part := range []any{&document{}, &workload{}, &operation{}, &step{}, &check{}, &pool{}, &profile{}, &records{}, &load{}} {
		_, names := keysOf(part)
		keys = append(keys, names...)
	}
	return keys
}
