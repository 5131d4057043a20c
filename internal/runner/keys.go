//go:build unix

package runner

import (
	"context"
	"fmt"
	"slices"

	"assay"
	"assay/internal/dataset"
	"assay/internal/dataset/oracle"
	"assay/kit/wire"
)

// verifyKeys reads keys that several clients may have changed, and compares
// each with what was written to it.
func (in *instance) verifyKeys(ctx context.Context, j *job) error {
	if j.keys == nil {
		return nil
	}
	for _, values := range j.keys.Values {
		if err := in.verifyValues(ctx, values); err != nil {
			return err
		}
	}
	return in.countKeys(ctx, j)
}

// verifyRows reads rows of the tables that the block changed, and compares each
// with what it may hold.
func (in *instance) verifyRows(ctx context.Context, j *job) error {
	if j.rows == nil {
		return nil
	}
	for _, values := range j.rows.Values {
		if err := in.verifyValues(ctx, values); err != nil {
			return err
		}
	}
	for _, count := range j.rows.Counts {
		var found wire.Verified
		if err := in.call(ctx, wire.TypeVerify, wire.Verify{SQL: count.Query.SQL, Returns: []string{"int"}}, &found); err != nil {
			return err
		}
		if found.Digest != count.Digest {
			return wrongKeys("%q answers the wrong number of rows", count.Query.SQL)
		}
	}
	return nil
}

func (in *instance) verifyValues(ctx context.Context, v oracle.Values) error {
	get := wireOperation(v.Get.Name, v.Get, &dataset.Trace{Path: v.Path})
	if err := in.call(ctx, wire.TypePrepare, wire.Prepare{Operation: in.say(get), Clients: 1}, nil); err != nil {
		return err
	}
	var found wire.Verified
	if err := in.call(ctx, wire.TypeVerify, wire.Verify{Operation: get.Name, Count: int64(v.Exact)}, &found); err != nil {
		return err
	}
	if found.Digest != v.Digest {
		return wrongKeys("of %d keys whose values are known, at least one holds another value (%s): digest %.12s, want %.12s",
			v.Exact, get.Name, found.Digest, v.Digest)
	}
	wrong := 0
	for i, allowed := range v.Allowed {
		if err := in.call(ctx, wire.TypeVerify, wire.Verify{Operation: get.Name, Start: int64(v.Exact + i), Count: 1}, &found); err != nil {
			return err
		}
		if !slices.Contains(allowed, found.Digest) {
			wrong++
		}
	}
	if wrong > 0 {
		return wrongKeys("%d of %d keys that were written several times hold no value that was written to them (%s)", wrong, len(v.Allowed), get.Name)
	}
	return nil
}

// countKeys looks whether the store has as many keys as it may.
func (in *instance) countKeys(ctx context.Context, j *job) error {
	found, err := in.readAll(ctx, j, j.keys.All)
	if err != nil {
		return err
	}
	if found.Rows < int64(j.keys.Least) || found.Rows > int64(j.keys.Most) {
		return wrongKeys("the store has %d keys, want %d to %d", found.Rows, j.keys.Least, j.keys.Most)
	}
	return nil
}

// readAll asks for what a query over all the data answers.
func (in *instance) readAll(ctx context.Context, j *job, q assay.Query) (wire.Verified, error) {
	request := j.engine.everything(q)
	for _, t := range q.Returns {
		request.Returns = append(request.Returns, string(t))
	}
	var found wire.Verified
	err := in.call(ctx, wire.TypeVerify, request, &found)
	return found, err
}

func wrongKeys(format string, args ...any) error {
	return &failure{assay.WrongAnswer, "after the block, " + fmt.Sprintf(format, args...)}
}
