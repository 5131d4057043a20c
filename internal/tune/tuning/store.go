package tuning

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay"
	"assay/internal/lab"
	"assay/kit/kv"
)

// readStore completes what is known of a key-value store's current settings: it is
// opened without sync and with it, as not every store reads that back, and returns the
// class of the current settings.
func (t *Tuning) readStore(ctx context.Context) (assay.Durability, error) {
	if len(t.drivers) > 1 {
		return "", lab.AsInputError(errors.New("tune searches the settings of one key-value store at a time: name one with --drivers"))
	}
	if !slices.ContainsFunc(t.operations, func(o assay.Case) bool { return o.Operation.Changes }) {
		delete(t.base, kv.Sync)
		return assay.DurabilityUnknown, nil // nothing is committed that could be lost
	}
	t.synced = map[string]assay.Durability{}
	for _, sync := range []string{"0", "1"} {
		profile := t.current
		profile.Name, profile.Settings = "sync-"+sync, maps.Clone(t.base)
		profile.Settings[kv.Sync] = sync
		found, err := t.lab.Inspect(ctx, t.request.Plan.WithProfiles(t.request.Plan.Name, t.current.Name, []assay.Profile{profile}, t.request.Plan.Seed), t.drivers[0], profile.Name)
		if err != nil {
			return "", err
		}
		if found.Trial.Outcome != assay.OK {
			return "", fmt.Errorf("%s with sync=%s cannot be measured: %s: %s", t.drivers[0], sync, found.Trial.Outcome, found.Trial.Reason)
		}
		t.synced[sync] = t.provenStore(sync, found.Trial.Durability)
	}
	if asked, ok := t.base[kv.Sync]; ok {
		t.effective[kv.Sync] = asked
	}
	if t.effective[kv.Sync] == "" {
		return "", lab.AsInputError(fmt.Errorf("profile %s leaves sync to %s, which does not read it back", t.current.Name, t.engine.name()), "set sync in the profile")
	}
	return t.synced[t.effective[kv.Sync]], nil
}

// provenStore is what assay crash left of a class of a store with sync or without it.
func (t *Tuning) provenStore(sync string, claimed assay.Durability) assay.Durability {
	for _, p := range t.proofs {
		profile, _, err := t.request.Plan.Profile(p.Profile)
		asked := profile.Settings[kv.Sync]
		if asked == "" && p.Profile == t.current.Name {
			asked = t.effective[kv.Sync] // the store's default
		}
		if err == nil && t.isOurs(p.Target) && asked == sync {
			claimed = p.Proven(t.engine.name(), claimed)
		}
	}
	return claimed
}
