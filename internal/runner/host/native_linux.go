package host

// addNative adds what no file tells.
func addNative(facts map[string]string, dir string) {
	put(facts, "disk-free", diskFree(dir))
}
