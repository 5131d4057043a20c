package published

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"assay/internal/sys/file"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// InputError is a mistake in a file of a source of one's own.
type InputError struct{ error }

// Unwrap returns the mistake: file:line:column: message.
func (e *InputError) Unwrap() error { return e.error }

// maxSize bounds each file of a source.
const maxSize = 16 << 20

// Open reads a source of one's own: a file of claims, which names the file of its figures and
// that of their cells, where there are any, as seen from its folder.
func Open(path string) (Source, error) {
	s, err := open(path)
	if err != nil {
		err = &InputError{err}
	}
	return s, err
}

func open(path string) (Source, error) {
	text, err := file.Read(path, maxSize)
	if err != nil {
		return Source{}, err
	}
	s, err := decodeClaims(path, text)
	if err != nil {
		return s, err
	}
	s.Name = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), "-claims")
	if len(s.Claims) == 0 {
		return s, mistake(path, text, "$", errors.New("there are no claims"))
	}
	if s.FiguresFile != "" {
		if s.figures, err = ownFigures(resolved(path, s.FiguresFile)); err != nil {
			return s, err
		}
	}
	if s.MappingFile != "" {
		if err := s.placeOwn(resolved(path, s.MappingFile)); err != nil {
			return s, err
		}
	}
	return s, s.checkFigures(path, text)
}

// placeOwn gives the figures their cells, and claims that name none those of their figures.
func (s *Source) placeOwn(path string) error {
	rules, err := file.Read(path, maxSize)
	if err == nil {
		err = place(s.figures, path, rules)
	}
	if err != nil {
		return err
	}
	for i := range s.Claims {
		s.Claims[i].fill(*s)
	}
	return nil
}

// fill takes from the figures what the claim does not say: the plan, the metric and the cells.
func (c *Claim) fill(s Source) {
	for i := range c.Compare {
		p := &c.Compare[i]
		a, b, known, err := s.Ratio(*p)
		if err != nil || !known || len(p.A)+len(p.B) > 0 || a.Cell.Plan == "" || a.Cell.Plan != b.Cell.Plan {
			continue
		}
		c.Plan, c.Metric, p.A, p.B = a.Cell.Plan, a.Cell.Metric, map[string]string{}, map[string]string{}
		for name := range a.Cell.Only {
			p.A[name] = a.Cell.Only[name][0]
		}
		for name := range b.Cell.Only {
			p.B[name] = b.Cell.Only[name][0]
		}
	}
}

// checkFigures finds the figures of every comparison.
func (s Source) checkFigures(path string, text []byte) error {
	for i, c := range s.Claims {
		for j, p := range c.Compare {
			if _, _, _, err := s.Ratio(p); err != nil {
				return mistake(path, text, fmt.Sprintf("$.claims[%d].compare[%d]", i, j), fmt.Errorf("claim %q: %w", c.Name, err))
			}
		}
	}
	return nil
}

// resolved is a file that another one names, from the folder of that.
func resolved(path, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(path), name)
}

// decodeYAML reads a document whose keys are all known.
func decodeYAML(file string, text []byte, into any) error {
	if err := checkTokens(file, text); err != nil {
		return err
	}
	err := yaml.UnmarshalWithOptions(text, into, yaml.Strict())
	if wrong := yaml.Error(nil); errors.As(err, &wrong) && wrong.GetToken() != nil {
		at := wrong.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %s", file, at.Line, at.Column, wrong.GetMessage())
	}
	if err != nil {
		return fmt.Errorf("%s:1:1: %w", file, err)
	}
	return nil
}

// maxTokens bounds what is parsed: a claim has about a hundred.
const maxTokens = 200_000

// checkTokens refuses what a document of a few lines can fill the memory with: aliases of
// aliases, and what is nested thousands of times.
func checkTokens(file string, text []byte) error {
	const maxDepth = 100
	tokens, depth, entries, line := lexer.Tokenize(string(text)), 0, 0, 0
	if len(tokens) > maxTokens {
		return fmt.Errorf("%s:1:1: it has %d YAML tokens, more than %d", file, len(tokens), maxTokens)
	}
	for _, t := range tokens {
		if t.Position.Line != line {
			line, entries = t.Position.Line, 0
		}
		wrong := ""
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			wrong = "anchors, aliases and merge keys are not part of the format: write the value out"
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			entries++
		}
		if depth+entries > maxDepth {
			wrong = fmt.Sprintf("it is nested over %d times", maxDepth)
		}
		if wrong != "" {
			return fmt.Errorf("%s:%d:%d: %s", file, t.Position.Line, t.Position.Column, wrong)
		}
	}
	return nil
}

// mistake says where in a document something is wrong.
func mistake(file string, text []byte, path string, err error) error {
	line, column := 1, 1
	if parsed, bad := parser.ParseBytes(text, 0); bad == nil {
		if p, bad := yaml.PathString(path); bad == nil {
			if node, bad := p.FilterFile(parsed); bad == nil && node.GetToken() != nil {
				at := node.GetToken().Position
				line, column = at.Line, at.Column
			}
		}
	}
	return fmt.Errorf("%s:%d:%d: %w", file, line, column, err)
}
