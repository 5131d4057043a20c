package store

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/lib/pq"
)

// schemes begin the URL of a store.
var schemes = []string{"postgres", "postgresql"}

// IsURL reports whether a location is that of a server, and no file's. What only looks
// like one, such as a URL without its slashes or the words that libpq takes, counts
// too, and is refused: as the name of a file, a password in it would be shown.
func IsURL(location string) bool {
	scheme, _, _ := strings.Cut(location, ":")
	return strings.Contains(location, "://") || slices.Contains(schemes, strings.ToLower(scheme)) && scheme != location || strings.Contains(location, "password=")
}

// address is a server's URL, as it may be shown, and how to connect to it.
type address struct {
	name   string // with the user's name and without a password
	config pq.Config
}

// secrets are the parameters of a URL that may hold a password or a key.
var secrets = []string{"password", "sslpassword", "sslkey", "sslcert"}

// parseURL reads the URL of a store. What it refuses may hold a password: no part of
// it is in the error.
func parseURL(location string) (address, error) {
	scheme, rest, _ := strings.Cut(location, "://")
	if !slices.Contains(schemes, scheme) {
		return address{}, &LocationError{"the URL of a store begins with postgres:// and has no spaces; a file has a path"}
	}
	u, err := url.Parse(location)
	// A slash, a question mark or a number sign in a password would end it, and
	// what follows would be shown.
	if err != nil || u.Fragment != "" || strings.Contains(u.Path, "@") || strings.Contains(u.RawQuery, "@") || strings.Count(rest, "#") > 0 {
		return address{}, &LocationError{"the URL cannot be read: want postgres://USER@HOST:PORT/DATABASE, in which the characters @ : / ? # % of a name or password are written as %40 %3A %2F %3F %23 %25"}
	}
	query := u.Query()
	config, err := pq.NewConfig(location)
	if err != nil {
		return address{}, &LocationError{"the URL cannot be used (" + withoutSecrets(err.Error(), u) + "): want postgres://USER@HOST:PORT/DATABASE"}
	}
	// Tables lie in a schema of their own, so that a database may hold others too.
	if config.Runtime == nil {
		config.Runtime = map[string]string{}
	}
	config.Runtime["search_path"] = schemaName
	config.ApplicationName = cmp.Or(config.ApplicationName, "assay")
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTimeout)
	shown := url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}
	kept := url.Values{}
	for name := range query {
		if slices.Contains([]string{"host", "port", "dbname", "sslmode"}, name) {
			kept.Set(name, query.Get(name))
		}
	}
	shown.RawQuery = kept.Encode()
	if user := u.User.Username(); user != "" {
		shown.User = url.User(user)
	}
	return address{shown.String(), config}, nil
}

// withoutSecrets is a message of the driver, unless it has a part of the URL that
// nobody may see.
func withoutSecrets(text string, u *url.URL) string {
	password, _ := u.User.Password()
	hidden := []string{password}
	for _, name := range secrets {
		hidden = append(hidden, u.Query().Get(name))
	}
	for _, secret := range hidden {
		if secret != "" && strings.Contains(text, secret) {
			return "one of its parameters is not valid"
		}
	}
	return text
}

// WithPassword is a location whose URL has a password: this one where it has none. What
// is no URL, or none that can be read, is returned as it is.
func WithPassword(location, password string) string {
	u, err := url.Parse(location)
	if password == "" || !IsURL(location) || err != nil {
		return location
	}
	query := u.Query()
	if _, has := u.User.Password(); has || query.Has("password") {
		return location
	}
	query.Set("password", password)
	u.RawQuery = query.Encode()
	return u.String()
}

// Shown is a location without a password.
func Shown(location string) (string, error) {
	if !IsURL(location) {
		return location, nil
	}
	at, err := parseURL(location)
	return at.name, err
}
