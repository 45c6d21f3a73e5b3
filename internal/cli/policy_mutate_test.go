//go:build linux

package cli

import (
	"math/rand/v2"
	"strings"
)

// mutations change how a line is written, or what it is wrapped in, but not that
// it does what it did.
var mutations = []func(line string) string{
	before("time "), before("timeout 5 "), before("nice -n 5 "), before("nohup "), before("stdbuf -oL "),
	before("command "), before("! "), before("true && "), before("false || "), before("ls; "), before(" \t "), before("ls | "),
	around("(", "\n)"), around("{ ", "\n}"), around("if true; then ", "\nfi"), around("while true; do ", "\nbreak; done"),
	around("for i in 1; do ", "\ndone"), around("if ", "\nthen echo yes; fi"),
	around("", "\nls"), around("", " | cat"), around("", " && echo done"), around("", " 2>/dev/null"),
	quoting("bash -c ", ""), quoting("env -S 'bash -c' ", ""), quoting("script -qc ", " /dev/null"), quoting("su -c ", ""), quoting("git submodule foreach ", ""),
	quoting("git rebase -x ", " main"), quoting("git bisect run sh -c ", ""), quoting("bash <<< ", ""), quoting("parallel ::: ", ""), quoting(`bash -c '"$@"' _ sh -c `, ""), quoting("git -c alias.x='!sh -c \"$1\" -' x ", ""),
	func(line string) string { return strings.Replace(line, " ", "\t", 1) },
	func(line string) string { return strings.Replace(line, " ", " \\\n ", 1) },
	func(line string) string { // quotes around the first word
		word, rest, _ := strings.Cut(line, " ")
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
			return line
		}
		return `"` + word + `" ` + rest
	},
}

func before(text string) func(string) string {
	return func(line string) string { return text + line }
}

// quoting puts a line, as one word, where something runs it.
func quoting(head, tail string) func(string) string {
	return func(line string) string { return head + "'" + strings.ReplaceAll(line, "'", `'\''`) + "'" + tail }
}

func around(head, tail string) func(string) string {
	return func(line string) string { return head + line + tail }
}

// mutants returns line changed once, in each way, and then some of those once more.
func mutants(dice *rand.Rand, line string) (all []string) {
	for _, first := range mutations {
		once := first(line)
		all = append(all, once)
		for range 3 {
			all = append(all, mutations[dice.IntN(len(mutations))](once))
		}
	}
	return all
}
