package plan

// Bounds of what a plan may ask for.
const (
	maxRows  = 1_000_000_000
	maxCount = 1_000_000_000
)

// resolver resolves one workload at one point of its axes.
type resolver struct {
	m    *mistakes
	env  env
	axes []Axis          // of the env
	kv   *recordsOfStore // of a key-value workload; nil for tables
	// scale multiplies rows and records, and resized says that it changed some.
	scale   float64
	resized bool
}
