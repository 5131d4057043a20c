//go:build !linux

package syncs

import "os"

func syncData(file *os.File) error { return file.Sync() }
