package draft

import file "assay/kit/column"

// weigh finds how long the drawn texts and blobs are.
func (o *operation) weigh(path string) error {
	drawn, err := file.Open(path)
	if err != nil {
		return err
	}
	next := 0
	for _, st := range o.steps {
		st.bytes = make([]float64, len(st.args))
		for i := range st.bytes {
			st.bytes[i] = meanBytes(drawn, next)
			next++
		}
	}
	return drawn.Close()
}

func meanBytes(f *file.File, i int) float64 {
	if kind := f.Type(i); kind != file.Text && kind != file.Blob || f.Rows() == 0 {
		return -1
	}
	total := 0
	for row := range f.Rows() {
		if !f.Null(i, row) {
			total += len(f.Bytes(i, row))
		}
	}
	return float64(total) / float64(f.Rows())
}
