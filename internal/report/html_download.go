package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"sync"
)

// maxPlain is how many figures a page may have whose downloads are kept as they
// are: about 400 kB of CSV. With more, all of them are compressed, so that the
// page stays small enough to be sent; nothing is left out.
const maxPlain = 1400

// download is a file inside the page.
type download struct {
	Name string
	Size string
	URL  template.URL
}

// packer makes downloads, several at a time.
type packer struct {
	compress bool
	idle     sync.Pool // of *gzip.Writer: they are large, and used again
}

// download encodes what write writes. The URL is made of base64 alone, which
// cannot end an attribute.
func (p *packer) download(name string, write func(io.Writer) error) (download, error) {
	var content bytes.Buffer
	kind, size := "text/csv", 0
	if p.compress {
		name, kind = name+".gz", "application/gzip"
		written, err := p.pack(&content, write)
		if err != nil {
			return download{}, fmt.Errorf("%s: %w", name, err)
		}
		size = written
	} else if err := write(&content); err != nil {
		return download{}, fmt.Errorf("%s: %w", name, err)
	}
	words := human(float64(content.Len()), "B")
	if p.compress {
		words = fmt.Sprintf("%s, compressed to %s: unpack with gunzip", human(float64(size), "B"), words)
	}
	return download{name, words, template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(content.Bytes()))}, nil
}

// pack compresses what write writes, and counts it.
func (p *packer) pack(to io.Writer, write func(io.Writer) error) (written int, err error) {
	compressor, _ := p.idle.Get().(*gzip.Writer)
	if compressor == nil {
		compressor = gzip.NewWriter(nil)
	}
	defer p.idle.Put(compressor)
	compressor.Reset(to)
	counted := &counter{to: compressor}
	if err := write(counted); err != nil {
		return 0, err
	}
	return counted.written, compressor.Close()
}

// counter counts the bytes that pass.
type counter struct {
	to      io.Writer
	written int
}

// Write passes them on.
func (c *counter) Write(data []byte) (int, error) {
	n, err := c.to.Write(data)
	c.written += n
	return n, err
}
