package store

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// row is a row of a table as exported files have it: its values by the names of
// its columns, which are those of the store.
type row map[string]json.RawMessage

// encodeRow writes what a list of columns and its fields keep.
func encodeRow(columns string, fields []any) (row, error) {
	r := row{}
	for i, name := range strings.Split(columns, ", ") {
		value, err := driver.DefaultParameterConverter.ConvertValue(fields[i])
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
		if r[name], err = encodeValue(value); err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
	}
	return r, nil
}

// decode reads a row into the fields of its columns. A column that an earlier
// version did not have leaves its field as it is; one that is not known is
// refused.
func (r row) decode(columns string, fields []any) error {
	names := strings.Split(columns, ", ")
	for _, name := range slices.Sorted(maps.Keys(r)) {
		i := slices.Index(names, name)
		if i < 0 {
			return fmt.Errorf("column %q is not known", name)
		}
		if err := decodeValue(r[name], fields[i]); err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
	}
	return nil
}

// encodeValue writes a value of a database as JSON, which has no infinite numbers:
// they are texts.
func encodeValue(value driver.Value) (json.RawMessage, error) {
	if f, is := value.(float64); is && math.IsInf(f, 0) {
		value = strconv.FormatFloat(f, 'g', -1, 64)
	}
	return json.Marshal(value)
}

// decodeValue reads a value into a field, as a database would.
func decodeValue(text json.RawMessage, field any) error {
	if scanner, is := field.(sql.Scanner); is {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return err
		}
		return scanner.Scan(value)
	}
	if bytes.Equal(text, []byte("null")) {
		return errors.New("it has no value")
	}
	if number, is := field.(*float64); is {
		return decodeNumber(text, number)
	}
	return json.Unmarshal(text, field)
}

func decodeNumber(text json.RawMessage, number *float64) error {
	if !bytes.HasPrefix(text, []byte(`"`)) {
		return json.Unmarshal(text, number)
	}
	switch string(text) {
	case `"+Inf"`:
		*number = math.Inf(1)
	case `"-Inf"`:
		*number = math.Inf(-1)
	default:
		return fmt.Errorf("%.20s is not a number", text)
	}
	return nil
}

func decodeRows[T any](rows []row, columns string, fields func(*T) []any) ([]T, error) {
	var all []T
	for _, r := range rows {
		var one T
		if err := r.decode(columns, fields(&one)); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func encodeRows[T any](all []T, columns string, fields func(*T) []any) ([]row, error) {
	var rows []row
	for i := range all {
		one, err := encodeRow(columns, fields(&all[i]))
		if err != nil {
			return nil, err
		}
		rows = append(rows, one)
	}
	return rows, nil
}
