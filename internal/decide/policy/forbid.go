package policy

import (
	"path"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
)

// maxNested is how deep a command within a word of a command is looked for.
const maxNested = 4

// runners run what their arguments say: behind one of them any word may be a
// program.
var runners = map[string]bool{
	"!": true, "{": true, "if": true, "then": true, "elif": true, "else": true, "while": true, "until": true, "do": true,
	"time": true, "coproc": true, "command": true, "builtin": true, "exec": true, "eval": true, "trap": true, "source": true, ".": true,
	"env": true, "sudo": true, "doas": true, "su": true, "runuser": true, "pkexec": true, "nohup": true, "nice": true, "ionice": true,
	"chrt": true, "taskset": true, "prlimit": true, "timeout": true, "setsid": true, "stdbuf": true, "unbuffer": true, "script": true,
	"strace": true, "ltrace": true, "gdb": true, "watch": true, "entr": true, "xargs": true, "parallel": true, "find": true, "fd": true,
	"flock": true, "chroot": true, "unshare": true, "nsenter": true, "bwrap": true, "firejail": true, "systemd-run": true,
	"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "fish": true, "pwsh": true, "busybox": true, "toybox": true,
	"ssh": true, "python": true, "python3": true, "node": true, "deno": true, "bun": true, "ruby": true, "perl": true, "php": true,
	"lua": true, "awk": true, "gawk": true, "npx": true, "bunx": true, "uvx": true, "pipx": true,
	"npm": true, "pnpm": true, "yarn": true, "uv": true, "poetry": true, "pipenv": true, "pdm": true, "hatch": true, "bundle": true,
	"mise": true, "asdf": true, "direnv": true, "nix": true, "nix-shell": true, "make": true, "docker": true, "podman": true,
	"tmux": true, "screen": true, "expect": true, "rlwrap": true, "setpriv": true, "sg": true, "newgrp": true, "cgexec": true,
	"proot": true, "eatmydata": true, "faketime": true, "xvfb-run": true, "dbus-launch": true, "dbus-run-session": true,
	"caffeinate": true, "gtimeout": true, "vim": true, "vi": true, "nvim": true, "emacs": true, "at": true, "batch": true,
}

// forbids reports whether a rule that asks or denies with that pattern is for c,
// read widely: wherever in it a program may stand. Of the pattern
// program, operands and options count: the program by its base name; the first
// operand as the first of the program's, whatever options stand before it; the
// others in their order; each option anywhere. What the shell puts in at run time
// could be anything, and so is what is asked for.
func forbids(pattern string, c command) bool {
	if c.isOther(pattern) {
		return false
	}
	want, _ := split(pattern)
	want, _ = opens(want)
	return len(want) == 0 || within(want, c, maxNested)
}

func within(want []word, c command, depth int) bool {
	if outer, inner, ok := substitution(c.text); ok && depth > 0 {
		return within(want, readCommand(inner), depth-1) || within(want, readCommand(outer), depth-1)
	}
	if runs(want, c.words, !c.simple, depth) {
		return true
	}
	if c.simple {
		return false
	}
	var loose []word // quotes and all, for what is between them may be run
	for _, w := range strings.FieldsFunc(strings.ReplaceAll(c.text, `\`, ""), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("'\"`;|&()<>$", r)
	}) {
		loose = append(loose, word{text: w})
	}
	return runs(want, loose, true, 0)
}

// substitution returns the innermost $(...) of a command, and the command with a
// variable in its place. A quote in it could end where it does not: then it is
// not ok.
func substitution(text string) (outer, inner string, ok bool) {
	at := strings.LastIndex(text, "$(")
	if at < 0 {
		return "", "", false
	}
	inner, rest, ok := strings.Cut(text[at+2:], ")")
	if !ok || strings.ContainsAny(inner, "'\"`\\#(\n") || strings.HasSuffix(text[:at], `\`) {
		return "", "", false
	}
	return text[:at] + "$x" + rest, inner, true
}

// runs reports whether words run what is wanted; anywhere says that each of them
// may be a program.
func runs(want, words []word, anywhere bool, depth int) bool {
	program := true // may the next word be one
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.op {
			if w.lacksTarget() {
				i++
			}
			continue
		}
		if (program || anywhere) && starts(want, words[i:]) {
			return true
		}
		if anywhere && depth > 0 && strings.ContainsAny(w.text, " \t\n;|&") && within(want, readCommand(w.text), depth-1) {
			return true
		}
		anywhere = anywhere || program && runners[base(w)]
		program = program && assigns(w.text)
	}
	return false
}

// starts reports whether words begin with what is wanted.
func starts(want, words []word) bool {
	if spills(words[0]) && unknown(word{text: base(words[0]), live: true}) {
		return true
	}
	if own, ok := strings.CutPrefix(base(words[0]), "git-"); ok && want[0].text == "git" { // git-push is git push
		words = append([]word{want[0], {text: own}}, words[1:]...)
	}
	if !isProgram(want[0], words[0]) {
		return false
	}
	for _, w := range words[1:] { // another name for any of its subcommands
		if want[0].text == "git" && strings.HasPrefix(strings.ToLower(strings.TrimPrefix(w.text, "-c")), "alias.") {
			return true
		}
	}
	var operands []word
	for _, w := range want[1:] {
		if !option(w) {
			operands = append(operands, w)
			continue
		}
		found := false
		for _, have := range words[1:] {
			found = found || sets(have, w.text)
		}
		if !found {
			return false
		}
	}
	return takes(operands, words[1:])
}

// isProgram reports whether w may be the program that is wanted, wherever it is
// installed.
func isProgram(want, w word) bool {
	if want.live {
		return means(want, w)
	}
	name := base(w)
	return name == base(want) || unknown(word{text: name, live: w.live})
}

// takes reports whether the operands are among those of words: the first as
// their first, the others in their order. The word behind an option or a
// redirection may be what that takes, or an operand.
func takes(operands, words []word) bool {
	value := false
	for i, w := range words {
		switch {
		case len(operands) == 0:
			return true
		case w.op, option(w):
			value = true
			continue
		case means(operands[0], w):
			return spills(w) || inOrder(operands[1:], words[i+1:])
		case !value:
			return false
		}
		value = false
	}
	return len(operands) == 0
}

func inOrder(operands, words []word) bool {
	for _, w := range words {
		if len(operands) > 0 && spills(w) {
			return true
		}
		if len(operands) > 0 && means(operands[0], w) {
			operands = operands[1:]
		}
	}
	return len(operands) == 0
}

func option(w word) bool { return len(w.text) > 1 && w.text[0] == '-' }

// sets reports whether w gives an option, by itself or with a value, abbreviated
// or among other letters.
func sets(w word, name string) bool {
	have, _, _ := strings.Cut(w.text, "=")
	switch {
	case unknown(w) || more(w) || w.text == name || have == name:
		return true
	case strings.HasPrefix(name, "--"):
		return len(have) > 2 && strings.HasPrefix(name, have)
	}
	return len(name) == 2 && len(have) > 2 && have[1] != '-' && have[0] == '-' && strings.Contains(have, name[1:])
}

// means reports whether w may be what is wanted, which may be a glob.
func means(want, w word) bool {
	if want.text == w.text || unknown(w) || more(w) {
		return true
	}
	return want.live && doublestar.MatchUnvalidated(want.text, w.text)
}

// unknown reports whether it shows only at run time what w is.
func unknown(w word) bool { return w.live && w.text != "[" && strings.ContainsAny(w.text, "$`*?[{") }

// spills reports whether w may become several words.
func spills(w word) bool {
	return more(w) || unknown(w) && (!strings.Contains(w.text, `"`) || strings.Contains(w.text, "@"))
}

// more reports whether w stands for what xargs adds.
func more(w word) bool { return w.text == "..." }

// base is the last element of a path, as a program is known by.
func base(w word) string { return strings.Trim(path.Base(w.text), `"'`) }
