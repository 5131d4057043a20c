package build

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLicence(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"MIT":     {"LICENSE", "The MIT License\n\nPermission is hereby granted, free\nof charge, to any person", "MIT"},
		"BSD-3":   {"LICENSE.md", "Redistribution and use in source and binary forms ... be used to endorse or promote products", "BSD-3-Clause"},
		"BSD-2":   {"COPYING", "Redistribution and use in source and binary forms, with or without", "BSD-2-Clause"},
		"Apache":  {"LICENSE", "Apache License\n Version 2.0, January 2004", "Apache-2.0"},
		"ISC":     {"LICENSE", "Permission to use, copy, modify, and distribute this software for any purpose with or without fee", "ISC"},
		"unknown": {"LICENSE", "do what you want", "see LICENSE"},
		"none":    {"README", "MIT", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644))
			if got := licence(dir); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
