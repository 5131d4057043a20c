package kit

import (
	"os"

	"assay/kit/wire"
)

// marked is a client that writes a byte after each unit: to whom traces system
// calls, that is when the unit was acknowledged.
type marked struct {
	Client
	file *os.File
}

var markByte = []byte{'.'}

func (m marked) Do(position int) (int, error) {
	rows, err := m.Client.Do(position)
	if err == nil {
		_, err = m.file.Write(markByte)
	}
	return rows, err
}

// mark replaces the one client by one that marks its units in a file.
func mark(clients []Client, path string) ([]Client, *os.File, error) {
	if len(clients) != 1 {
		return nil, nil, wire.Errorf(wire.Invalid, "marks of %d clients: want one client", len(clients))
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, wire.Errorf(wire.Invalid, "marks: %v", err)
	}
	return []Client{marked{clients[0], file}}, file, nil
}
