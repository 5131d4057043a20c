package kit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"assay/kit/answer"
	"assay/kit/column"
	"assay/kit/kv"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// page is the contract of workers: its core, then what else they may have.
func page(t *testing.T) string {
	t.Helper()
	core, err := os.ReadFile("../docs/protocol.md")
	must(t, err)
	more, err := os.ReadFile("../docs/capabilities.md")
	must(t, err)
	if words := len(strings.Fields(string(core))); words > 2500 {
		t.Errorf("docs/protocol.md has %d words, want 2500 at most", words)
	}
	return string(core) + string(more)
}

// blocks returns the lines of the page's fenced blocks of a kind, block by block.
func blocks(t *testing.T, kind string) (all [][]string) {
	t.Helper()
	for _, part := range strings.Split(page(t), "\n```"+kind+"\n")[1:] {
		text, _, closed := strings.Cut(part, "\n```\n")
		if !closed {
			t.Fatalf("a block of %s is not closed", kind)
		}
		all = append(all, strings.Split(text, "\n"))
	}
	if len(all) == 0 {
		t.Fatalf("no block of %s", kind)
	}
	return all
}

// decode is strict: no field that the type does not have, and nothing behind.
func decode(t *testing.T, text string, into any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Errorf("%v in %s", err, text)
	}
	if decoder.More() {
		t.Errorf("more than one value in %s", text)
	}
}

// messages are the requests of the protocol with the bodies of their replies.
var messages = map[string]struct{ request, body any }{
	wire.TypeOpen:     {wire.Open{}, wire.Opened{}},
	wire.TypeSettings: {wire.Settings{}, wire.SettingsRead{}},
	wire.TypePrepare:  {wire.Prepare{}, wire.Prepared{}},
	wire.TypeMeasure:  {wire.Measure{}, wire.Measured{}},
	wire.TypeVerify:   {wire.Verify{}, wire.Verified{}},
	wire.TypeQuery:    {wire.Query{}, struct{}{}},
	wire.TypeStats:    {struct{}{}, wire.Stats{}},
	wire.TypeServe:    {wire.Serve{}, wire.Served{}},
	wire.TypeLoad:     {wire.Load{}, wire.Loaded{}},
	wire.TypeCheck:    {struct{}{}, wire.Checked{}},
	wire.TypeClose:    {struct{}{}, wire.Closed{}},
	"frobnicate":      {struct{}{}, struct{}{}},
}

// TestPageTalks: what the page shows is what the types are, and each request
// is followed by its reply.
func TestPageTalks(t *testing.T) {
	shown := map[string]bool{}
	for _, talk := range blocks(t, "json talk") {
		var asked wire.Envelope
		for _, line := range talk {
			direction, text, _ := strings.Cut(line, " ")
			var head wire.Envelope
			if err := json.Unmarshal([]byte(text), &head); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			switch {
			case direction == "<" && head.Type == "hello":
				var hello wire.Hello
				decode(t, text, &hello)
				if hello.Protocol != wire.Protocol {
					t.Errorf("protocol %d", hello.Protocol)
				}
			case direction == ">" && asked.ID == 0:
				decode(t, text, request(head.Type))
				asked = head
			case direction == "<" && head.ID == asked.ID && asked.ID > 0:
				decode(t, text, reply(head.Type, asked.Type))
				asked = wire.Envelope{}
			default:
				t.Errorf("out of place: %s", line)
			}
			shown[head.Type] = true
		}
		if asked.ID != 0 {
			t.Errorf("request %d has no reply", asked.ID)
		}
	}
	for kind := range messages {
		if !shown[kind] {
			t.Errorf("no example of %s", kind)
		}
	}
}

// request returns a struct with the fields of the envelope and the request.
func request(kind string) any {
	return joined(reflect.TypeFor[wire.Envelope](), reflect.TypeOf(messages[kind].request))
}

func reply(kind, to string) any {
	if kind == "error" {
		return joined(reflect.TypeFor[wire.Envelope](), reflect.TypeFor[wire.Error]())
	}
	body := reflect.StructOf([]reflect.StructField{{Name: "Body", Type: reflect.TypeOf(messages[to].body), Tag: `json:"body"`}})
	return joined(reflect.TypeFor[wire.Envelope](), body)
}

// joined returns a pointer to a struct with the fields of both.
func joined(types ...reflect.Type) any {
	var fields []reflect.StructField
	for _, t := range types {
		fields = append(fields, reflect.VisibleFields(t)...)
	}
	return reflect.New(reflect.StructOf(fields)).Interface()
}

// TestPageNamesEverything: all requests, fields, codes, settings and limits.
func TestPageNamesEverything(t *testing.T) {
	text := page(t)
	for _, literal := range []string{fmt.Sprint(wire.MaxLine, " bytes"), fmt.Sprint("This is version ", wire.Protocol, ".")} {
		if !strings.Contains(text, literal) {
			t.Errorf("%q is not on the page", literal)
		}
	}
	names := append(kv.AllSettings.Names(), "ok", "error", wire.CapSQL, wire.CapKV, wire.CapPostgreSQL, wire.CapCall, wire.CapHTTP, wire.CapAnswers,
		wire.Get, wire.Put, wire.Delete, wire.Scan, wire.Update, wire.GetField, wire.Unsupported, wire.Invalid, wire.Failed)
	types := map[reflect.Type]bool{}
	collect(reflect.TypeFor[wire.Hello](), types)
	collect(reflect.TypeFor[wire.Error](), types)
	for kind, m := range messages {
		if kind != "frobnicate" && !strings.Contains(text, "\n### "+kind+"\n") {
			t.Errorf("request %s has no heading", kind)
		}
		collect(reflect.TypeOf(m.request), types)
		collect(reflect.TypeOf(m.body), types)
	}
	for message := range types {
		for _, field := range reflect.VisibleFields(message) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "."+name+"`") {
			t.Errorf("%s is not on the page", name)
		}
	}
	for _, s := range sqlite.Settings {
		for _, word := range s.Words {
			if !strings.Contains(text, word) {
				t.Errorf("%s=%s is not on the page", s.Name, word)
			}
		}
	}
}

// collect adds a struct type and those within it.
func collect(t reflect.Type, into map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		collect(t.Elem(), into)
	case reflect.Struct:
		if into[t] {
			return
		}
		into[t] = true
		for _, field := range reflect.VisibleFields(t) {
			collect(field.Type, into)
		}
	}
}

func TestPageHistogram(t *testing.T) {
	for _, line := range blocks(t, "json histogram")[0] {
		var vector [2]int64
		decode(t, line, &vector)
		if got := wire.Bucket(vector[0]); got != vector[1] {
			t.Errorf("%d has upper bound %d, the page says %d", vector[0], got, vector[1])
		}
	}
}

// typed turns a row in JSON into values of declared types.
func typed(t *testing.T, types []string, row []any) []any {
	t.Helper()
	values := make([]any, len(row))
	for i, value := range row {
		values[i] = value
		switch v := value.(type) {
		case float64:
			if types[i] == "int" {
				values[i] = int64(v)
			}
		case string:
			if types[i] == "blob" {
				blob, err := hex.DecodeString(v)
				must(t, err)
				values[i] = blob
			}
		}
	}
	return values
}

// bare is hex without comments and spaces.
func bare(t *testing.T, lines ...string) []byte {
	t.Helper()
	var text string
	for _, line := range lines {
		digits, _, _ := strings.Cut(line, "#")
		text += strings.ReplaceAll(digits, " ", "")
	}
	data, err := hex.DecodeString(text)
	must(t, err)
	return data
}

func TestPageColumnFile(t *testing.T) {
	var table struct {
		Columns []string
		Rows    [][]any
	}
	decode(t, blocks(t, "json table")[0][0], &table)
	kinds := map[string]column.Type{"int": column.Int, "text": column.Text}
	var types []column.Type
	for _, name := range table.Columns {
		types = append(types, kinds[name])
	}
	builder := column.NewBuilder(types...)
	for _, row := range table.Rows {
		must(t, builder.Append(typed(t, table.Columns, row)...))
	}
	var file bytes.Buffer
	if _, err := builder.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	lines := blocks(t, "hex")[0]
	if want := bare(t, lines...); !bytes.Equal(file.Bytes(), want) {
		t.Errorf("the file is\n% x\nthe page says\n% x", file.Bytes(), want)
	}
	at := 0
	for _, line := range lines {
		if _, comment, _ := strings.Cut(line, "# "); !strings.HasPrefix(comment+" ", fmt.Sprint(at, " ")) {
			t.Errorf("%s: it is at %d", line, at)
		}
		at += 8
	}
}

func TestPageDigests(t *testing.T) {
	for _, line := range blocks(t, "json digest")[0] {
		var vector struct {
			Returns       []string
			Rows          [][]any
			Bytes, Digest string
		}
		decode(t, line, &vector)
		hash := answer.New(vector.Returns)
		for _, row := range vector.Rows {
			if err := hash.Row(typed(t, vector.Returns, row)); err != nil {
				t.Errorf("%v in %s", err, line)
			}
		}
		spelled := sha256.Sum256(bare(t, vector.Bytes))
		if hash.Sum() != vector.Digest || hex.EncodeToString(spelled[:]) != vector.Digest {
			t.Errorf("digest %s, of the bytes %x, the page says %s", hash.Sum(), spelled, vector.Digest)
		}
	}
}

func TestPageBodies(t *testing.T) {
	var body answer.Body
	for _, line := range blocks(t, "json body")[0] {
		var vector struct {
			Returns []string
			Rows    [][]any
			Body    string
		}
		decode(t, line, &vector)
		body.Begin()
		for _, row := range vector.Rows {
			if err := body.Row(vector.Returns, typed(t, vector.Returns, row)); err != nil {
				t.Errorf("%v in %s", err, line)
			}
		}
		if got := string(body.End(len(vector.Rows))); got != vector.Body {
			t.Errorf("the body is %s, the page says %s", got, vector.Body)
		}
	}
}

// TestPageLinks: every link within the page has its heading.
func TestPageLinks(t *testing.T) {
	text := page(t)
	headings := map[string]bool{}
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
			headings[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(heading)), " ", "-")] = true
		}
	}
	for _, part := range strings.Split(text, "](#")[1:] {
		if target, _, _ := strings.Cut(part, ")"); !headings[target] {
			t.Errorf("no heading for #%s", target)
		}
	}
}
