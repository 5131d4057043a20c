package traffic

// Mark is what a statement begins or ends, for the tests.
func Mark(query string) string {
	mark, _ := control(query)
	return mark
}

// Waiting is how many chunks wait to be written.
func (r *Recorder) Waiting() int { return len(r.chunks) }
