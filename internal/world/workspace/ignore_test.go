package workspace

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// repository makes a git repository that no setting of this machine bears on,
// and returns a way to run git in it.
func repository(t *testing.T, dir string) func(stdin string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	git := func(stdin string, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, program, append([]string{"-c", "core.excludesFile="}, args...)...)
		c.Dir = dir
		c.Env = []string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
		c.Stdin = strings.NewReader(stdin)
		var errors bytes.Buffer
		c.Stderr = &errors
		out, err := c.Output()
		if err != nil && !(args[0] == "check-ignore" && c.ProcessState.ExitCode() == 1) {
			t.Fatalf("git %v: %v\n%s", args, err, &errors)
		}
		return string(out)
	}
	git("", "init", "-q")
	return git
}

// ours returns the files that no rule ignores, hidden ones too.
func ours(t *testing.T, w *Workspace, dir string) []string {
	t.Helper()
	files, err := w.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		switch {
		case f.Ignored || f.Path == ".git":
		case f.Type.IsDir():
			out = append(out, ours(t, w, f.Path)...)
		default:
			out = append(out, f.Path)
		}
	}
	return out
}

func theirs(git func(string, ...string) string) []string {
	return strings.FieldsFunc(git("", "ls-files", "--others", "--exclude-standard", "-z"), func(r rune) bool { return r == 0 })
}

// TestIgnoreAsGitDoes compares each case in a directory of its own.
func TestIgnoreAsGitDoes(t *testing.T) {
	paths := []string{
		"a", "b.log", "foo.c", "foobar", "#hash", "!bang", "sp ", "sp", "tab\t", "a*b", "axb", "a[b", "a]b", "a-b", "aZb", "a9b", "ä", "日",
		"build/x", "doc/a.txt", "doc/sub/a.txt", "doc/sub/b/a.txt", "d1/foo", "d1/foo.c", "d1/d2/foo", "d1/d2/d3/foo", "foo/bar", "x/foo/bar", "x/y/foo/bar",
		"keep/a.log", "keep/b.log", ".hid/x", "abc/def", "abc/x/def", "abc/x/y/def", "deep/a/b/c/d", "caf\xe9", `back\slash`, "UP.TXT", "up.txt", "a d/c d",
		"a\x01b", "a\x7fb", "a\tb", "a b", "a\vb", "agb", "aGb", "a~b",
	}
	cases := map[string]map[string]string{
		"names":         {".gitignore": "b.log\nfoo\n*.c\n"},
		"anchors":       {".gitignore": "/foo.c\nd1/foo\n/d1/d2\n"},
		"directories":   {".gitignore": "foo/\nbuild/\na/\n"},
		"comments":      {".gitignore": "#hash\n\\#hash\n\\!bang\n\n   \n"},
		"spaces":        {".gitignore": "sp\\ \nb.log   \na d/\n"},
		"tab at end":    {".gitignore": "tab\t\na\t\n"},
		"negation":      {".gitignore": "*.log\n!keep/a.log\nkeep/*\n!keep/b.log\n"},
		"no way back":   {".gitignore": "keep/\n!keep/a.log\n!\n!/\n/\n"},
		"classes":       {".gitignore": "a[0-9]b\na[]]b\na[!-x]b\na[[:upper:]]b\n"},
		"more classes":  {".gitignore": "a[^[:alnum:]]b\nfoo[.b]*\na[x-\n[[:nope:]]\n"},
		"odd classes":   {".gitignore": "a[\\]]b\na[a-\\z]b\na[]-a]b\n[[:]\na[[:alpha:]-z]b\n"},
		"escapes":       {".gitignore": "a\\*b\nback\\\\slash\na\\\nfo\\o.c\n"},
		"question":      {".gitignore": "a?b\n?\n??\n"},
		"stars":         {".gitignore": "**/foo\nabc/**/def\ndoc/**\n!doc/sub/\n"},
		"stars inside":  {".gitignore": "fo**r\n***/bar\nabc/?**\n*1**/foo\n"},
		"two stars":     {".gitignore": "**\n!*.txt\n!*/\n"},
		"leading slash": {".gitignore": "/**\n!/doc\n!/doc/**\n/doc/**/b/\n"},
		"trailing":      {".gitignore": "deep/**/\nabc/*\nx/**/bar\n"},
		"slashes":       {".gitignore": "//foo.c\nd1//foo\nd1\\/foo\nd1/./foo\n"},
		"crlf and mark": {".gitignore": "\xef\xbb\xbfb.log\r\nfoo/\r\n*.txt\r"},
		"nested":        {".gitignore": "*.log\nfoo\n", "keep/.gitignore": "!*.log\n", "d1/.gitignore": "/foo\n!d2/foo\n", "d1/d2/.gitignore": "d3/\n"},
		"bytes":         {".gitignore": "caf?\n\xe4*\n\xc3\xa4\n"},
		"case":          {".gitignore": "UP.*\n"},
	}
	for _, class := range strings.Fields("alnum alpha blank cntrl digit graph lower print punct space upper xdigit none") {
		cases["class "+class] = map[string]string{".gitignore": "a[[:" + class + ":]]b\n"}
	}
	files := map[string]string{".gitignore": "!b.log\n", ".git/info/exclude": "b.log\nfoo.c\n"}
	for name, rules := range cases {
		for _, path := range paths {
			files[name+"/"+path] = ""
		}
		for path, content := range rules {
			files[name+"/"+path] = content
		}
	}
	w := tree(t, files)
	git := theirs(repository(t, w.Root()))
	for name := range cases {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, path := range git {
				if strings.HasPrefix(path, name+"/") {
					want = append(want, path)
				}
			}
			compare(t, want, ours(t, w, name))
		})
	}
}

// compare compares what git says with what we say, names with names as text.
func compare(t *testing.T, want, got []string) {
	t.Helper()
	for i, path := range want {
		want[i] = text(path)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("not ignored (-git +ours):\n%s", diff)
	}
}

// glued is two stars after text, which git before 2.52 takes for two stars after
// a slash, against its own manual; and two stars before an escaped slash, which
// it takes for one directory or more.
var glued = regexp.MustCompile(`[^/*\n!]\*\*|\*\*\\/`)

// TestIgnoreAsGitDoesAtRandom compares random rules for random paths.
func TestIgnoreAsGitDoesAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	some := func(n int, from ...string) string {
		var b strings.Builder
		for range 1 + r.IntN(n) {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	files := make(map[string]string)
	for range 60 {
		var elements []string
		for range 1 + r.IntN(4) {
			elements = append(elements, some(3, "a", "b", "-", "]", "!", "c "))
		}
		files[strings.Join(elements, "/")+".f"] = ""
	}
	w := tree(t, files)
	git := repository(t, w.Root())
	for range 50 {
		var rules strings.Builder
		for range 1 + r.IntN(6) {
			rules.WriteString(some(7, "a", "b", "c", "*", "**", "/", "**/", "/**", "?", "[ab]", "[!a]", "[a-c]", "!", `\`, "-", "]", "[", " ", ".f", "^", "[[:alpha:]]") + "\n")
		}
		if glued.MatchString(rules.String()) {
			continue
		}
		put(t, filepath.Join(w.Root(), ".gitignore"), false, rules.String())
		compare(t, theirs(git), ours(t, w, "."))
		if t.Failed() {
			t.Fatalf("with %q", rules.String())
		}
	}
}

// A pattern of many stars must not take exponential time.
func TestManyStars(t *testing.T) {
	start := time.Now()
	pattern := strings.Repeat("*a", 40) + "b"
	if matchName(pattern, strings.Repeat("a", 250)) {
		t.Error("matched")
	}
	deep := strings.Split(strings.Repeat("a/", 200)+"c", "/")
	if matchPath(strings.Split(strings.Repeat("**/a/", 40)+"b", "/"), deep) {
		t.Error("matched")
	}
	if took := time.Since(start); took > blocked {
		t.Errorf("took %v", took)
	}
}

func FuzzIgnore(f *testing.F) {
	f.Add("*.log\n!a/**/b\n[[:alpha:]-z]\\\n", "a/x/b.log")
	f.Add("**/[!a-c]*/\n/a\\ \n", "q/r")
	f.Fuzz(func(t *testing.T, rules, path string) {
		path = strings.Trim(filepath.ToSlash(filepath.Clean("/"+path)), "/")
		if path == "" {
			return
		}
		r := ignores{files: []ignoreFile{{"", parseRules(rules)}}}
		once := r.ignored(path, false)
		r.files = append(r.files, r.files[0])
		if r.ignored(path, false) != once {
			t.Fatalf("%q says otherwise of %q when it is there twice", rules, path)
		}
		if !once && r.ignored(path, true) != once && !strings.Contains(rules, "/") {
			t.Fatalf("%q tells a directory %q from a file", rules, path)
		}
	})
}
