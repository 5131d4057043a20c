package main

import (
	"strings"
	"testing"
)

func TestResults(t *testing.T) {
	const events = `{"Action":"run","Package":"a","Test":"TestGood"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"good says\n"}
{"Action":"pass","Package":"a","Test":"TestGood"}
{"Action":"pass","Package":"a","Elapsed":0.25}
{"Action":"start","Package":"b"}
{"Action":"output","Package":"b","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"output","Package":"b","Test":"TestBad","Output":"bad says\n"}
{"Action":"fail","Package":"b","Test":"TestBad"}
{"Action":"output","Package":"b","Test":"TestGood","Output":"good says\n"}
{"Action":"pass","Package":"b","Test":"TestGood"}
{"Action":"skip","Package":"b","Test":"TestSkipped"}
{"Action":"output","Package":"b","Output":"FAIL\tb\n"}
{"Action":"fail","Package":"b"}
{"ImportPath":"c","Action":"build-output","Output":"does not compile\n"}
{"ImportPath":"c","Action":"build-fail"}
{"Action":"output","Package":"c","Output":"FAIL\tc [build failed]\n"}
{"Action":"fail","Package":"c"}
{"Action":"run","Package":"d","Test":"TestEndless"}
{"Action":"pause","Package":"d","Test":"TestEndless"}
{"Action":"run","Package":"d","Test":"TestGood"}
{"Action":"pass","Package":"d","Test":"TestGood"}
{"Action":"output","Package":"d","Output":"panic: test timed out after 10m0s\n"}
{"Action":"fail","Package":"d"}
{"Action":"skip","Package":"without-tests"}
`
	var out strings.Builder
	r := newResults(&out)
	r.events(strings.NewReader(events))
	const summary = `FAIL b TestBad
FAIL c
FAIL d, which ended in TestEndless
1 skipped
3 passed, 3 failed
`
	if got := r.summary(); got != summary {
		t.Errorf("in the end\n%s\nwant\n%s", got, summary)
	}
	const want = `ok   a 0.2 s
skip b TestSkipped
bad says
FAIL	b
does not compile
FAIL	c [build failed]
panic: test timed out after 10m0s
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
