package constraint

import (
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// Compile returns the bans that words of that kind certainly mean, none if none
// is certain: what is forbidden only in some case, or of which only a part is
// known, stays words.
func Compile(words string, kind Kind) []tool.Ban {
	d := read(words)
	var bans []tool.Ban
	switch {
	case kind == Require && len(d.replaced(words)) > 0:
		return d.replaced(words)
	case d.conditional, frees(d.words), (d.excepting || d.allowing) && len(d.free) == 0, kind == Forbid && !d.forbids():
		return nil
	case d.only: // what is not named is banned
		if d.free = append(d.paths, d.free...); len(d.free) > 0 && (d.does(changing) || d.does(working) || d.keeps) {
			bans = []tool.Ban{{Rule: "Edit(**)"}}
		}
	case kind == Require:
		if d.keeps && len(d.paths) > 0 && d.whole() {
			bans = d.edits()
		} else if d.offline() && d.plain(networks...) {
			bans = []tool.Ban{{Effect: effect.Network}}
		}
	case kind == Ask:
		if bans = d.bans(kind); len(bans) == 0 && len(d.paths) == 0 && d.everything() {
			bans = whatActs()
		}
	default:
		bans = d.bans(kind)
	}
	if len(bans) == 0 && d.excepting && len(d.paths) == 0 && (d.does(changing) || d.keeps) {
		bans = d.general()
	}
	for i := range bans {
		if len(d.free) > 0 {
			if !strings.HasPrefix(bans[i].Rule, "Edit(") {
				return nil // a place is not what a command spares
			}
			bans[i].Except = alternatives(d.free)
		}
		bans[i].Ask = bans[i].Ask || kind == Ask || d.asking || d.passing() // nobody lifts "not yet"
	}
	return bans
}

// replaced are the bans of programs that others take the place of: pnpm, not npm.
func (d deed) replaced(words string) (bans []tool.Ban) {
	low := strings.ReplaceAll(flat(words), ". ", " ")
	fine := []string{"instead", "of", "rather", "than", "always", "而不是", "而"}
	for _, t := range tokens(words) {
		if !isProgram(t.text) {
			if among(t.verb, "use", "using", "prefer", "用") { // uv
				fine = append(fine, strings.ToLower(t.text))
			}
			continue
		}
		fine = append(fine, t.text)
		for _, not := range []string{" not ", "instead of ", "rather than ", "not use ", "don't use ", "dont use ", "never use ", "不要用 ", "别用 ", "不用 ", "不要使用 ", "而不是 ", "而不用 "} {
			if strings.Contains(low, not+t.text+" ") && !isAmbiguous(t.text) {
				bans = append(bans, command(t.text)...)
				break
			}
		}
	}
	d.target = low
	if !d.plain(fine...) {
		return nil
	}
	return bans
}

// forbids reports whether a word of them says that something is not to be: what only
// names a change bans none.
func (d deed) forbids() bool {
	return d.keeps || d.only || d.offline() || negative(d.words) || contains(d.words, []string{" quit ", " refrain ", " prohibited ", " prevent ", " hold off ", " out of scope ", " donot ", " dnt "})
}

// whatActs are the bans of all that does more than read.
func whatActs() []tool.Ban {
	return []tool.Ban{{Effect: effect.Write}, {Effect: effect.Network}, {Effect: effect.Git}, {Effect: effect.Permanent}}
}

// bans are what the words forbid, most certain first. Of what is to be asked about
// more may be meant: a question is no denial.
func (d deed) bans(kind Kind) (bans []tool.Ban) {
	add := func(b ...tool.Ban) {
		for _, x := range b {
			if !slices.Contains(bans, x) {
				bans = append(bans, x)
			}
		}
	}
	for _, c := range d.commands {
		add(command(c)...)
	}
	if len(d.paths) > 0 && d.whole() {
		switch {
		case d.does(deleting) && !d.does(changing):
			for _, p := range d.paths {
				add(tool.Ban{Rule: "Edit(" + p + ")", Removes: true})
			}
		case d.does(reading):
			for _, p := range d.paths {
				add(tool.Ban{Rule: "Read(" + p + ")"}, tool.Ban{Rule: "Edit(" + p + ")"})
			}
		case d.does(changing) || d.keeps || d.not:
			add(d.edits()...)
		}
	}
	if len(d.paths) == 0 && d.does(deleting) && d.anything && (kind == Ask || d.plain(deletions...)) {
		add(tool.Ban{Rule: "Edit(**)", Removes: true})
	}
	if len(d.paths) == 0 && len(d.commands) == 0 && d.does(changing) && d.allFiles() && d.plain(edits...) {
		add(tool.Ban{Rule: "Edit(**)"})
	}
	for _, t := range tasks {
		if len(d.commands) == 0 && t.said(d) && (kind == Ask || d.plain(t.fine...)) {
			for _, c := range t.commands {
				add(tool.Ban{Rule: "Bash(" + c + ")"})
			}
			add(t.bans...)
		}
	}
	if d.network() && (kind == Ask || d.plain(networks...)) {
		add(tool.Ban{Effect: effect.Network})
	}
	if d.does(using) || d.does(adding) || d.bare {
		for _, n := range d.names {
			add(tool.Ban{Text: n})
		}
	}
	return bans
}

func (d deed) edits() (bans []tool.Ban) {
	for _, p := range d.paths {
		bans = append(bans, tool.Ban{Rule: "Edit(" + p + ")"})
	}
	return bans
}

// command returns the bans of a command as it was written between backticks, or
// of a program by its name.
func command(line string) []tool.Ban {
	fields := strings.Fields(line)
	if len(fields) == 0 || strings.ContainsAny(line, "|;&<>$`\"'()") {
		return nil
	}
	out := fields[:1:1]
	for _, f := range fields[1:] {
		if len(f) > 2 && f[0] == '-' && f[1] != '-' && !strings.Contains(f, "=") && len(f) < 5 { // -rf is -r -f, in any order
			for _, letter := range f[1:] {
				out = append(out, "-"+string(letter))
			}
			continue
		}
		out = append(out, f)
	}
	bans := []tool.Ban{{Rule: "Bash(" + strings.Join(out, " ") + " **)"}}
	if out[0] == "rm" && slices.Contains(out, "-r") {
		bans = append(bans, tool.Ban{Rule: "Bash(rm --recursive **)"}, tool.Ban{Rule: "Bash(rm -R **)"})
	}
	return bans
}

// alternatives is one glob for several.
func alternatives(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return "{" + strings.Join(paths, ",") + "}"
}
