package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// settingsView is what one profile asked for and what became of it.
type settingsView struct {
	Profile string
	Lines   []settingLine
	Differ  int // settings that are not the same for all drivers, or not applied
}

// settingLine is one setting for the drivers for which it went alike.
type settingLine struct {
	Name, Requested, Issued, Effective string
	Drivers                            string
	Remark                             string // why it is worth a look; empty where it is not
}

// settingsViews lists the settings of each profile. Those that are alike
// everywhere and that nobody asked for are counted only.
func (r *Report) settingsViews() (views []settingsView, quiet int) {
	telling := r.tellingSettings()
	byProfile := map[string]map[settingLine][]string{}
	var profiles []string
	skipped := map[string]bool{}
	for row := range r.Rows() {
		profile := wording.Clean(row.Cell.Profile)
		if byProfile[profile] == nil && len(row.Settings) > 0 {
			byProfile[profile] = map[settingLine][]string{}
			profiles = append(profiles, profile)
		}
		for _, s := range analysis.JoinConnections(row.Settings) {
			if !telling[s.Name] {
				skipped[s.Name] = true
				continue
			}
			line := newSettingLine(s)
			if drivers := byProfile[profile][line]; !slices.Contains(drivers, row.Driver) {
				byProfile[profile][line] = append(drivers, row.Driver)
			}
		}
	}
	slices.Sort(profiles)
	for _, profile := range profiles {
		views = append(views, newSettingsView(profile, byProfile[profile]))
	}
	return views, len(skipped)
}

func newSettingLine(s assay.Setting) settingLine {
	line := settingLine{Name: wording.Clean(s.Name), Requested: wording.Clean(wording.Setting(s.Name, s.Requested)), Issued: wording.Clean(s.Issued), Effective: wording.Clean(wording.Setting(s.Name, s.Effective))}
	if !s.Applied && s.Requested != "" {
		line.Remark = "not applied"
	}
	return line
}

func newSettingsView(profile string, lines map[settingLine][]string) settingsView {
	v := settingsView{Profile: cmp.Or(profile, "no profile")}
	effective := map[string]map[string]bool{}
	for line := range lines {
		analysis.Count(effective, line.Name, line.Effective)
	}
	for line, drivers := range lines {
		slices.Sort(drivers)
		line.Drivers = strings.Join(drivers, ", ")
		if line.Remark == "" && len(effective[line.Name]) > 1 {
			line.Remark = "differs"
		}
		v.Lines = append(v.Lines, line)
	}
	slices.SortFunc(v.Lines, func(a, b settingLine) int {
		return strings.Compare(fmt.Sprint(a.Name, "\x00", a.Effective, "\x00", a.Drivers, a.Issued), fmt.Sprint(b.Name, "\x00", b.Effective, "\x00", b.Drivers, b.Issued))
	})
	names := map[string]bool{}
	for _, line := range v.Lines {
		if line.Remark != "" && !names[line.Name] {
			names[line.Name] = true
			v.Differ++
		}
	}
	return v
}
