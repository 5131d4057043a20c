package tune

import "testing"

func TestBytes(t *testing.T) {
	for text, want := range map[string]string{"256M": "256M", "1GiB": "1G", "1024k": "1M", "1536MB": "1536M", "1000000": "1000000", "1": "1"} {
		got, err := ParseBytes(text)
		if err != nil || got.String() != want {
			t.Errorf("%s: got %s, %v; want %s", text, got, err, want)
		}
		if again, err := ParseBytes(got.String()); err != nil || again != got {
			t.Errorf("%s: read back as %d, %v; want %d", got, again, err, got)
		}
	}
	for _, text := range []string{"", "0", "-1M", "M", "1T", "9999999999G", "1.5G"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}
