package analysis

// id is how other rows name this one: DRIVER@VERSION[:OPTION...]/PROFILE.
func (r *Row) ID() string {
	if r == nil {
		return ""
	}
	return r.Cell.Target() + "/" + r.Cell.Profile
}
