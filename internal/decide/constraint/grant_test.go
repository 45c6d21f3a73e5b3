package constraint

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/tool"
)

func except(rule, glob string) []tool.Ban { return []tool.Ban{{Rule: rule, Except: glob}} }

// TestWhatIsAllowedBesideIsNotBanned: an exception bounds a ban wherever it stands,
// behind any mark, in a sentence or on a line of its own.
func TestWhatIsAllowedBesideIsNotBanned(t *testing.T) {
	v2 := except("Edit(api/**)", "api/v2/**")
	for text, want := range map[string][]tool.Ban{
		"Don't touch api/ — api/v2 is fine though.":                  v2,
		"Don't touch api/, but api/v2 is fine.":                      v2,
		"Don't touch api/ but you may edit api/v2.":                  v2,
		"Don't touch api/. You can edit api/v2 though.":              v2,
		"Don't touch api/.\nException: api/v2.":                      v2,
		"不要动 api/，api/v2 可以动":                                        v2,
		"不要动 api/。api/v2 可以改。":                                       v2,
		"不要动 api/，api/v2 除外。":                                        v2,
		"不要动 api/（api/v2 除外）":                                        v2,
		"Don't edit anything in src/, only src/parser.go.":           except("Edit(src/**)", "src/parser.go"),
		"Don't touch anything.\nExcept a.go and b.go.":               allBut("{**/a.go,**/b.go}"),
		"Don't touch anything except:\n- a.go\n- b.go":               allBut("{**/a.go,**/b.go}"),
		"Only change a.go. b.go may also change.":                    allBut("{**/a.go,**/b.go}"),
		"不要动以下文件：\n- a.go\n- b.go":                                   bansOf("Edit(**/a.go)", "Edit(**/b.go)"),
		"You may edit api/ and src/, but leave vendor/ and web/.":    bansOf("Edit(vendor/**)", "Edit(web/**)"),
		"Leave api/ and vendor/ alone.":                              bansOf("Edit(api/**)", "Edit(vendor/**)"),
		"Hands off api/ and web/. src/ is yours.":                    bansOf("Edit(api/**)", "Edit(web/**)"),
		"Fix the bug; don't push, but you may commit.":               bansOf("Bash(git push **)"),
		"api/ 可以改，vendor/ 不要动":                                       bansOf("Edit(vendor/**)"),
		"Refactor parse.go, add tests, and don't touch vendor/.":     bansOf("Edit(vendor/**)"),
		"Only touch a.go and its tests.":                             allBut(alternatives(append([]string{"**/a.go"}, testFiles...))),
		"只改 a.go 和它的测试":                                              allBut(alternatives(append([]string{"**/a.go"}, testFiles...))),
		"The hook is slow. I said: do not push":                      bansOf("Bash(git push **)"),
		"vendor/ must not be changed":                                bansOf("Edit(vendor/**)"),
		"Hi, we have // in every URL of the docs\ndon't push please": bansOf("Bash(git push **)"),
	} {
		found := Find(text)
		if len(found) != 1 || !slices.Equal(found[0].Bans, want) {
			t.Errorf("%q: %+v, not %+v", text, found, want)
		}
	}
}

// TestWhatIsUncertainBansNothing: double negations, conditions in a clause or a
// sentence of their own, exceptions that are no places, what something else says.
func TestWhatIsUncertainBansNothing(t *testing.T) {
	for _, text := range []string{
		"Don't be afraid to edit api/.", "I wouldn't say don't touch api/.", "You can't not touch api/ here.", "Not touching api/ is not required.", "Don't touch a.go too much",
		"不要害怕改 api/", "不是不能改 api/", "不一定要改 api/", "不要只改 a.go",
		"Don't push. Unless the tests pass.", "Do not push; only if I say so.", "Run the tests, and if they fail, do not commit.",
		"No new dependencies, except zod.", "Don't delete files, apart from build artefacts", "不要安装新依赖，除了 zod", "不要加依赖，zod 除外", "不要访问网络，除了 GitHub", "不要删除任何文件，临时文件除外", "别跑测试，除了 parser 的",
		"Leave api/ alone; v2 in it is fine.", "The rest of api/ is off limits", "api/ 其他的不要动", "Don't touch the config files except a.yaml",
		"Keep api/ in sync with docs/.", "Keep a.go small.", "The code in api/ must never write to /etc", "b.go may also change.",
		"The hook says: do not push to main. Fix it.", "Add a line to CONTRIBUTING.md: never push to main.", "日志里写着 不要修改 config.yaml，什么意思",
		"if (x) { // do not edit api/\n}", "Here's the file:\n// DO NOT EDIT api/foo.go\npackage foo\nfix the compile error",
	} {
		for _, k := range Find(text) {
			if len(k.Bans) > 0 {
				t.Errorf("%q bans %+v", text, k.Bans)
			}
		}
	}
}

// TestSpansEndWhereTheyShould: what is shown of a constraint is whole.
func TestSpansEndWhereTheyShould(t *testing.T) {
	for text, want := range map[string]string{
		"Don't push (unless the tests pass).": "Don't push (unless the tests pass)",
		"不要动 api/（api/v2 除外）。":                "不要动 api/（api/v2 除外）",
		"don't push unless I say so.":         "don't push unless I say so",
	} {
		if found := Find(text); len(found) != 1 || found[0].Words != want {
			t.Errorf("%q: %+v", text, found)
		}
	}
}

// BenchmarkFindLong has what a long text can be made of: its time has to grow as its
// length does.
func BenchmarkFindLong(b *testing.B) {
	for name, piece := range map[string]string{"han": "删除", "unclosed": "“", "quoted": "\"a `b ", "names": "not api/ ", "bans": "do not touch api/, but ", "list": "\n- a.go"} {
		for _, n := range []int{50_000, 100_000} {
			text := strings.Repeat(piece, n/len(piece))
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Find(text)
				}
			})
		}
	}
}
