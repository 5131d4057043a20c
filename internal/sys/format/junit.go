package format

import (
	"encoding/xml"
	"io"
)

// Suite is tests that belong together, for continuous integration.
type Suite struct {
	Name  string
	Cases []Case
}

// Case is one test. It passed where neither Failure nor Skipped says anything.
type Case struct{ Name, Class, Failure, Skipped string }

// The parts of JUnit's XML that continuous integration reads.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string     `xml:"name,attr"`
		Class   string     `xml:"classname,attr"`
		Failure *junitText `xml:"failure,omitempty"`
		Skipped *junitText `xml:"skipped,omitempty"`
	}
	junitText struct {
		Message string `xml:"message,attr"`
	}
)

// JUnit prints suites of tests.
func JUnit(out io.Writer, suites []Suite) error {
	var all junitSuites
	for _, s := range suites {
		printed := junitSuite{Name: s.Name, Tests: len(s.Cases)}
		for _, c := range s.Cases {
			one := junitCase{Name: c.Name, Class: c.Class}
			switch {
			case c.Failure != "":
				one.Failure = &junitText{c.Failure}
				printed.Failures++
			case c.Skipped != "":
				one.Skipped = &junitText{c.Skipped}
				printed.Skipped++
			}
			printed.Cases = append(printed.Cases, one)
		}
		all.Suites = append(all.Suites, printed)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}
