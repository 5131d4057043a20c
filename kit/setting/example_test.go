package setting_test

import (
	"fmt"

	"assay/kit/sqlite"
)

// A user writes a value in several ways; assay compares what an engine reads back.
func ExampleSetting_Normal() {
	for _, written := range [][2]string{{"synchronous", "normal"}, {"busy_timeout", "5s"}, {"journal_mode", "WAL"}, {"foreign_keys", "maybe"}} {
		s, _ := sqlite.Settings.Lookup(written[0])
		value, err := s.Normal(written[1])
		fmt.Println(s.Name, value, err)
	}
	// Output:
	// synchronous 1 <nil>
	// busy_timeout 5000 <nil>
	// journal_mode wal <nil>
	// foreign_keys  foreign_keys cannot be "maybe": want on or off
}
