package mention

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// in returns a Lookup of a workspace of these paths; a directory ends in a slash.
func in(paths ...string) Lookup {
	return func(p string) (string, bool, bool) {
		if path.IsAbs(p) || strings.HasPrefix(path.Clean(p), "..") {
			return "", false, false
		}
		for _, there := range paths {
			dir := strings.HasSuffix(there, "/")
			if path.Clean(p) == path.Clean(there) {
				return path.Clean(there), dir, true
			}
		}
		return "", false, false
	}
}

func TestR314_Find(t *testing.T) {
	look := in("a.go", "b.go", "internal/x.go", "a b.txt", "dir/", "docs/notes/", "test/", "src/a.ts", "Makefile",
		"文档/说明.md", "foo(1).txt", "x,y.txt", "v1.2", ".env", "web/@types/x.ts", "Code", "odd:10")
	for _, tc := range []struct{ text, want, missing string }{
		{"look at @internal/x.go", "internal/x.go", ""},
		{"@a.go", "a.go", ""},
		{"@a.go and @b.go, then @a.go again", "a.go b.go", ""},
		{`open @"a b.txt" please`, "a b.txt", ""},
		{"open @“a b.txt”。", "a b.txt", ""},
		{`@"a b.txt":3-4`, "a b.txt:3-4", ""},
		{"all of @dir/ and @docs/notes", "dir/ docs/notes/", ""},
		{"@src/a.ts:10-20", "src/a.ts:10-20", ""},
		{"@src/a.ts:20-10.", "src/a.ts:10-20", ""},
		{"@src/a.ts:10:", "src/a.ts:10", ""},
		{"@src/a.ts:10:5 says", "src/a.ts:10", ""},
		{"@src/a.ts#L10-L20", "src/a.ts:10-20", ""},
		{"@src/a.ts:0", "", ""},
		{"@odd:10", "odd:10", ""},

		// What is no file.
		{"import x from '@types/node'", "", ""},
		{"@dataclass\nclass A:", "", ""},
		{"mail a@b.c or a.b@a.go", "", ""},
		{"```java\n@Override\n@Test\n```", "", ""},
		{"@@ -1,3 +1,3 @@ func", "", ""},
		{"é@a.go", "", ""},
		{"node_modules/@a.go", "", ""},
		{`\@a.go`, "", ""},
		{"@ a.go", "", ""},
		{"@", "", ""},
		{"@test is a decorator, @dir too", "", ""},
		{"@Makefile", "Makefile", ""},
		{"`@a.go` in code is there, `@c.go` is not", "a.go", ""},
		{"@web/@types/x.ts", "web/@types/x.ts", ""},

		// What stands around it.
		{"(see @a.go)", "a.go", ""},
		{"is it @a.go?", "a.go", ""},
		{"@a.go: the parser", "a.go", ""},
		{"@a.go's parser", "a.go", ""},
		{"@a.go...", "a.go", ""},
		{"@a.go,@b.go", "a.go b.go", ""},
		{"@foo(1).txt, @x,y.txt", "foo(1).txt x,y.txt", ""},
		{"@v1.2.", "v1.2", ""},
		{"fix @.env", ".env", ""},
		{"-f=@a.go", "a.go", ""},
		{"看@a.go的内容", "a.go", ""},
		{"看@a.go，然后改@b.go。", "a.go b.go", ""},
		{"改@src/a.ts:10-20这几行", "src/a.ts:10-20", ""},
		{"看看@文档/说明.md的内容", "文档/说明.md", ""},
		{"比较@a.go和@b.go", "a.go b.go", ""},
		{"（@a.go）", "a.go", ""},

		// Outside, and what was meant and is not there.
		{"@/etc/passwd and @../x", "", "/etc/passwd ../x"},
		{`@"no such.txt"`, "", "no such.txt"},
		{"@src/b.ts:3", "", "src/b.ts:3"},
		{"@user:3", "", ""},
	} {
		found, missing := Find(tc.text, look)
		var got []string
		for _, m := range found {
			got = append(got, m.String())
		}
		if d := cmp.Diff(tc.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%q mentions (-want +got):\n%s", tc.text, d)
		}
		if d := cmp.Diff(tc.missing, strings.Join(missing, " ")); d != "" {
			t.Errorf("%q misses (-want +got):\n%s", tc.text, d)
		}
	}
}

func TestParseReadsWhatStringWrites(t *testing.T) {
	for _, m := range []Mention{{Path: "a.go"}, {Path: "a/b", Dir: true}, {Path: ".", Dir: true}, {Path: "a.go", First: 3, Last: 3}, {Path: "a.go", First: 3, Last: 9}} {
		if d := cmp.Diff(m, Parse(m.String())); d != "" {
			t.Errorf("%s (-want +got):\n%s", m, d)
		}
	}
}

func TestFindIsBounded(t *testing.T) {
	looks := 0
	found, _ := Find(strings.Repeat("@a,a,a,a ", 20_000), func(string) (string, bool, bool) { looks++; return "", false, false })
	if found != nil || looks > maxLooks {
		t.Errorf("%d mentions after %d looks", len(found), looks)
	}
	all, _ := Find(strings.Repeat("@a\x00", 10)+strings.Repeat("@b ", 1000), in("a", "b"))
	if len(all) != 2 {
		t.Errorf("found %v", all)
	}
}

// FuzzFind: whatever the text, only what the Lookup knows is found, each once,
// and all of it stands in the text behind an @.
func FuzzFind(f *testing.F) {
	for _, s := range []string{
		"@a.go", `@"a b.txt":1-2`, "看@a.go的内容", "a@b.c @dir/ @“x", "@@@a.go#L1-L2", "@a.go:99999999999", "\xff@a.go\xff@", "@文.md，@a.go:10-",
	} {
		f.Add(s)
	}
	there := []string{"a.go", "a b.txt", "dir/", "文.md"}
	look := in(there...)
	f.Fuzz(func(t *testing.T, text string) {
		found, missing := Find(text, look)
		seen := make(map[string]bool)
		for _, m := range found {
			if _, dir, ok := look(m.Path); !ok || dir != m.Dir || seen[m.String()] || m.First > m.Last || m.First < 0 {
				t.Errorf("%q mentions %+v", text, m)
			}
			seen[m.String()] = true
			if at := strings.Index(text, path.Base(m.Path)); !strings.Contains(text[:max(at, 0)], "@") {
				t.Errorf("%q does not hold %+v behind an @", text, m)
			}
		}
		for _, m := range missing {
			if !strings.Contains(text, m) || utf8.ValidString(text) && !utf8.ValidString(m) {
				t.Errorf("%q misses %q", text, m)
			}
		}
	})
}
