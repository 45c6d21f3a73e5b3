package constraint

import (
	"slices"
	"testing"

	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

// A kind is sentences that mean the same in other words, and others that look like
// them and do not: of all of these the bans together are told.
type kind struct {
	name  string
	bans  []tool.Ban
	texts []string
	other map[string][]tool.Ban
}

var (
	ofA      = bansOf("Edit(**/a.go)")
	ofPushes = bansOf("Bash(git push **)")
	asksPush = []tool.Ban{{Rule: "Bash(git push **)", Ask: true}}
	removals = []tool.Ban{{Rule: "Edit(**)", Removes: true}}
	offline  = []tool.Ban{{Effect: effect.Network}}
	ofEnv    = bansOf("Read(**/.env)", "Edit(**/.env)")
)

var kinds = []kind{
	{
		"done without something else being done", ofA,
		[]string{
			"Without changing a.go fix b.go", "Fix b.go without changing a.go", "Without touching a.go make the test in b.go pass.", "Without editing `a.go` rename the flag in b.go",
			"不改 a.go 的前提下修好 b.go", "在不修改 a.go 的情况下，把 b.go 修好", "在不动 a.go 的前提下修复 b.go",
		},
		map[string][]tool.Ban{
			"Without changes to a.go the build of b.go fails. Why?": nil, "Without a.go b.go does not compile": nil, "Without changing the test fix b.go": nil,
			"不改 a.go 的话 b.go 就编译不过，为什么？": nil,
		},
	},
	{
		"in some case only", nil,
		[]string{
			"测试不通过，不要推送", "测试没过就别推送", "测试不通过就不要推送", "CI 失败时不要推送", "单测没全绿，别推送", "lint 报错就不要推送", "测试没跑完不要推送",
			"If the suite is red, don't push", "Don't push while specs are failing", "As long as CI is red, do not push", "With failing tests, don't push",
		},
		map[string][]tool.Ban{
			"测试已经通过了，不要推送": ofPushes, "测试我自己跑，不要推送": ofPushes, "The tests pass now. Do not push.": ofPushes, "Don't push while you work": ofPushes,
			"测试通过之前不要推送": asksPush, "Don't push until the tests pass": asksPush, "报错信息改一下，不要推送": ofPushes,
		},
	},
	{
		"something written to a place", nil,
		[]string{
			"Never write secrets to logs/", "Don't log passwords to a.log", "don't put API keys in config/", "Never dump customer emails into tmp/", "Do not save any credentials in config/",
			"不要把密码写进 logs/", "别把 token 写到 config.yaml 里", "不要往 logs/ 里写密码", "禁止将客户邮箱存到 tmp/",
		},
		map[string][]tool.Ban{
			"Never write to logs/": bansOf("Edit(logs/**)"), "Don't write anything to logs/": bansOf("Edit(logs/**)"), "Don't create files in logs/": bansOf("Edit(logs/**)"),
			"no changes to a.go": ofA, "Do not make any edits to a.go": ofA,
			"不要往 logs/ 里写任何东西": bansOf("Edit(logs/**)"), "不要写 logs/ 目录": bansOf("Edit(logs/**)"), "不要把文件写到 logs/ 里": bansOf("Edit(logs/**)"),
		},
	},
	{
		"every branch but one", nil,
		[]string{
			"Don't push to any branch but dev", "Never push to any branch other than dev", "do not push anywhere but dev", "Don't push to a branch except dev",
			"除了 dev 分支，哪个分支都别推送", "除 dev 外，不要推送任何分支", "只能推送到 dev 分支",
		},
		map[string][]tool.Ban{"Don't push to any branch": ofPushes, "Don't push any branch, but do commit": ofPushes, "不要推送任何分支": ofPushes},
	},
	{
		"what a pasted comment says", nil,
		[]string{
			"Here's the file:\n# DO NOT EDIT a.go\nimport os\nfix the import", "It starts like this:\n-- Do not edit a.go\nSELECT 1;\nMake it 2.", "The template has\n<!-- do not edit a.go -->\non top, drop it",
			"header:\n; do not edit a.go\n[server]\nport=80", "The docstring:\n\"\"\"Do not edit a.go.\"\"\"\nimport sys", "Dockerfile:\nFROM alpine\n# never edit a.go\nRUN make",
			"文件开头：\n# 不要修改 a.go\nimport os\n第二行报错", "看这个：\n-- 禁止修改 a.go\nSELECT 1;\n改成 2",
		},
		map[string][]tool.Ban{
			"# Rules\nDo not edit a.go": ofA, "Fix b.go.\n- do not edit a.go\n- add a test": ofA, "Rules:\n1. Do not edit a.go\n2. Add tests": ofA,
			"规则：\n- 不要修改 a.go\n- 加测试": ofA,
		},
	},
	{
		"unless I agree", asksPush,
		[]string{
			"不要推送，除非我同意", "除非我同意，否则不要推送", "没有我的同意不要推送", "未经我允许不要推送", "我不点头就不要推送", "不要推送除非我点头",
			"Unless I say so, don't push", "don't push unless I ask you to", "Do not push without my OK.", "Without my approval, don't push",
		},
		map[string][]tool.Ban{"除非测试通过，否则不要推送": nil, "没我同意别改任何代码": {{Rule: "Edit(**)", Ask: true}}, "未经我允许不要删任何文件": {{Rule: "Edit(**)", Removes: true, Ask: true}}, "Unless the tests pass, don't push": nil},
	},
	{
		"negations that are no not, of pushing", ofPushes,
		[]string{
			"By no means push", "Take care not to push", "Be careful not to push", "On no account push.", "Under no circumstances push", "In no case push anything", "pls dont push", "Make sure not to push", "See to it that you don't push",
			"Mind you don't push", "决不能推送", "绝不要推送", "小心别推送", "注意不要推送", "可别推送", "千万不能推送",
		},
		map[string][]tool.Ban{"By no means all pushes fail": nil, "He took care not to push the button in the demo": nil, "Don't forget to push": nil, "注意到推送失败了": nil},
	},
	{
		"nothing is to be removed", removals,
		[]string{
			"Nothing should be deleted", "Nothing is to be deleted.", "nothing gets deleted", "No file should be deleted", "No files may be removed", "don't delete anything",
			"什么都别删", "什么都不要删", "啥都别删", "一个文件都不要删", "任何文件都不许删除", "不要删任何东西",
		},
		map[string][]tool.Ban{
			"Nothing should be deleted for 30 days after a customer leaves": nil, "Nothing was deleted, why?": nil, "No rows should be deleted": nil, "这个脚本什么都没删，为什么": nil,
		},
	},
	{
		"a place that nobody changes", bansOf("Edit(vendor/**)"),
		[]string{
			"Nobody touches vendor/", "No one edits vendor/", "Nobody is to touch vendor/.", "Nothing in vendor/ should be changed", "pls dont edit vendor/", "nobody changes anything in vendor/",
			"谁也不许动 vendor/", "谁都别碰 vendor/", "任何人都不要改 vendor/", "vendor/ 里的东西一律不许动",
		},
		map[string][]tool.Ban{"Nobody touched vendor/ since May": nil, "Nobody knows what vendor/ is for": nil, "没人动过 vendor/": nil},
	},
	{
		"being offline", offline,
		[]string{"stay offline", "Stay offline, please.", "Work offline", "Please stay offline while you work", "Do it offline", "don't go online", "保持离线", "全程离线", "请保持离线状态", "不要上网", "离线做"},
		map[string][]tool.Ban{
			"The client has to stay usable offline": nil, "Don't break the offline mode": nil, "不要破坏离线模式": nil, "Players who stay offline for a week lose their streak": nil,
		},
	},
	{
		"a file that is not to be read", ofEnv,
		[]string{"Don't cat .env", "don't read .env", "Never open .env", "Do not print .env", "don't look into .env", "don't peek at .env", "别 cat .env", "不要读 .env", "不要打印 .env", "别看 .env"},
		map[string][]tool.Ban{"dotenv doesn't read .env in production": nil, "Don't print the values of .env.example twice": nil},
	},
	{
		"one program for another", bansOf("Bash(npm **)"),
		[]string{
			"use pnpm, not npm", "Use pnpm instead of npm.", "use pnpm rather than npm", "pnpm, not npm, please", "Always use pnpm and not npm", "don't use npm, use pnpm",
			"用 pnpm，不要用 npm", "用 pnpm 不要用 npm", "用 pnpm 而不是 npm", "用 pnpm 别用 npm",
		},
		map[string][]tool.Ban{"use pnpm for the docs, not npm": nil, "use date-fns, not dayjs": nil, "use pnpm": nil, "Use uv, not pip.": bansOf("Bash(pip **)"), "用 uv，不要用 pip": bansOf("Bash(pip **)"), "use uv, not pip, for scripts/": nil, "Is it common to use pnpm, not npm?": nil},
	},
	{
		"the only files, in a list", allBut("{**/a.go,b/c.go}"),
		[]string{
			"Only edit these files:\na.go\nb/c.go", "Only change the following:\n- a.go\n- b/c.go", "Fix it. You may only touch these files:\n  a.go\n  b/c.go\n\nThanks", "Only edit:\n* a.go\n* b/c.go",
			"只能改这些文件：\na.go\nb/c.go", "只改以下文件：\n- a.go\n- b/c.go",
		},
		map[string][]tool.Ban{"It only fails in these files:\na.go\nb/c.go": nil, "Please review these files:\na.go\nb/c.go": nil, "只有这些文件会崩：\na.go\nb/c.go": nil},
	},
	{
		"one branch by name", slices.Concat(bansOf("Bash(git push main **)", "Bash(git push master **)"), asksPush),
		[]string{"不要直接推送到 main", "别直接推到 main", "不要往 main 推送", "Don't push straight to main", "Never push directly to main"},
		map[string][]tool.Ban{"为什么直接推送到 main 会被拒绝？": nil, "Pushing straight to main is rejected, why?": nil},
	},
}

// TestKindsOfWordsMeanOneThing: what is said in other words is the same ban, and what
// looks like it is not.
func TestKindsOfWordsMeanOneThing(t *testing.T) {
	bans := func(text string) (all []tool.Ban) {
		for _, k := range Find(text) {
			all = append(all, k.Bans...)
		}
		return all
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			for _, text := range k.texts {
				if got := bans(text); !slices.Equal(got, k.bans) {
					t.Errorf("%q bans %+v, not %+v", text, got, k.bans)
				}
				if len(k.bans) > 0 && len(Find(text)) == 0 {
					t.Errorf("%q is not heard", text)
				}
			}
			for text, want := range k.other {
				if got := bans(text); !slices.Equal(got, want) {
					t.Errorf("%q bans %+v, not %+v", text, got, want)
				}
			}
		})
	}
}
