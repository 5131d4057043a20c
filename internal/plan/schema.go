package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"assay"
	"assay/kit/kv"
)

// Schema returns the JSON Schema of the format, by which editors complete and
// check plans while they are written. It is made from the structs that Decode
// reads, and says less than Decode: names and references are not in it.
func Schema() ([]byte, error) {
	s := schemaOf[document]()
	s.Version = jsonschema.Version
	s.Title = "assay plan"
	s.Definitions = jsonschema.Definitions{
		"text":      typed("string"),
		"number":    numbers(),
		"scalar":    either(typed("string"), typed("number"), typed("boolean"), typed("null")),
		"pool":      schemaOf[pool](),
		"profile":   schemaOf[profile](),
		"workload":  schemaOf[workload](),
		"operation": schemaOf[operation](),
		"step":      schemaOf[step](),
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the plan's schema: %w", err)
	}
	return append(text, '\n'), nil
}

// schemaOf describes a type of the format.
func schemaOf[T any]() *jsonschema.Schema {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true}
	s := r.ReflectFromType(reflect.TypeFor[T]())
	s.Version = ""
	return s
}

// ref points to the definition of a type.
func ref[T any]() *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/$defs/" + reflect.TypeFor[T]().Name()}
}

// either describes a value of one of several forms.
func either(forms ...*jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{AnyOf: forms} }

func typed(name string) *jsonschema.Schema { return &jsonschema.Schema{Type: name} }

func words(all ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	for _, w := range all {
		s.Enum = append(s.Enum, w)
	}
	return s
}

// The scalars of the format.

func (text) JSONSchema() *jsonschema.Schema { return typed("string") }

func (boolean) JSONSchema() *jsonschema.Schema { return typed("boolean") }

func (scalar) JSONSchema() *jsonschema.Schema { return ref[scalar]() }

func (number) JSONSchema() *jsonschema.Schema { return ref[number]() }

func numbers() *jsonschema.Schema {
	return either(typed("number"),
		&jsonschema.Schema{Type: "string", Pattern: `\{\{`},
		&jsonschema.Schema{Type: "string", Pattern: realPattern.String()})
}

func (duration) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^([0-9.]+(ns|us|µs|ms|s|m|h))+$`}
}

func (fraction) JSONSchema() *jsonschema.Schema {
	return either(typed("number"), &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+%$`})
}

// The parts that can be written in several ways.

func (list[T]) JSONSchema() *jsonschema.Schema {
	item := ref[T]()
	return either(item, &jsonschema.Schema{Type: "array", Items: item})
}

func (dict[T]) JSONSchema() *jsonschema.Schema {
	item := ref[T]()
	if strings.Contains(item.Ref, "[") { // a list, which has no definition of its own
		item = schemaOf[T]()
	}
	return &jsonschema.Schema{Type: "object", AdditionalProperties: item}
}

func (count) JSONSchema() *jsonschema.Schema {
	return either(ref[number](), &jsonschema.Schema{Type: "object", AdditionalProperties: ref[number]()})
}

func (sum) JSONSchema() *jsonschema.Schema {
	return either(words("calls"), &jsonschema.Schema{Type: "object", AdditionalProperties: ref[number]()})
}

func (scanLimit) JSONSchema() *jsonschema.Schema {
	two := uint64(2)
	return either(ref[number](), &jsonschema.Schema{Type: "array", Items: ref[number](), MinItems: &two, MaxItems: &two})
}

// alone adds a short form to the map that a part can be written as.
func alone(s *jsonschema.Schema, short *jsonschema.Schema) {
	long := *s
	*s = *either(short, &long)
}

func (pool) JSONSchemaExtend(s *jsonschema.Schema) { alone(s, ref[number]()) }

func (check) JSONSchemaExtend(s *jsonschema.Schema) { alone(s, typed("string")) }

func (step) JSONSchemaExtend(s *jsonschema.Schema) { limit(s, "draw", words(sortedKeys(sqlDraws)...)) }

func allDraws() []string {
	all := slices.Concat(kvDraws, sortedKeys(sqlDraws))
	slices.Sort(all)
	return slices.Compact(all)
}

func (operation) JSONSchemaExtend(s *jsonschema.Schema) {
	for key, known := range map[string][]string{
		"per": {"row"}, "busy": {"fail", "retry"}, "only": {"mix"}, "kv": kvOperations, "draw": allDraws(), "order": {"drawn", "sorted"}, "serve": {"http"},
	} {
		limit(s, key, words(known...))
	}
	state := words(cacheStates...)
	limit(s, "cache", either(state, &jsonschema.Schema{Type: "array", Items: state}))
	policy := words(statementPolicies...)
	limit(s, "statement", either(policy, &jsonschema.Schema{Type: "array", Items: policy}))
	limitBegin(s)
}

func (document) JSONSchemaExtend(s *jsonschema.Schema) { limitBegin(s) }

func limitBegin(s *jsonschema.Schema) {
	way := &jsonschema.Schema{}
	for _, b := range assay.Begins {
		way.Enum = append(way.Enum, b)
	}
	limit(s, "begin", either(way, &jsonschema.Schema{Type: "array", Items: way}))
}

func (load) JSONSchemaExtend(s *jsonschema.Schema) {
	word := words(assay.Arrivals...)
	limit(s, "arrivals", either(word, &jsonschema.Schema{Type: "array", Items: word}))
}

// limit replaces what a key can be, and keeps its description.
func limit(s *jsonschema.Schema, key string, to *jsonschema.Schema) {
	old, _ := s.Properties.Get(key)
	to.Description = old.Description
	s.Properties.Set(key, to)
}

func (profile) JSONSchemaExtend(s *jsonschema.Schema) {
	for _, setting := range kv.AllSettings {
		value := ref[scalar]()
		value.Description = setting.Want
		if setting.Words != nil {
			value = either(words(setting.Words...), ref[scalar]())
			value.Description = setting.Want
		}
		s.Properties.Set(setting.Name, value)
	}
}
