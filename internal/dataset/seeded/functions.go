package seeded

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"modernc.org/sqlite"
)

// maxLength bounds the texts and blobs that are made.
const maxLength = 16 << 20

// random is a sequence of random words, which functions take one by one.
type random struct {
	words Words
	taken int
}

func (r *random) word() uint64 {
	r.taken++
	return r.words.At(r.taken)
}

// upTo1 is a number of (0, 1].
func (r *random) upTo1() float64 { return 1 - Fraction(r.word()) }

// uniform is a whole number of [low, high].
func (r *random) uniform(low, high int64) int64 {
	return low + int64(Below(r.word(), uint64(high-low)+1))
}

// exponential and the two below compute what pgbench's manual and source say.
func (r *random) exponential(low, high int64, parameter float64) int64 {
	cut := math.Exp(-parameter)
	share := -math.Log(cut+float64((1-cut)*r.upTo1())) / parameter
	return spread(low, high, share)
}

// gaussian draws from a normal distribution that is cut at parameter standard deviations
// on both sides.
func (r *random) gaussian(low, high int64, parameter float64) int64 {
	deviation := parameter
	for deviation < -parameter || deviation >= parameter {
		deviation = math.Sqrt(-2*math.Log(r.upTo1())) * math.Sin(2*math.Pi*r.upTo1())
	}
	return spread(low, high, (deviation+parameter)/(parameter*2))
}

// spread takes a share of [0, 1) to a whole number of [low, high].
func spread(low, high int64, share float64) int64 {
	return min(high, low+int64(float64(float64(high-low+1)*share)))
}

// zipfian draws rank k of n with a probability that is proportional to k^-s, by
// rejection (Devroye, "Non-Uniform Random Variate Generation", page 550).
func (r *random) zipfian(low, high int64, s float64) int64 {
	n := float64(high - low + 1)
	if n <= 1 {
		return low
	}
	b := math.Pow(2, s-1)
	for {
		u, v := r.upTo1(), r.upTo1()
		x := math.Floor(math.Pow(u, -1/(s-1)))
		t := math.Pow(1+1/x, s-1)
		if float64(v*x*(t-1))/(b-1) <= t/b && x <= n {
			return low - 1 + int64(x)
		}
	}
}

// permute takes [0, size) to itself, each number to another one: a Feistel network over
// the bits of size, walked until the number is below it.
func permute(i, size int64, seed uint64) int64 {
	if size < 2 {
		return 0
	}
	half := (bits.Len64(uint64(size-1)) + 1) / 2
	mask := uint64(1)<<half - 1
	v := uint64(i) % uint64(size)
	for {
		left, right := v>>half, v&mask
		for round := range uint64(4) {
			left, right = right, left^Mix(Mix(seed+golden*(round+1))^right)&mask
		}
		if v = left<<half | right; v < uint64(size) {
			return int64(v)
		}
	}
}

// arguments holds the arguments of one call.
type arguments []driver.Value

func (a arguments) whole(i int) (int64, error) {
	switch v := a[i].(type) {
	case int64:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
			return int64(v), nil
		}
	}
	return 0, fmt.Errorf("argument %d must be a whole number, not %v", i+1, a[i])
}

func (a arguments) real(i int) (float64, error) {
	switch v := a[i].(type) {
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	}
	return 0, fmt.Errorf("argument %d must be a number, not %v", i+1, a[i])
}

// span is the range of the first two arguments.
func (a arguments) span() (low, high int64, err error) {
	low, err = a.whole(0)
	high, err2 := a.whole(1)
	switch {
	case err != nil || err2 != nil:
		return low, high, errors.Join(err, err2)
	case low > high:
		return low, high, fmt.Errorf("the low bound %d is above the high bound %d", low, high)
	case high-low < 0 || high-low == math.MaxInt64:
		return low, high, fmt.Errorf("the bounds %d and %d are too far apart", low, high)
	}
	return low, high, nil
}

// skewed is a function with a range and a parameter of [least, most].
func (s *Session) skewed(least, most float64, draw func(low, high int64, parameter float64) int64) function {
	return func(a arguments) (driver.Value, error) {
		low, high, err := a.span()
		if err != nil {
			return nil, err
		}
		parameter, err := a.real(2)
		if err != nil {
			return nil, err
		}
		if !(parameter >= least && parameter <= most) {
			return nil, fmt.Errorf("the parameter must be %g to %g, not %g", least, most, parameter)
		}
		return draw(low, high, parameter), nil
	}
}

func (s *Session) sized(make func(w Words, length int) driver.Value) function {
	return func(a arguments) (driver.Value, error) {
		length, err := a.whole(0)
		if err != nil {
			return nil, err
		}
		if length < 0 || length > maxLength {
			return nil, fmt.Errorf("the length must be 0 to %d, not %d", maxLength, length)
		}
		return make(Words(s.random.word()), int(length)), nil
	}
}

// optionalSeed is the last of so many arguments, or the session's seed.
func (s *Session) optionalSeed(a arguments, at int) (uint64, error) {
	if len(a) <= at {
		return s.seed, nil
	}
	seed, err := a.whole(at)
	return uint64(seed), err
}

type function func(a arguments) (driver.Value, error)

// register gives a driver the functions.
func (s *Session) register(d *sqlite.Driver) error {
	type signature struct {
		name        string
		least, most int
		draws       bool
		call        function
	}
	all := []signature{
		{"random", 2, 2, true, func(a arguments) (driver.Value, error) {
			low, high, err := a.span()
			if err != nil {
				return nil, err
			}
			return s.random.uniform(low, high), nil
		}},
		{"random_exponential", 3, 3, true, s.skewed(math.SmallestNonzeroFloat64, math.MaxFloat64, s.random.exponential)},
		{"random_gaussian", 3, 3, true, s.skewed(2, math.MaxFloat64, s.random.gaussian)},
		{"random_zipfian", 3, 3, true, s.skewed(1.001, 1000, s.random.zipfian)},
		{"text", 1, 1, true, s.sized(func(w Words, length int) driver.Value { return Text(w, length) })},
		{"blob", 1, 1, true, s.sized(func(w Words, length int) driver.Value { return Blob(w, length) })},
		{"permute", 2, 3, false, func(a arguments) (driver.Value, error) {
			i, err := a.whole(0)
			size, err2 := a.whole(1)
			seed, err3 := s.optionalSeed(a, 2)
			return permute(i, size, seed), errors.Join(err, err2, err3)
		}},
		{"hash", 1, 2, false, func(a arguments) (driver.Value, error) {
			i, err := a.whole(0)
			seed, err2 := s.optionalSeed(a, 1)
			return int64(WordsOf(Key(seed, "key", 0), int(i)).At(1)), errors.Join(err, err2)
		}},
	}
	for _, f := range all {
		call := func(values []driver.Value) (driver.Value, error) {
			if len(values) < f.least || len(values) > f.most {
				return nil, fmt.Errorf("%s takes %d arguments, not %d", f.name, f.least, len(values))
			}
			value, err := f.call(values)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
			return value, nil
		}
		impl := sqlite.FunctionImpl{NArgs: -1, Deterministic: !f.draws, Scalar: func(_ *sqlite.FunctionContext, values []driver.Value) (driver.Value, error) { return call(values) }}
		if f.draws { // random() without arguments is SQLite's own
			impl.NArgs = int32(f.most)
			each := sqlite.FunctionImpl{NArgs: -1, Scalar: func(_ *sqlite.FunctionContext, values []driver.Value) (driver.Value, error) {
				return call(values[:max(0, len(values)-1)])
			}}
			if err := d.RegisterFunction(perOperationPrefix+f.name, &each); err != nil {
				return err
			}
		}
		if err := d.RegisterFunction(f.name, &impl); err != nil {
			return err
		}
	}
	return nil
}

// perOperationPrefix is before the names of the functions that take the number of the
// operation as one argument more: see perOperation.
const perOperationPrefix = "assay_"

// functions are the names of those that draw.
var functions = []string{"random", "random_exponential", "random_gaussian", "random_zipfian", "text", "blob"}
