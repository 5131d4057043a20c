package traffic

// Clean is a text as a log has it, and what it begins or ends, for the tests.
func Clean(query string) (text, mark string) {
	text = clean(query)
	mark, _ = control(text)
	return text, mark
}

// Waiting is how many buffers wait to be written.
func (r *Recorder) Waiting() int { return len(r.chunks) }

// Value is a value as a log has it.
func Value(v any) string { return string(value(nil, v)) }
