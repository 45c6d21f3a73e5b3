package constraint

import (
	"slices"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// bansOf returns the bans that have no more than a rule.
func bansOf(rules ...string) (bans []tool.Ban) {
	for _, r := range rules {
		bans = append(bans, tool.Ban{Rule: r})
	}
	return bans
}

func allBut(glob string) []tool.Ban { return []tool.Ban{{Rule: "Edit(**)", Except: glob}} }

// TestWhatSparesIsNotBanned: what names the only files that may change, in whatever
// words, must never ban just these.
func TestWhatSparesIsNotBanned(t *testing.T) {
	for text, want := range map[string][]tool.Ban{
		"change only a.txt":                                  allBut("**/a.txt"),
		"Only a.txt may be changed.":                         allBut("**/a.txt"),
		"Leave everything but docs/ alone.":                  allBut("docs/**"),
		"Do not modify files outside of internal/foo":        allBut("internal/foo/**"),
		"don't touch code outside of pkg/a":                  allBut("pkg/a/**"),
		"只改 a.txt":                                           allBut("**/a.txt"),
		"除 a.txt 外，其他文件一律不准动":                                allBut("**/a.txt"),
		"不要动除 src/a.go 以外的任何文件":                              allBut("src/a.go"),
		"src/ 以外的文件不要动":                                      allBut("src/**"),
		"只在 src/ 目录里改":                                       allBut("src/**"),
		"don't touch src/ except src/a.go":                   {{Rule: "Edit(src/**)", Except: "src/a.go"}},
		"don't touch anything in src except src/a.go":        {{Rule: "Edit(**/src/**)", Except: "src/a.go"}},
		"keep your edits within internal/loader":             allBut("internal/loader/**"),
		"a.txt 以外不要动":                                        allBut("**/a.txt"),
		"a.txt is the only file you may change":              allBut("**/a.txt"),
		"You're allowed to change a.txt and nothing else":    allBut("**/a.txt"),
		"don't make changes anywhere else than a.txt":        allBut("**/a.txt"),
		"nothing else than a.txt may change":                 allBut("**/a.txt"),
		"do not edit any other file than a.txt":              allBut("**/a.txt"),
		"don't touch any file but a.txt":                     allBut("**/a.txt"),
		"Don't edit anything that is not in src/":            allBut("src/**"),
		"don't edit files not in src/":                       allBut("src/**"),
		"Don't touch anything, except a.txt.":                allBut("**/a.txt"),
		"With the exception of a.txt, don't touch anything.": allBut("**/a.txt"),
		"aside from a.txt, leave everything as is":           allBut("**/a.txt"),
		"别动 src/ 外的东西":                                       allBut("src/**"),
		"不要碰 src/ 外面的文件":                                     allBut("src/**"),
		"除了 a.txt，什么都别动":                                     allBut("**/a.txt"),
		"什么都别动，除了 a.txt":                                     allBut("**/a.txt"),
		"什么都别动，a.txt 除外":                                     allBut("**/a.txt"),
		"仅可修改 src/":                                          allBut("src/**"),
		"never leave src/":                                   nil,
		"不在 src/ 下的文件不要动":                                    nil,
		"不要修改非 src/ 目录的文件":                                   nil,
		"除了修 bug，不要改 a.txt":                                  bansOf("Edit(**/a.txt)"),
		"do not in any case edit a.txt":                      bansOf("Edit(**/a.txt)"),
		"删除任何文件之前先问我":                                        {{Rule: "Edit(**)", Removes: true, Ask: true}},
		"Explain the code, but don't change anything.":       bansOf("Edit(**)"),
		"不要改代码，只解释":                                          bansOf("Edit(**)"),
	} {
		found := Find(text)
		if len(found) != 1 || !slices.Equal(found[0].Bans, want) {
			t.Errorf("%q: %+v, not %+v", text, found, want)
		}
	}
}

// TestWhatIsMeantIsBanned has sentences that are easily missed.
func TestWhatIsMeantIsBanned(t *testing.T) {
	a := bansOf("Edit(**/a.txt)")
	for text, want := range map[string][]tool.Ban{
		"a.txt: hands off":                         a,
		"a.txt stays as it is":                     a,
		"no changes to a.txt":                      a,
		"changes to a.txt are forbidden":           a,
		"plz dont modfy a.txt":                     a,
		"do not tuoch a.txt":                       a,
		"Make sure a.txt is not modified":          a,
		"please refactor this w/o touching a.txt":  a,
		"You can edit b.txt but not a.txt":         a,
		"edit b.txt, not a.txt":                    a,
		"nothing in vendor may change":             bansOf("Edit(**/vendor/**)"),
		"不要动 src 下面的代码":                            bansOf("Edit(**/src/**)"),
		"禁止修改 配置/密钥.txt":                           bansOf("Edit(配置/密钥.txt)"),
		"不要动 配置/ 目录":                               bansOf("Edit(配置/**)"),
		"不要改数据库.sql":                               bansOf("Edit(**/数据库.sql)"),
		"never use git push --force":               bansOf("Bash(git push --force **)"),
		"don't run any commands without asking me": {{Rule: "Bash", Ask: true}},
		"删文件前问一下我":                                 {{Rule: "Edit(**)", Removes: true, Ask: true}},
		"Don't run git commands":                   bansOf("Bash(git **)"),
		"don't rm anything":                        bansOf("Bash(rm **)"),
		"don't push yet":                           {{Rule: "Bash(git push **)", Ask: true}},
		"先别提交":                                     {{Rule: "Bash(git commit **)", Ask: true}},
	} {
		found := Find(text)
		if len(found) != 1 || !slices.Equal(found[0].Bans, want) {
			t.Errorf("%q: %+v, not %+v", text, found, want)
		}
	}
}

// TestNothingWithoutMyWord: what acts is asked about, what reads is not.
func TestNothingWithoutMyWord(t *testing.T) {
	for _, text := range []string{"do nothing without my approval", "Do not do anything without my approval.", "没有我的批准不要做任何事", "在我批准之前什么都不要做", "没我同意什么都别动"} {
		found := Find(text)
		if len(found) != 1 || found[0].Kind != Ask {
			t.Fatalf("%q: %+v", text, found)
		}
		for _, kind := range []effect.Kind{effect.Write, effect.Network, effect.Git, effect.Permanent} {
			if !slices.Contains(found[0].Bans, tool.Ban{Effect: kind, Ask: true}) {
				t.Errorf("%q asks about no %s: %+v", text, kind, found[0].Bans)
			}
		}
	}
}

// TestOfSomethingElseBansNothing: words that share a verb with a command, a package
// or a path, but are of something else. A ban would stop work that nobody meant.
func TestOfSomethingElseBansNothing(t *testing.T) {
	for _, text := range []string{
		"Don't just edit a.txt", "don't let the cache write to /tmp", "Don't use any in TypeScript", "don't use react hooks", "don't use requests in a loop",
		"don't add rocket science", "don't commit .env", "do not commit the generated file dist/app.js", "don't commit broken code",
		"don't commit without running the tests first", "don't merge the two functions", "don't push onto the stack in a.go", "don't stash values in globals",
		"do not use git in the Makefile", "don't use bash arrays", "don't run shell commands from the web server", "do not publish the event before the transaction ends",
		"do not run tests in parallel", "don't run the tests against the real database", "don't reset git hooks", "don't delete files older than a day",
		"don't add a new dependency between pkg a and pkg b", "don't change branches of the switch", "don't touch the network code", "don't use network mocks",
		"don't make network calls in the constructor", "don't upgrade any locks", "don't use curl in the Dockerfile", "don't change the code style", "do not change anything else",
		"不要提交 .env", "不要合并这两个函数", "不要推送重复的消息", "不要发布重复的事件", "不要在测试里联网", "不要用 react 的 hooks", "不要在 CI 里跑测试", "不要改 a.txt 的第一行", "不要移动 a.go", "不要动其他代码",
		"error: cannot modify a.txt: read-only file system", "AssertionError: must not change a.txt", "fatal: you must not push to main", "only look at src/",
		"Add to the README: do not edit generated files.", "请在 README 里写上：不要动 a.txt", "不能修改 a.txt，会报 permission denied", "不能访问网络时要重试",
	} {
		for _, k := range Find(text) {
			if len(k.Bans) > 0 {
				t.Errorf("%q bans %+v", text, k.Bans)
			}
		}
	}
}
