package wire

import "fmt"

// ReadSettings reads settings back on a connection of this name, each by read. Those of
// which nothing is known are absent.
func ReadSettings(connection string, names []string, read func(name string) (value string, known bool, err error)) (Connection, error) {
	c := Connection{Name: connection, Settings: map[string]string{}}
	for _, name := range names {
		value, known, err := read(name)
		if err != nil {
			return c, fmt.Errorf("%s: read %s: %w", connection, name, err)
		}
		if known {
			c.Settings[name] = value
		}
	}
	return c, nil
}
