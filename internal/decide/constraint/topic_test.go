package constraint

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// TestR260_AConstraintSaysWhatItIsAbout holds that what was named in the clause
// before is part of the words, and so of the rule.
func TestR260_AConstraintSaysWhatItIsAbout(t *testing.T) {
	for text, want := range map[string]Constraint{
		"pinyin_dict.go 是自动生成的，绝对不能改。": {
			"pinyin_dict.go 是自动生成的，绝对不能改", Forbid, []tool.Ban{{Rule: "Edit(**/pinyin_dict.go)"}},
		},
		"看看怎么处理的。_tools 目录不归我们管，不要碰。": {
			"_tools 目录不归我们管，不要碰", Forbid, []tool.Ban{{Rule: "Edit(**/_tools/**)"}},
		},
		"Say what you find. Files under verify/ are none of our business, leave them as they are.": {
			"Files under verify/ are none of our business, leave them as they are", Require, []tool.Ban{{Rule: "Edit(verify/**)"}},
		},
		"No, golang-lru is out. Do not add golang-lru.": {
			"Do not add golang-lru", Forbid, []tool.Ban{{Text: "golang-lru"}},
		},
		"Never use `new Function`, not even in tests.": {
			"Never use `new Function`", Forbid, []tool.Ban{{Text: "new Function"}},
		},
		"Never use `git push` here.": {
			"Never use `git push` here", Forbid, []tool.Ban{{Rule: "Bash(git push **)"}},
		},
		"Do not add third-party code.": {"Do not add third-party code", Forbid, nil},
		"Look at main.go, do not push it": {
			"do not push it", Forbid, []tool.Ban{{Rule: "Bash(git push **)"}},
		},
	} {
		found := Find(text)
		if len(found) != 1 {
			t.Errorf("%s: %+v", text, found)
			continue
		}
		if diff := cmp.Diff(want, found[0]); diff != "" {
			t.Errorf("%s: want -, got +\n%s", text, diff)
		}
	}
}
