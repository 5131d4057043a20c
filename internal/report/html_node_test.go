package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// find returns the elements below a node with a name, a .CLASS or an #ID.
func find(n *html.Node, condition string) []*html.Node {
	var all []*html.Node
	for d := range n.Descendants() {
		if d.Type != html.ElementNode {
			continue
		}
		switch {
		case condition[0] == '.' && slices.Contains(strings.Fields(attribute(d, "class")), condition[1:]),
			condition[0] == '#' && attribute(d, "id") == condition[1:], d.Data == condition:
			all = append(all, d)
		}
	}
	return all
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// wordsOf is what a reader sees of a node.
func wordsOf(n *html.Node) string {
	var s strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			s.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(s.String())
}

// content decodes a download.
func content(t *testing.T, link *html.Node) []byte {
	t.Helper()
	head, data, _ := strings.Cut(attribute(link, "href"), ";base64,")
	raw, err := base64.StdEncoding.DecodeString(data)
	must(t, err)
	if head == "data:application/gzip" {
		unpacked, err := gzip.NewReader(bytes.NewReader(raw))
		must(t, err)
		if raw, err = io.ReadAll(unpacked); err != nil {
			t.Fatal(err)
		}
	} else if head != "data:text/csv" {
		t.Fatalf("a download is %s", head)
	}
	return raw
}
