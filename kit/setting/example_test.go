package setting_test

import (
	"fmt"

	"assay/kit/setting"
)

// A user writes a value in several ways; assay compares what an engine reads back.
func ExampleSetting_Normal() {
	settings := setting.Table{
		setting.Milliseconds("busy_timeout"),
		setting.Boolean("foreign_keys"),
		setting.Numbered("synchronous", "off", "normal", "full"),
	}
	for _, written := range [][2]string{{"synchronous", "NORMAL"}, {"busy_timeout", "5s"}, {"foreign_keys", "maybe"}} {
		s, _ := settings.Lookup(written[0])
		value, err := s.Normal(written[1])
		fmt.Printf("%s %q %v\n", s.Name, value, err)
	}
	// Output:
	// synchronous "1" <nil>
	// busy_timeout "5000" <nil>
	// foreign_keys "" foreign_keys cannot be "maybe": want on or off
}
