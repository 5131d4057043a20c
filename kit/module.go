package kit

import "runtime/debug"

// ModuleVersion is the version of a module in this program, with what
// replaced it; unknown where the program does not say.
func ModuleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == path {
			if m.Replace != nil {
				return m.Version + " => " + m.Replace.Path + " " + m.Replace.Version
			}
			return m.Version
		}
	}
	return "unknown"
}
