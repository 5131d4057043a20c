//go:build !linux

package main

import "os"

func syncData(file *os.File) error { return file.Sync() }
