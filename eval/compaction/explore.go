package compaction

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A source is a text file of a checkout.
type source struct {
	path  string
	lines int
	words []string // that occur in it
}

var wordRE = regexp.MustCompile(`\b[A-Za-z]{6,14}\b`)

// sourcesOf returns the source files below dir in order, whatever made them.
func sourcesOf(dir string) (all []source, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		if !slices.Contains([]string{".go", ".js", ".md"}, path.Ext(name)) {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		words := wordRE.FindAllString(string(text[:min(len(text), 64<<10)]), -1)
		slices.Sort(words)
		all = append(all, source{filepath.ToSlash(rel), strings.Count(string(text), "\n"), slices.Compact(words)})
		return nil
	})
	return all, err
}

// An explorer makes up steps that look around in a checkout and change nothing.
type explorer struct {
	rng     *rand.Rand
	sources []source
	chinese bool
	made    int
}

func (x *explorer) steps(n int) []string {
	steps := make([]string, n)
	for i := range steps {
		steps[i] = x.step()
	}
	return steps
}

func (x *explorer) step() string {
	x.made++
	f := x.sources[x.rng.IntN(len(x.sources))]
	word := f.path
	if len(f.words) > 0 {
		word = f.words[x.rng.IntN(len(f.words))]
	}
	switch x.rng.IntN(8) {
	case 0, 1:
		return x.say("where %s is used", "%s 用在哪里", word) + call("Grep", "pattern", word, "limit", 40)
	case 2:
		return x.say("%s once more, with what is around it", "再看一下 %s 及其上下文", word) + call("Grep", "pattern", word, "path", f.path, "context", 3, "limit", 20)
	case 3:
		return x.say("what lies beside %s", "%s 旁边有什么", f.path) + call("LS", "path", path.Dir(f.path))
	case 4:
		return x.say("the history of %s", "%s 的历史", f.path) + call("Bash", "command", "git log --oneline -3 -- "+f.path+" && wc -l "+f.path)
	}
	from := 1 + x.rng.IntN(max(1, f.lines-60))
	return x.say("%s, from line "+fmt.Sprint(from), "%s，从第 "+fmt.Sprint(from)+" 行起", f.path) +
		call("Read", "path", f.path, "offset", from, "limit", 40+x.rng.IntN(80))
}

// say puts what is looked at into words that do not repeat.
func (x *explorer) say(english, chinese, what string) string {
	text := fmt.Sprintf("(%d) Now "+english+".", x.made, what)
	if x.chinese {
		text = fmt.Sprintf("（%d）"+chinese+"。", x.made, what)
	}
	return "say: " + text + "\n"
}

// call renders a call with the given pairs of arguments.
func call(tool string, pairs ...any) string {
	args := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i].(string)] = pairs[i+1]
	}
	text, err := json.Marshal(args)
	if err != nil {
		panic("compaction: arguments are always JSON: " + err.Error())
	}
	return "call: " + tool + " " + string(text) + "\n"
}
