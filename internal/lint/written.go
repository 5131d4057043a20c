package lint

import (
	"slices"
	"strconv"
	"strings"

	"assay/internal/lint/facts"
)

// written is a setting in a file that configures a library.
type written struct {
	library      string
	place, key   string // as facts.Option has them
	value        string
	known        bool // the value stands in the file
	line, column int
}

// String is the setting as it stands in its file.
func (w written) String() string { return shown(w.library, w.place, w.key, w.value) }

// shown is a setting as it stands in a configuration.
func shown(library, place, key, value string) string {
	if value == "" {
		value = "..."
	}
	name, parameter := asParameter(key, value)
	switch {
	case library == facts.SQLAlchemy:
		return shownOfEngine(place, name, parameter, value)
	case library == facts.Django:
		return shownOfDatabase(place, key, parameter, value)
	case place == "":
		return key + ": " + value
	}
	return place + ": {" + key + ": " + value + "}"
}

// asParameter is a key of facts with its value as a parameter behind a question
// mark, and the parameter's name.
func asParameter(key, value string) (name, parameter string) {
	name, pragma, nested := strings.Cut(key, "=")
	switch {
	case nested && strings.HasSuffix(pragma, "="):
		return name, key + value
	case nested:
		return name, strings.TrimSuffix(key, ")") + value + ")"
	}
	return name, name + "=" + value
}

// shownOfEngine is a setting in the arguments of SQLAlchemy's create_engine.
func shownOfEngine(place, name, parameter, value string) string {
	switch place {
	case facts.InURL:
		return "sqlite:///...?" + parameter
	case facts.InFileURL:
		return "sqlite:///file:...?" + parameter
	case facts.InURI:
		return "sqlite:///file:...?" + parameter + "&uri=true"
	}
	return place + `={"` + name + `": ` + inPython(value) + "}"
}

// shownOfDatabase is a setting in an entry of Django's DATABASES.
func shownOfDatabase(place, key, parameter, value string) string {
	switch place {
	case facts.InName:
		return `"NAME": "...?` + parameter + `"`
	case facts.InFileName:
		return `"NAME": "file:...?` + parameter + `"`
	case "":
		return `"` + key + `": ` + inPython(value)
	}
	return `"` + place + `": {"` + key + `": ` + inPython(value) + "}"
}

// maxShown is how much of a value a message shows, in bytes.
const maxShown = 60

// inPython is a value as Python's source has it.
func inPython(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil || slices.Contains([]string{"True", "False", "None", "...", seconds}, value) {
		return value
	}
	if len(value) > maxShown {
		value = strings.ToValidUTF8(value[:maxShown-3], "") + "..."
	}
	return `"` + value + `"`
}

// quoted is text for a message, without control characters.
func quoted(text string) string {
	text = strconv.Quote(text)
	return text[1 : len(text)-1]
}
