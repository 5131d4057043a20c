package plan

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"assay/kit/kv"
)

//go:embed schema.yaml
var schemaText []byte

// Schema returns the JSON Schema of the format, by which editors complete plans while they
// are written, and by which Decode checks them. Names and references are not in it.
func Schema() ([]byte, error) {
	var root map[string]any
	if err := yaml.Unmarshal(schemaText, &root); err != nil {
		return nil, fmt.Errorf("read the plan's schema: %w", err)
	}
	for _, part := range []string{"profile", "settings"} {
		keys := under(root, "$defs", part, "properties").(map[string]any)
		for _, s := range kv.AllSettings {
			value := map[string]any{"$ref": "#/$defs/scalar", "description": s.Want}
			if s.Words != nil {
				value["examples"] = s.Words
			}
			keys[s.Name] = value
		}
	}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the plan's schema: %w", err)
	}
	return append(text, '\n'), nil
}

// under follows keys into a schema; nil where there is no such part.
func under(part any, keys ...string) any {
	for _, key := range keys {
		switch p := part.(type) {
		case map[string]any:
			part = p[key]
		case []any:
			i, _ := strconv.Atoi(key)
			part = p[i]
		}
	}
	return part
}

// format is the schema as it checks, and as it was written.
type format struct {
	*jsonschema.Schema
	root any
}

var theFormat = sync.OnceValue(readFormat)

func readFormat() format {
	const name = "https://assay/plan.json" // a relative one is of the working directory, whose name it escapes once
	text, err := Schema()
	if err != nil {
		panic(err)
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, root); err != nil {
		panic(err)
	}
	return format{c.MustCompile(name), root}
}

// driverPattern matches a driver of a plan, or of a flag.
var driverPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(under(theFormat().root, "$defs", "driver", "pattern").(string))
})

// follow reports where a plan does not follow the schema, and takes away what has the wrong
// form, so that the rest can be read.
func (m *mistakes) follow(root ast.Node) {
	all := spots{"": {place{1, 1}, root, func() {}}}
	var wrong *jsonschema.ValidationError
	if !errors.As(theFormat().Validate(m.take(root, nil, all)), &wrong) {
		return
	}
	leaves, misspelt := leavesOf(wrong), map[string]bool{}
	for _, e := range leaves {
		if _, unknown := e.ErrorKind.(*kind.AdditionalProperties); unknown {
			misspelt[wayTo(e.InstanceLocation...)] = true
		}
	}
	for _, e := range leaves {
		if !misspelt[wayTo(e.InstanceLocation...)] || !isMissing(e) { // what is missing may be there, misspelt
			m.deviation(e, all)
		}
	}
}

// leavesOf are the mistakes that a schema's error is made of. Of several forms that a value
// may have, it is the one that it has.
func leavesOf(e *jsonschema.ValidationError) (all []*jsonschema.ValidationError) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		for _, form := range e.Causes {
			leaves := leavesOf(form)
			other := func(l *jsonschema.ValidationError) bool {
				return len(l.InstanceLocation) == len(e.InstanceLocation) && isForm(l)
			}
			if !isMissing(e) && !slices.ContainsFunc(leaves, other) {
				return leaves
			}
		}
		return []*jsonschema.ValidationError{e}
	}
	for _, cause := range e.Causes {
		all = append(all, leavesOf(cause)...)
	}
	if all == nil {
		all = []*jsonschema.ValidationError{e}
	}
	return all
}

// isMissing reports a key that a map needs, or one of several.
func isMissing(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.Required, *kind.DependentRequired:
		return true
	}
	return len(e.Causes) > 0 && isMissing(e.Causes[0])
}

// isForm reports a value of another form than the one wanted.
func isForm(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.Type, *kind.AnyOf:
		return !isMissing(e)
	}
	return false
}

var besidePattern = regexp.MustCompile(`/dependentSchemas/(\w+)/`)

// deviation words a mistake that the schema finds.
func (m *mistakes) deviation(e *jsonschema.ValidationError, all spots) {
	way := e.InstanceLocation
	here := all[wayTo(way...)]
	at := placeOf(here.value)
	if len(way) == 0 {
		at = here.key
	}
	_, pointer, _ := strings.Cut(e.SchemaURL, "#")
	schema := strings.FieldsFunc(pointer, func(r rune) bool { return r == '/' })
	title := titleOf(schema)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		known := slices.Sorted(maps.Keys(under(theFormat().root, append(schema, "properties")...).(map[string]any)))
		m.misspelt[placeOf(here.value)] = true
		for _, key := range k.Properties {
			m.unknownKey(all[wayTo(append(slices.Clip(way), key)...)], title, key, known)
		}
	case *kind.Required:
		m.at(at, "%s needs %s", title, strings.Join(k.Missing, " and "))
	case *kind.DependentRequired:
		m.at(placeOf(all[wayTo(append(slices.Clip(way), k.Prop)...)].value), "%s needs %s beside it", k.Prop, k.Missing[0])
	case *kind.FalseSchema:
		m.at(at, "%s does not go with %s", last(way), besidePattern.FindStringSubmatch(e.SchemaURL)[1])
	case *kind.Not:
		m.at(at, "%s", title)
	case *kind.UniqueItems:
		item := all[wayTo(append(slices.Clip(way), strconv.Itoa(k.Duplicates[1]))...)].value
		m.at(placeOf(item), "%s is listed twice", describe(item))
	case *kind.Type:
		wording := "want %s, not %s"
		if k.Want[0] == "object" {
			wording = "%s is a map, not %s"
		}
		m.at(at, wording, title, describe(here.value))
	case *kind.AnyOf:
		if isMissing(e) {
			m.at(at, "%s needs %s", title, either(needed(schema, nil)))
		} else {
			m.at(at, "want %s, not %s", title, describe(here.value))
		}
	case *kind.MinLength, *kind.MinItems, *kind.MinProperties:
		m.at(at, "%s is empty: leave it out", last(way))
	case *kind.Enum:
		var known []string
		for _, word := range k.Want {
			known = append(known, fmt.Sprint(word))
		}
		m.unknown(at, "value of "+last(way), fmt.Sprint(k.Got), known)
	case *kind.OneOf:
		if keys := needed(schema, k.Subschemas); k.Subschemas != nil {
			m.at(at, "%s has one of %s", title, strings.Join(keys, " and "))
		} else {
			m.at(at, "%s needs %s", title, either(keys))
		}
	default:
		m.at(at, "want %s, not %s", title, describe(here.value))
	}
	switch e.ErrorKind.(type) {
	case *kind.Type, *kind.AnyOf, *kind.Pattern, *kind.MaxItems:
		if !isMissing(e) {
			here.clear()
		}
	}
}

// titleOf returns what the schema calls a value: the title of a part, or of what it is a form of.
func titleOf(schema []string) string {
	for n := len(schema); n > 0; n-- {
		if title, has := under(theFormat().root, append(slices.Clip(schema[:n]), "title")...).(string); has {
			return title
		}
	}
	return under(theFormat().root, "title").(string)
}

// last is the key of a value, or of the list that it is in.
func last(way []string) string {
	for _, key := range slices.Backward(way) {
		if _, err := strconv.Atoi(key); err != nil {
			return key
		}
	}
	return "the plan"
}

// unknownKey reports a key that the format does not have.
func (m *mistakes) unknownKey(s spot, part, key string, known []string) {
	if _, empty := s.value.(*ast.NullNode); empty && strings.ContainsAny(key, " =*") {
		m.at(s.key, "a value of %s ends at the comma before %q: put quotes around a text that has commas", part, key)
		return
	}
	m.unknown(s.key, strings.TrimSuffix("key of "+part, " of a plan"), key, known)
}

// needed are the keys of which a map needs one; of some forms, or of all.
func needed(schema []string, of []int) (keys []string) {
	forms := under(theFormat().root, schema...).(map[string]any)
	for _, list := range []string{"oneOf", "anyOf"} {
		all, _ := forms[list].([]any)
		for i, form := range all {
			if of == nil || slices.Contains(of, i) {
				keys = append(keys, under(form, "required", "0").(string))
			}
		}
	}
	return keys
}

// either lists words, of which one is wanted.
func either(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
