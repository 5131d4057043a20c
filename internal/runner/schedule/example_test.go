package schedule_test

import (
	"fmt"
	"time"

	"assay/internal/runner/schedule"
)

// With half a minute left, the group that lacks its minimum of launches is next. Once
// both have it, the one whose interval is too wide is.
func ExampleNext() {
	limits := schedule.Limits{MinLaunches: 3, Left: 30 * time.Second, Bounded: true}
	groups := []schedule.Group{
		{Cost: 2 * time.Second, Launches: 2},
		{Cost: time.Second, Launches: 3, Needed: 5, Wide: 1},
	}
	fmt.Println(schedule.Next(groups, limits))
	groups[0].Launches = 3
	fmt.Println(schedule.Next(groups, limits))
	groups[1].Launches = 5
	fmt.Println(schedule.Next(groups, limits))
	// Output:
	// [0]
	// [1]
	// []
}
