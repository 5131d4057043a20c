package dataset

import (
	"fmt"

	"assay"
)

// numberForm is a text in which a number stands, taken apart once; nil: the number
// alone, as a number.
type numberForm []formPart

// formPart is a text and the verb of the number behind it; the last one has none.
type formPart struct{ text, verb string }

func newNumberForm(format string) numberForm {
	if format == "" {
		return nil
	}
	form, from := numberForm{}, 0
	for _, at := range assay.NumberVerb.FindAllStringIndex(format, -1) {
		form = append(form, formPart{format[from:at[0]], format[at[0]:at[1]]})
		from = at[1]
	}
	return append(form, formPart{text: format[from:]})
}

// of returns the number, or the text in which it stands.
func (f numberForm) of(n int64) any {
	if f == nil {
		return n
	}
	var text []byte
	for _, part := range f {
		text = append(text, part.text...)
		if part.verb != "" {
			text = fmt.Appendf(text, part.verb, n)
		}
	}
	return string(text)
}
