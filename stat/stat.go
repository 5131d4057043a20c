// Package stat turns figures of launches into intervals, comparisons and
// rankings. It knows nothing of databases.
package stat
