//go:build unix

package runner

import (
	"context"
	"fmt"
	"slices"

	"assay"
	"assay/internal/dataset"
	"assay/internal/oracle"
	"assay/kit/kv"
	"assay/kit/wire"
)

// keysName is by which the worker knows the operation that reads keys.
const keysName = "keys after the block"

// verifyKeys reads keys that several clients may have changed, and compares
// each with what was written to it.
func (in *instance) verifyKeys(ctx context.Context, j *job) error {
	if j.keys == nil {
		return nil
	}
	get := wireOperation(keysName, oracle.Get(), &dataset.Trace{Path: j.keys.Path})
	if err := in.call(ctx, wire.TypePrepare, wire.Prepare{Operation: in.say(get), Clients: 1}, nil); err != nil {
		return err
	}
	var found wire.Verified
	if err := in.call(ctx, wire.TypeVerify, wire.Verify{Operation: keysName, Count: int64(j.keys.Exact)}, &found); err != nil {
		return err
	}
	if found.Digest != j.keys.Digest {
		return wrongKeys("of %d keys that were written once or not at all, not each holds its value: digest %.12s, right is %.12s",
			j.keys.Exact, found.Digest, j.keys.Digest)
	}
	wrong := 0
	for i, allowed := range j.keys.Allowed {
		if err := in.call(ctx, wire.TypeVerify, wire.Verify{Operation: keysName, Start: int64(j.keys.Exact + i), Count: 1}, &found); err != nil {
			return err
		}
		if !slices.Contains(allowed, found.Digest) {
			wrong++
		}
	}
	if wrong > 0 {
		return wrongKeys("%d of %d keys that were written several times hold no value that was written to them", wrong, len(j.keys.Allowed))
	}
	return in.countKeys(ctx, j)
}

// countKeys looks whether the store has as many keys as it may.
func (in *instance) countKeys(ctx context.Context, j *job) error {
	request := wire.Verify{SQL: kv.All, Returns: []string{"blob", "blob"}}
	if j.store != nil {
		request.SQL, request.All = "", true
	}
	var found wire.Verified
	if err := in.call(ctx, wire.TypeVerify, request, &found); err != nil {
		return err
	}
	if found.Rows < int64(j.keys.Least) || found.Rows > int64(j.keys.Most) {
		return wrongKeys("the store has %d keys, right are %d to %d", found.Rows, j.keys.Least, j.keys.Most)
	}
	return nil
}

func wrongKeys(format string, args ...any) error {
	return &failure{assay.WrongAnswer, "after the block, " + fmt.Sprintf(format, args...)}
}
