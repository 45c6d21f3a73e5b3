package toolbox

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/shell"
)

// covered returns the calls of other tools that do what script asks for: where
// it is one command that only looks at files of the workspace, and they show the
// same. It is read as little as possible: what they would do otherwise runs.
func covered(script string) []tool.Call {
	words, ok := shell.Words(script)
	if !ok {
		return nil
	}
	args, ok := splitArgs(words[1:])
	if !ok {
		return nil
	}
	switch words[0] {
	case "cat":
		return args.cat()
	case "head":
		return args.lines("10", 1)
	case "tail":
		return args.lines("10", -1)
	case "ls":
		return args.ls()
	case "grep", "egrep", "fgrep", "rg":
		return args.grep(words[0])
	case "find":
		return findArgs(words[1:])
	}
	return nil
}

// looks are the arguments of a command that looks at files.
type lookArgs struct {
	flags    []string // -n, or --name
	operands []string
}

// splitArgs tells flags from operands. Clusters of letters are opened; a digit
// stays with what is before it.
func splitArgs(words []string) (a lookArgs, ok bool) {
	for i, w := range words {
		switch {
		case w == "--":
			a.operands = append(a.operands, words[i+1:]...)
			return a, true
		case w == "-":
			return a, false // standard input
		case strings.HasPrefix(w, "--"), numbered.MatchString(w):
			a.flags = append(a.flags, w)
		case strings.HasPrefix(w, "-"):
			for _, letter := range w[1:] {
				a.flags = append(a.flags, "-"+string(letter))
			}
		default:
			a.operands = append(a.operands, w)
		}
	}
	return a, true
}

// numbered finds flags such as -20, -n20 and -C3.
var numbered = regexp.MustCompile(`^-[A-Za-z]?[0-9]{1,4}$`)

// only reports whether every flag is one of those named.
func (a lookArgs) only(flags string) bool {
	for _, f := range a.flags {
		if !strings.Contains(" "+flags+" ", " "+f+" ") {
			return false
		}
	}
	return true
}

// inside reports whether p is surely a path of the workspace, as far as its
// spelling goes.
func inside(p string) bool {
	return p != "" && !path.IsAbs(p) && path.Clean(p) != ".." && !strings.HasPrefix(path.Clean(p), "../") && !strings.Contains(p, `\`)
}

func called(name string, args map[string]any) tool.Call {
	b, err := json.Marshal(args)
	if err != nil {
		panic("toolbox: names and numbers are always JSON: " + err.Error())
	}
	return tool.Call{Tool: name, Args: b}
}

func (a lookArgs) cat() (calls []tool.Call) {
	if !a.only("-n -b -A -v -e -t -E -T -s") || len(a.operands) == 0 || len(a.operands) > 8 {
		return nil
	}
	for _, p := range a.operands {
		if !inside(p) {
			return nil
		}
		calls = append(calls, called("Read", map[string]any{"path": p}))
	}
	return calls
}

// lines is head and, where sign is negative, tail.
func (a lookArgs) lines(count string, sign int) []tool.Call {
	if len(a.flags) == 1 && a.flags[0] == "-n" && len(a.operands) == 2 {
		count, a.flags, a.operands = a.operands[0], nil, a.operands[1:]
	}
	if len(a.flags) == 1 && numbered.MatchString(a.flags[0]) {
		count, a.flags = strings.TrimPrefix(a.flags[0][1:], "n"), nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || count[0] == '+' || n < 1 || n > 2000 || len(a.flags) > 0 || len(a.operands) != 1 || !inside(a.operands[0]) {
		return nil
	}
	args := map[string]any{"path": a.operands[0], "limit": n}
	if sign < 0 {
		args["offset"] = -n
	}
	return []tool.Call{called("Read", args)}
}

func (a lookArgs) ls() []tool.Call {
	if !a.only("-a -A -l -h -1 -F -p -G --color=auto --color=never") || len(a.operands) > 1 {
		return nil
	}
	if len(a.operands) == 0 {
		return []tool.Call{called("LS", map[string]any{})}
	}
	if !inside(a.operands[0]) {
		return nil
	}
	return []tool.Call{called("LS", map[string]any{"path": a.operands[0]})}
}

// grep is for patterns that mean the same to every engine.
func (a lookArgs) grep(program string) []tool.Call {
	args, recursive, fixed := map[string]any{}, program == "rg", program == "fgrep"
	prefix, around := "", ""
	for _, f := range a.flags {
		switch {
		case f == "-n" || f == "-H" || f == "-E" || f == "-s" || f == "-I" || f == "--color=never":
		case f == "-r" || f == "-R":
			recursive = true
		case f == "-i":
			prefix = "(?i)"
		case f == "-w":
			around = `\b`
		case f == "-F":
			fixed = true
		case strings.HasPrefix(f, "--include=") && recursive && args["file_pattern"] == nil:
			args["file_pattern"] = strings.TrimPrefix(f, "--include=")
		case numbered.MatchString(f) && f[1] == 'C' && len(f) == 3:
			args["context"] = int(f[2] - '0')
		default:
			return nil
		}
	}
	if len(a.operands) == 0 || len(a.operands) > 2 || len(a.operands) == 1 && !recursive {
		return nil
	}
	pattern := a.operands[0]
	if !fixed && strings.ContainsAny(pattern, `\+?|(){}[]*.^$`) || strings.ContainsAny(pattern, "\n") || pattern == "" {
		return nil
	}
	args["pattern"] = prefix + around + regexp.QuoteMeta(pattern) + around
	if len(a.operands) == 2 {
		if !inside(a.operands[1]) {
			return nil
		}
		args["path"] = a.operands[1]
	}
	return []tool.Call{called("Grep", args)}
}

// findArgs is for files below a directory by their names.
func findArgs(words []string) []tool.Call {
	args, name := map[string]any{}, ""
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		if !inside(words[0]) {
			return nil
		}
		if dir := path.Clean(words[0]); dir != "." {
			args["path"] = dir
		}
		words = words[1:]
	}
	for len(words) >= 2 {
		switch {
		case words[0] == "-type" && words[1] == "f":
		case words[0] == "-name" && name == "" && !strings.ContainsAny(words[1], `\{}/`):
			name = words[1]
		default:
			return nil
		}
		words = words[2:]
	}
	if len(words) > 0 || name == "" {
		return nil
	}
	args["pattern"] = "**/" + name
	return []tool.Call{called("Glob", args)}
}

// instead is the answer to a command that other tools cover, as they would be
// called.
func instead(calls []tool.Call) *tool.Failure {
	var names, ready []string
	for _, c := range calls {
		names = append(names, c.Tool)
		ready = append(ready, fmt.Sprintf("%s %s", c.Tool, c.Args))
	}
	return &tool.Failure{
		Kind:    tool.Invalid,
		Message: "the command was not run: " + names[0] + " does this",
		Hint:    "call " + strings.Join(ready, "; "),
		Detail:  tool.InsteadDetail(calls),
	}
}
