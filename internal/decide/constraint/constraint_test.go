package constraint

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/policy"
)

// TestR260_WordsBecomeBans only where all that is meant is known.
func TestR260_WordsBecomeBans(t *testing.T) {
	for words, want := range map[string][]tool.Ban{
		"do not touch the public API in api/":      {{Rule: "Edit(api/**)"}},
		"don't touch `internal/auth` or b/c.go":    {{Rule: "Edit(internal/auth/**)"}, {Rule: "Edit(b/c.go)"}},
		"leave README.md alone":                    {{Rule: "Edit(**/README.md)"}},
		"don't disable eslint":                     nil,
		"用 pnpm 不要用 npm":                           {{Rule: "Bash(npm **)"}},
		"use pnpm, not npm":                        {{Rule: "Bash(npm **)"}},
		"hands off the vendor directory":           {{Rule: "Edit(**/vendor/**)"}},
		"do not open .env":                         {{Rule: "Read(**/.env)"}, {Rule: "Edit(**/.env)"}},
		"do not delete anything in data/":          {{Rule: "Edit(data/**)", Removes: true}},
		"only change files in docs/ and a.go":      {{Rule: "Edit(**)", Except: "{docs/**,**/a.go}"}},
		"only edit a.go, b/c.go and docs/":         {{Rule: "Edit(**)", Except: "{**/a.go,b/c.go,docs/**}"}},
		"don't touch a.go, b/c.go, or d.go":        {{Rule: "Edit(**/a.go)"}, {Rule: "Edit(b/c.go)"}, {Rule: "Edit(**/d.go)"}},
		"do not push, unless I say so":             {{Rule: "Bash(git push **)", Ask: true}},
		"if the tests fail, do not commit":         nil, // only in some case
		"ask me before changing anything in b/":    {{Rule: "Edit(b/**)", Ask: true}},
		"ask me before deleting any file":          {{Rule: "Edit(**)", Removes: true, Ask: true}},
		"never run `make deploy`":                  {{Rule: "Bash(make deploy **)"}},
		"do not push":                              {{Rule: "Bash(git push **)"}},
		"do not push to main":                      {{Rule: "Bash(git push main **)"}, {Rule: "Bash(git push master **)"}, {Rule: "Bash(git push **)", Ask: true}},
		"do not merge without my approval":         {{Rule: "Bash(git merge **)", Ask: true}, {Rule: "Bash(gh pr merge **)", Ask: true}},
		"do not use curl or wget":                  {{Rule: "Bash(curl **)"}, {Rule: "Bash(wget **)"}},
		"do not use lodash":                        {{Text: "lodash"}},
		"do not use `legacyClient`":                {{Text: "legacyClient"}},
		"no network access":                        {{Effect: effect.Network}},
		"stop using Bash":                          {{Rule: "Bash"}},
		"不要动 api/ 目录":                              {{Rule: "Edit(api/**)"}},
		"只能改 internal/loader 里的文件":                 {{Rule: "Edit(**)", Except: "internal/loader/**"}},
		"删除任何文件之前先问我":                              {{Rule: "Edit(**)", Removes: true, Ask: true}},
		"不要推送":                                     {{Rule: "Bash(git push **)"}},
		"不准联网":                                     {{Effect: effect.Network}},
		"不要引入 lodash":                              {{Text: "lodash"}},
		"do not push when tests fail":              nil, // only in some case
		"do not change the timeout in config.go":   nil, // only a part of the file
		"do not rename exported symbols":           nil,
		"do not use `any`":                         nil, // it would stop sentences
		"do not run the tests more than twice":     nil,
		"don't use the Bash tool for edits":        nil,
		"do not delete the old migration files":    nil,
		"errors must be wrapped":                   nil,
		"do not make changes that break the build": nil,
	} {
		found := Find(words)
		if len(found) != 1 || found[0].Words != words {
			t.Errorf("in %q was found %+v", words, found)
			continue
		}
		if diff := cmp.Diff(want, found[0].Bans); diff != "" {
			t.Errorf("%q (-want +got):\n%s", words, diff)
		}
	}
}

func TestSeveralInOneText(t *testing.T) {
	var words []string
	for _, c := range Find("Fix it. Do not push, and never touch `a/b.go`!\n\n> do not read this\n- 不要提交\n- keep go.mod as it is") {
		words = append(words, string(c.Kind)+": "+c.Words)
	}
	want := []string{"forbid: Do not push", "forbid: never touch `a/b.go`", "forbid: 不要提交", "require: keep go.mod as it is"}
	if diff := cmp.Diff(want, words); diff != "" {
		t.Error(diff)
	}
}

// TestFromProposal: a model may hear what the reader does not, but not what was not
// said.
func TestFromProposal(t *testing.T) {
	const said = "The old client is\n sacred. And push nothing."
	got, err := FromProposal("The old client is sacred", said)
	if err != nil || got.Words != "The old client is\n sacred" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, words := range []string{"The new client is sacred", "", " ", "old client is sacred too", "sacred. Andpush"} {
		if got, err := FromProposal(words, said); !errors.Is(err, ErrNotSaid) {
			t.Errorf("%q became %+v", words, got)
		}
	}
	if got, err := FromProposal("do not push", "please do not push"); err != nil || len(got.Bans) != 1 || !got.Bans[0].Ask {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := FromProposal("edit a.go", "Please edit a.go."); err != nil || len(got.Bans) != 0 {
		t.Errorf("what was asked for is banned: %+v, %v", got, err)
	}
}

// TestPermitsNamesWhatIsMeant: the constraint that has most in common with what is
// allowed, not the newest one.
func TestPermitsNamesWhatIsMeant(t *testing.T) {
	held := []string{"do not touch the public API in api/", "no git pushes", "不要运行数据库迁移", "don't edit web/app.ts", "keep the names as they are", "不要提交"}
	for text, want := range map[string]int{
		"You may touch the API now.": 0, "ok, you can edit api/ again": 0, "You may push now.": 1, "Feel free to push it": 1, "Pushing: you may do that now": 1, "现在可以跑数据库迁移了": 2, "go ahead and change app.ts": 3,
		"you can change the names after all": 4, "可以提交了": 5, "You may do it now": 5,
		"Push it.": -1, "may I push now?": -1, "do not push": -1,
	} {
		got, ok := Permits(text, held)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q permits %d, %v, not %d", text, got, ok, want)
		}
	}
	if _, ok := Permits("You may push now.", nil); ok {
		t.Error("nothing holds, and something is permitted")
	}
}

// FuzzFind: what is found stands in the text, in order and apart, and every ban
// makes a rule.
func FuzzFind(f *testing.F) {
	f.Add("Fix it, but don't touch a.go, b.go or `c d`; before you push, ask me (please)")
	f.Add("改完跑 go test，不要动 配置/密钥.txt，没有我的同意别提交。If in doubt: ask")
	f.Add("do not touch \x7f\x01 `a`")
	f.Fuzz(func(t *testing.T, text string) {
		if len(mask(text)) != len(text) {
			t.Fatal("the mask has another length")
		}
		rest := text
		for _, c := range Find(text) {
			at := strings.Index(rest, c.Words)
			if at < 0 || c.Words == "" {
				t.Fatalf("%q does not stand in what is left, %q", c.Words, rest)
			}
			if utf8.ValidString(text) && !utf8.ValidString(c.Words) {
				t.Fatalf("%q is cut inside a character", c.Words)
			}
			rest = rest[at+len(c.Words):]
			for _, b := range c.Bans {
				if _, err := (policy.Ban{Ban: b}).Rule(policy.FromConstraint); err != nil {
					t.Fatalf("%q: %v", c.Words, err)
				}
			}
			if got, err := FromProposal(c.Words, text); strings.TrimSpace(c.Words) != "" && (err != nil || got.Words != c.Words && strings.Join(strings.Fields(got.Words), " ") != strings.Join(strings.Fields(c.Words), " ")) {
				t.Fatalf("what was found is no proposal: %q, %v", got.Words, err)
			}
		}
	})
}

// BenchmarkFind is of a message of 500 characters.
func BenchmarkFind(b *testing.B) {
	for name, text := range map[string]string{
		"none":    strings.Repeat("The parser reads a line, splits it at blanks and keeps the words it knows. ", 7)[:500],
		"one":     (strings.Repeat("The parser reads a line, splits it at blanks and keeps the words. ", 7) + "Please do not touch the API in api/.")[:498],
		"chinese": strings.Repeat("解析器读一行，按空格切开，留下它认识的词。", 22) + "不要动 api/ 目录。",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Find(text)
			}
		})
	}
}

// BenchmarkTables is what the first message in a language costs more: its table is
// read.
func BenchmarkTables(b *testing.B) {
	for name, table := range map[string]string{"english": englishTable, "chinese": chineseTable} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ParseWeights(table)
			}
		})
	}
}

// TestOneLanguageTakesOneTable: no message reads weights that it does not need.
func TestOneLanguageTakesOneTable(t *testing.T) {
	for text, want := range map[string][2]bool{
		"Do not push.": {true, false}, "不要推送": {false, true}, "Fix it.\n不要推送": {true, true}, "": {},
	} {
		r := reader(weighed(text))
		if got := [2]bool{r.English != nil, r.Chinese != nil}; got != want {
			t.Errorf("%q takes %v, not %v", text, got, want)
		}
	}
}

func TestWeightsOfAnotherFormAreSkipped(t *testing.T) {
	got := ParseWeights("1\t-2\t3\thas a\n\t\t-7\thas b\nx\t2\t3\thas b\n1\t2\thas c\n1\t2\t3\thas\ttab")
	want := Weights{"has a": {1, -2, 3}, "has b": {Forbids: -7}, "has\ttab": {1, 2, 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
