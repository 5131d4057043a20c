package report

import (
	"fmt"
	"strconv"
	"strings"

	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// WarningLine is a warning in one line: what was found, how often, and what to do.
func WarningLine(w analysis.Warning) string { return warningLine(w, "") }

// warningLine puts an introduction before what was found.
func warningLine(w analysis.Warning, introduction string) string {
	evidence, advice := words(w.Doubt)
	s := w.Code() + ": " + introduction + evidence
	if w.Of > 0 {
		s += fmt.Sprintf(" (in %d of %s)", w.Launches, wording.Plural(w.Of, "launch"))
	}
	if advice != "" {
		s += "; advice: " + advice
	}
	return wording.Clean(s)
}

// Evidence is what a doubt found, in one line.
func Evidence(d analysis.Doubt) string {
	evidence, _ := words(d)
	return wording.Clean(evidence)
}

// words say what a doubt found and what to do about it.
func words(d analysis.Doubt) (evidence, advice string) {
	if reported, ok := d.(analysis.Reported); ok {
		return reported.Evidence, reported.Advice
	}
	for _, say := range []func(analysis.Doubt) (evidence, advice string){trialWords, seriesWords, tableWords, runWords} {
		if evidence, advice = say(d); evidence != "" {
			break
		}
	}
	return evidence, advice
}

// trialWords are about the launches of one row.
func trialWords(d analysis.Doubt) (evidence, advice string) {
	const disturbed, calm = "%d of %s disturbed by other programs or the hypervisor", "stop other programs on the machine, or use a quieter machine"
	switch d := d.(type) {
	case analysis.FewLaunches:
		return fmt.Sprintf("%d of at least %s", d.Counted, wording.Plural(stat.MinLaunches, "launch")), "give the run a larger budget"
	case analysis.Disturbed:
		if d.Computed {
			return fmt.Sprintf(disturbed+"; compared by CPU time, which others change less", d.Launches, wording.Plural(d.Of, "launch")), calm
		}
		return fmt.Sprintf(disturbed+"; kept all the same: too few others are left", d.Launches, wording.Plural(d.Of, "launch")), calm
	case analysis.Dropped:
		return fmt.Sprintf(disturbed+", and not counted", d.Launches, wording.Plural(d.Of, "launch")), calm
	case analysis.Busy:
		busy := wording.Digits(d.PerOperation) + " answers of 'busy' per operation"
		if d.Default {
			return "answers busy by default, as busy_timeout is 0: " + busy, "set busy_timeout"
		}
		if d.Stale > 0 {
			return fmt.Sprintf("%s, %s of them at once, whatever busy_timeout says: the transaction began DEFERRED, had read, and another connection was changing the database or had since", busy, wording.Digits(d.Stale)),
				"begin transactions that change data IMMEDIATE"
		}
		return busy, "set busy_timeout"
	case analysis.Stalls:
		return fmt.Sprintf("the total time per operation is %s times that of the median window", wording.Digits(d.Factor)),
			"look for checkpoints, compactions or collections; the figure includes them"
	case analysis.OwnLoop:
		return "at least " + wording.Digits(100*d.Share) + " % of the figure is the worker's own loop, not the driver",
			"compare drivers of other languages by operations that take longer"
	}
	return "", ""
}

// seriesWords are about what an interval assumes of launches and of their windows.
func seriesWords(d analysis.Doubt) (evidence, advice string) {
	series := map[analysis.Series]string{analysis.OfFigure: "the figure", analysis.OfRatio: "the ratio to the baseline"}
	switch d := d.(type) {
	case analysis.NotSteady:
		return fmt.Sprintf("window %d of %d of a launch still differs from those after it: the warm-up did not end", d.Window, d.Of),
			"use blocks with a longer count, so that the start weighs less"
	case analysis.Drift:
		advice = "look for a machine that warms up or slows down, or for data that grow; ratios within a launch cancel what all rows share"
		if d.Of == analysis.OfRatio {
			advice = "the confidence interval may be too narrow and the verdict too certain: repeat the run at another time"
		}
		return fmt.Sprintf("over %d launches %s changed to %s times its first value (p %.1g)", d.Launches, series[d.Of], wording.Digits(d.Total), d.P), advice
	case analysis.Autocorrelation:
		return fmt.Sprintf("%s of a launch resembles that of the launch before (rank correlation over %d launches: %.2f)", series[d.Of], d.Launches, d.Correlation),
			"the confidence interval may be too narrow: repeat the run at another time"
	case analysis.TwoModes:
		return fmt.Sprintf("%d of %d launches are %s times the others, with nothing in between", d.Upper, d.Launches, wording.Digits(d.Gap)),
			"look at both groups: their mean describes neither"
	case analysis.Skewed:
		return fmt.Sprintf("a few of %d launches lie far out on one side (skewness %.1f)", d.Launches, d.Skewness),
			"look for stalls; the confidence interval may be too narrow"
	}
	return "", ""
}

// tableWords are about rows of one table.
func tableWords(d analysis.Doubt) (evidence, advice string) {
	switch d := d.(type) {
	case analysis.Noisy:
		return fmt.Sprintf("the baseline differs from itself (A/A test) by %s %%: this machine's noise exceeds the margin of %s %%",
			wording.Digits(100*d.Systematic), wording.Digits(100*d.Margin)), "run on a quieter machine, or accept a wider margin"
	case analysis.UnknownNoise:
		return "the baseline was not measured against itself (A/A test): this run's noise is unknown", "check the outcome of the baseline's twin"
	case analysis.UnknownDurability:
		return "the settings read back do not show what a power cut loses; not ranked",
			"set what decides it in the profile, such as journal_mode and synchronous"
	case analysis.Refuted:
		p := d.Proof
		return fmt.Sprintf("in %d of %d %s it does not keep %s, which its settings claim; at worst it %s", p.Refuted, p.States, p.Fault.Times(p.States), class(p.Claimed), p.Kind.Words()),
			"use other settings, or rely on less"
	case analysis.UnlikePromises:
		return promises(d), "compare what promises the same: set the durability explicitly in the profile"
	case analysis.UnlikeSyncs:
		return sides(d.Names, func(i int) string {
				text := d.Setting + "=" + wording.Setting(d.Setting, d.Values[i])
				if d.PerOperation[0]+d.PerOperation[1] > 0 {
					text += fmt.Sprintf(" (%s syncs per operation)", wording.Significant(d.PerOperation[i], 2))
				}
				return text
			}),
			"of one class: what differs in the figures can be what they sync"
	case analysis.OneLayout:
		return "the functions of " + list(d.Of) + " lie in the same order in all launches",
			"a difference of a few percent, up to ten, can be their order alone"
	case analysis.Scan:
		return fmt.Sprintf("the target reads the whole table (%s), but %s looks rows up (%s)", wording.Clean(d.Plan), d.Other, wording.Clean(d.OtherPlan)),
			"look for a missing primary key or index"
	case analysis.StrongerSyncFaster:
		return fmt.Sprintf("%s with %s is faster than %s with %s (%s)", class(d.Durability[0]), d.Profiles[0], class(d.Durability[1]), d.Profiles[1],
			wording.Ratio(d.Ratio, "%s [%s, %s]")), "compare sync-before-ack of both, and what else the profiles set"
	case analysis.OptionWithoutEffect:
		return optionWords(d)
	}
	return "", ""
}

// runWords are about several tables, or the machine.
func runWords(d analysis.Doubt) (evidence, advice string) {
	switch d := d.(type) {
	case analysis.Grows:
		return fmt.Sprintf("an operation takes %s times as long with n=%s as with n=%s: the figure depends on the number of operations",
			wording.Ratio(d.Ratio, "%s [%s, %s]"), d.Max, d.Min), "a figure of this operation holds only for its n: measure with the n of your application, or in transactions of a fixed size"
	case analysis.BeyondDisk:
		return fmt.Sprintf("%s synced commits per second, but the disk did %s syncs per second for one client when assay probed it",
			wording.Digits(d.Commits), wording.Digits(d.Syncs)), "check whether the syncs reach the disk, and what the trace counts as one: sync-before-ack"
	case analysis.SameEngine:
		return "the same engine source with the same options, as " + strings.Join(d.Targets, " and "),
			"attribute their difference to the driver, and to how the engine was compiled or translated for it"
	}
	return "", ""
}

// promises say how the promises of two rows about the data differ.
func promises(d analysis.UnlikePromises) string {
	return sides(d.Names, func(i int) string {
		if d.Classes[0] == d.Classes[1] {
			return class(d.Classes[i]) + map[bool]string{true: " with syncs", false: " without syncs"}[d.Syncs[i]]
		}
		return class(d.Classes[i])
	})
}

// sides are two rows with what each has.
func sides(names [2]string, has func(i int) string) string {
	return names[0] + " " + has(0) + ", " + names[1] + " " + has(1)
}

// optionWords are those of an option that makes no difference.
func optionWords(d analysis.OptionWithoutEffect) (evidence, advice string) {
	var sides [2]string
	for i, value := range d.Values {
		switch value {
		case "":
			sides[i] = d.Names[i] + " without " + d.Option
		case analysis.IsSet:
			sides[i] = d.Names[i] + " with " + d.Option
		default:
			sides[i] = d.Names[i] + " with " + d.Option + "=" + value
		}
	}
	evidence = fmt.Sprintf("%s and %s are equivalent (%s)", sides[0], sides[1], wording.Ratio(d.Ratio, "%s [%s, %s]"))
	switch {
	case d.Effective != "":
		return evidence + "; " + d.Effective + " is in effect in both", "it is the default of this driver"
	case d.Durability[0] != d.Durability[1]:
		return evidence, "the stronger durability costs nothing here: use it"
	}
	return evidence, "it makes no difference here: leave it out, or measure where it could matter"
}

// Level is that of a comparison's interval, such as 95 %.
func Level(c analysis.Comparison) string {
	return strconv.FormatFloat(100*c.Level, 'g', 4, 64) + " %"
}

// span says what a ratio may be by its interval.
func span(c analysis.Comparison) string {
	return "the ratio could be " + wording.Ratio(c.Ratio, "%[2]s or %[3]s") + " (" + Level(c) + " CI)"
}

// Why says why a comparison is undecided; empty where it is not.
func Why(c analysis.Comparison) string {
	rule := c.Rule()
	switch c.Reason {
	case stat.TooFew:
		return fmt.Sprintf("%s of at least %d", wording.Plural(c.Ratio.N, "launch"), stat.MinPairs)
	case stat.TooWide:
		if limit := 1 + rule.Margin; c.Ratio.High > limit || c.Ratio.Low < 1/limit {
			return fmt.Sprintf("%s, and the margin is %s %%", span(c), wording.Digits(100*rule.Margin))
		}
		return fmt.Sprintf("%s, and the baseline differs from itself by %s %% in this table", span(c), wording.Digits(100*rule.Noise))
	case stat.NotClear:
		return fmt.Sprintf("%s, not beyond the %s %% by which the baseline differs from itself in this table", span(c), wording.Digits(100*rule.Noise))
	case stat.TooMany:
		return fmt.Sprintf("adjusted for the %d comparisons of this table, p is %s (Holm), above 0.05", c.Together, wording.Digits(c.Adjusted))
	case stat.OneLayout:
		return fmt.Sprintf("equal within %s %%, but the functions of one of the two drivers lie in one order in all launches: in another they can differ by more", wording.Digits(100*rule.Margin))
	case analysis.Unpaired:
		return "not measured in the same launches"
	case analysis.Unlike:
		return analysis.UnequalDurability + ": " + promises(*c.Unlike)
	case analysis.NotOK:
		return fmt.Sprintf("%s is %s: %s", c.NotOK.Name(), c.NotOK.Outcome, c.NotOK.Reason)
	}
	return ""
}
