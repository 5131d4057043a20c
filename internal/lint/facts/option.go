package facts

import "slices"

// The libraries that have facts.
const (
	ActiveRecord = "activerecord"
	Django       = "django"
	SQLAlchemy   = "sqlalchemy"
)

// Option is one way to write a setting in the configuration of a library, or in a DSN of a
// driver for Go.
type Option struct {
	// Place is where it stands: in ActiveRecord and Django the key that it lies
	// under, empty for the outermost level; in SQLAlchemy and in DSNs one of their places.
	Place string
	// Key is its name, of a parameter with the PRAGMA that it takes: _pragma=journal_mode(),
	// or _pragma=journal_mode= without parentheses around the value.
	Key     string
	Meaning string // the setting that it means
	// Observed is what reports whether it took effect: Meaning, unless that cannot
	// be read back.
	Observed string
	Values   []Value // to try; the first one that differs from the default is
}

// Value is a value as it is written, and as it reads back.
type Value struct {
	Written any
	Read    string
}

// String is the option as facts list it: pragmas.journal_mode, file:?_journal_mode.
func (o Option) String() string {
	if o.Place == "" || o.Place == InFile || o.Place == InPath {
		return o.Place + o.Key
	}
	return o.Place + "." + o.Key
}

// With is the option as a parameter with a value.
func (o Option) With(value string) string {
	switch name, pragma, end := parts(o.Key); {
	case pragma == "":
		return o.Key + "=" + value
	case end == "=":
		return o.Key + value
	default:
		return name + "=" + pragma + "(" + value + ")"
	}
}

// The places of SQLAlchemy: the address with a path, with a path that begins
// with file:, and with that and uri=true; and arguments of create_engine.
const (
	InURL       = "url"
	InFileURL   = "file"
	InURI       = "uri"
	InArguments = "connect_args"
	InEngine    = "create_engine"
)

// Places of Django beside the entry of DATABASES and its OPTIONS: parameters in
// NAME, and in a NAME that begins with file:.
const (
	InName     = "NAME"
	InFileName = "NAME:file"
)

// InitCommand is SQL that runs on every new connection.
const InitCommand = "init_command"

// Settings that are observed otherwise than by a PRAGMA.
const (
	Begin    = "begin"     // the word behind BEGIN, or deferred
	ReadOnly = "read_only" // 1: writes are refused
	Waits    = "waits"     // 1: a write waits for a lock
	Kept     = "kept"      // 1: the connection stays open at the end of a request
)

// Find returns the option of a library at a place; false where none was tried.
func Find(library, place, key string) (Option, bool) {
	all := Options(library)
	i := slices.IndexFunc(all, func(o Option) bool { return o.Place == place && o.Key == key })
	if i < 0 {
		return Option{}, false
	}
	return all[i], true
}

// Options returns all that a library is asked about, or a driver for Go.
func Options(library string) []Option {
	switch library {
	case ActiveRecord:
		return activeRecord()
	case Django:
		return django()
	case SQLAlchemy:
		return sqlAlchemy()
	}
	return spellings
}

// Observations returns what is observed of a library's connections.
func Observations(library string) []string {
	var all []string
	for _, o := range Options(library) {
		all = append(all, o.Observed)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func option(places, keys []string, meaning string, values ...Value) []Option {
	var all []Option
	for _, place := range places {
		for _, key := range keys {
			all = append(all, Option{place, key, meaning, meaning, values})
		}
	}
	return all
}

var (
	modes    = []Value{{"immediate", "immediate"}, {"exclusive", "exclusive"}}
	readOnly = []Value{{true, "1"}}
	// unfit are PRAGMAs of new files only, or that lock others out.
	unfit = []string{"auto_vacuum", "page_size", "locking_mode", "busy_timeout"}
)

// pragmas are PRAGMAs by their own names, and, where the library's users may
// come from Go, by other drivers' names.
func pragmas(places []string) []Option {
	var all []Option
	for _, q := range questions {
		if q.pragma && !slices.Contains(unfit, q.setting) {
			all = append(all, option(places, []string{q.setting}, q.setting, q.tried()...)...)
		}
	}
	return all
}

func (q question) tried() []Value {
	var all []Value
	for _, v := range q.values {
		if v.read != "" {
			all = append(all, Value{number(v.written), v.read})
		}
	}
	return all
}

// activeRecord are the keys of config/database.yml.
func activeRecord() []Option {
	waiting, places := Value{5000, "1"}, []string{"", "pragmas", "variables"}
	return slices.Concat(
		pragmas(places),
		option(places, []string{"busy_timeout"}, Waits, waiting),
		option([]string{""}, []string{"timeout", "busy_handler_timeout"}, Waits, waiting),
		option([]string{""}, []string{"retries"}, Waits, Value{1_000_000_000, "1"}),
		option([]string{"", "pragmas"}, []string{"default_transaction_mode", "transaction_mode", "isolation_level"}, Begin, modes...),
		option([]string{""}, []string{"readonly", "read_only"}, ReadOnly, readOnly...),
	)
}

// seconds are what Python's module sqlite3 takes as its timeout.
var seconds = []Value{{7, "7000"}}

// django are the keys of an entry of DATABASES.
func django() []Option {
	places := []string{"", "OPTIONS"}
	spelled := append(places, "options")
	foreigners := option([]string{"OPTIONS"}, foreign, "foreign", seconds...)
	for i := range foreigners {
		foreigners[i].Observed = "busy_timeout"
	}
	command := option(spelled, []string{InitCommand, "INIT_COMMAND"}, InitCommand, Value{"PRAGMA cache_size = 4321", "4321"})
	for i := range command {
		command[i].Observed = "cache_size"
	}
	return slices.Concat(
		pragmas(places),
		option(spelled, []string{"timeout", "TIMEOUT"}, "busy_timeout", seconds...),
		option(places, []string{"busy_timeout", "BUSY_TIMEOUT"}, "busy_timeout", Value{1234, "1234"}),
		option(spelled, []string{"transaction_mode", "TRANSACTION_MODE", "isolation_level"}, Begin, transactions...),
		option(places, []string{"CONN_MAX_AGE", "conn_max_age"}, Kept, Value{600, "1"}),
		command,
		option([]string{"OPTIONS"}, []string{"connect_timeout"}, "busy_timeout", seconds...),
		foreigners,
		parameters([]string{InName, InFileName}),
		option([]string{InName, InFileName}, []string{"timeout"}, "busy_timeout", seconds...),
	)
}

// foreign are keys of other databases that are left behind.
var foreign = []string{"charset", "use_unicode", "sql_mode", "read_timeout", "sslmode", "options", "statement_timeout", "pool"}

// transactions are how Python's libraries name the word behind BEGIN.
var transactions = []Value{{"IMMEDIATE", "immediate"}, {"EXCLUSIVE", "exclusive"}}

// parameters returns the parameters of an address or of a file's name, behind a question mark,
// also as drivers for Go know them.
func parameters(places []string) []Option {
	var all []Option
	for _, q := range questions {
		if !q.pragma && q.setting != ReadOnly || slices.Contains(unfit, q.setting) && q.setting != "busy_timeout" {
			continue
		}
		for _, key := range q.spelled() {
			if q.setting != "busy_timeout" || key != "timeout" {
				all = append(all, option(places, []string{key}, q.setting, q.tried()...)...)
			}
		}
	}
	return all
}

// sqlAlchemy are the keys in the address and in the arguments of create_engine.
func sqlAlchemy() []Option {
	addresses, arguments := []string{InURL, InFileURL, InURI}, []string{InArguments, InEngine}
	return slices.Concat(
		parameters(addresses),
		option(slices.Concat(addresses, arguments), []string{"timeout"}, "busy_timeout", seconds...),
		option(append(addresses, InArguments), []string{"isolation_level"}, Begin, transactions...),
		option(arguments, []string{"busy_timeout"}, "busy_timeout", Value{1234, "1234"}),
		pragmas(arguments))
}
