// Package stat turns figures of launches into intervals, comparisons and
// rankings. It knows nothing of databases. docs/statistics.md has the
// formulas, their sources, and what is not claimed.
package stat
