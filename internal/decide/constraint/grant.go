package constraint

import (
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// grants reports whether words allow something, and forbid nothing: api/v2 is fine,
// api/v2 可以改.
func grants(words string) bool {
	low := flat(words)
	if !contains(low, granting) {
		return false
	}
	for _, w := range granting {
		low = strings.ReplaceAll(low, w, " ")
	}
	return !negative(low)
}

// granting are words of what is allowed.
var granting = []string{
	" you may ", " you can ", " you could ", " you might ", " you are allowed ", " you're allowed ", " you are free ", " you're free ", " feel free ", " is fine ", " are fine ", " is ok ", " are ok ", " is okay ", " are okay ",
	" is allowed ", " are allowed ", " is permitted ", " can be ", " may be ", " may also ", " can also ", " may change ", " can change ", " is yours ", " are yours ", " is fair game ", " are fair game ", " go ahead ", " no problem ", " fine to ", " ok to ", " okay to ",
	"可以", "随便", "没问题", "没关系", "无所谓", "允许", "不受限", "不限",
}

// frees reports whether words are a double negation, or say that something need not
// be: don't be afraid to edit api/, 不是不能改. Nothing in them is certain.
func frees(words string) bool {
	return contains(words, []string{
		" afraid ", " hesitate ", " forget ", " worry ", " mind if ", " have to ", " need to ", " needn't ", " need not ", " no need ", " can't not ", " cannot not ", " not required ", " not necessary ", " not needed ", " n't say ", " wouldn't say ",
		" didn't say ", " not say ", " not saying ", " not that ", " not only ", " not just ", " fail to ", " afraid of ", " shy away ", " too much ", " too many ", " keep from ", " not sure ", " without good reason ", " for no reason ",
		"不是不", "不一定", "害怕", "怕改", "不要怕", "别怕", "不要只", "别只", "不能只", "不要光", "别光", "不仅", "不只", "不用", "不必", "不需要", "没必要", "无需", "无须", "忘", "不要不", "别不", "不得不", "没说不",
	}) && !contains(words, []string{" you have to ", " you need to ", " i need to ", " i have to ", "不用 "})
}

// keeping are words of what stays what it is.
var keeping = []string{" leave ", " alone ", " hands ", " off limits ", " off-limits ", " out of bounds ", " read-only ", " readonly ", " untouched ", " unchanged ", " unmodified ", " intact ", " frozen ", " as is ", " as-is ", " as it is ", " as they are ", " the way it is ",
	" stay away ", " stay out ", " keep out ", " keep away ", " keep off ", " stay off ", " out of scope ", " steer clear ", " stays put ", "不变", "不动", "原样"}

// beyond reports whether words are of what is left when something was named before,
// which only the words before can tell: the rest of api/.
func beyond(words string) bool {
	return contains(words, []string{" the rest ", " else ", " the others ", " other files ", " other parts ", " other file ", "其他", "其它", "其余", "别的", "剩下"})
}

// general are the bans of what something is spared from, where that is no place: of
// every file, unless it is files of some kind.
func (d deed) general() []tool.Ban {
	if ofTests(d.target) {
		return deed{paths: testFiles}.edits()
	}
	if d.plain(append([]string{"nothing", "everything", "that", "which", "isn", "aren", "of", "leave", "keep", "alone", "than", "one", "only", "untouched", "unchanged", "is", "stay", "stays", "remain", "limits", "within", "else", "not", "into", "must", "hands", "rest", "each", "every", "may", "format", "reformat", "replace",
		"其他", "其它", "别的", "其余", "哪里", "哪儿", "哪", "全部", "什么", "一概", "保持", "不变", "原样", "不动", "只能", "只", "地方", "部分", "内容", "剩下", "那", "些", "目录", "下面", "可", "能", "得", "许", "准"}, edits...)...) {
		return []tool.Ban{{Rule: "Edit(**)"}}
	}
	return nil
}

// qualifies reports whether what words allow is of that which before forbids: a place
// in it, or something without a verb of its own.
func qualifies(before, words string) bool {
	if startsAny(words, []string{"only ", "just "}) && onlyPlaces(words[len("only "):]) && !startsAny(before, []string{"only "}) {
		return negative(before)
	}
	if !grants(words) {
		return false
	}
	places := placesIn(words)
	if len(places) == 0 {
		return shares(flat(before), flat(words))
	}
	for _, outer := range placesIn(before) {
		root := strings.TrimSuffix(outer.text, "/")
		for _, inner := range places {
			if inner.text == root || strings.HasPrefix(inner.text, root+"/") {
				return true
			}
		}
	}
	return contains(flat(before), []string{" only ", " anything ", " nothing ", " any file", "只", "任何", "什么都", "所有"})
}

// shares reports whether what is allowed has no verb that what is forbidden has not.
func shares(before, words string) bool {
	for _, w := range strings.Fields(words) {
		if v := infinitive(strings.Trim(w, ".-'")); v != "" && !among(v, "change", "go") && !strings.Contains(before, " "+v) {
			return false
		}
	}
	return !strings.ContainsAny(words, "推提删改动装跑用") || strings.ContainsAny(before, "推提删改动装跑用")
}

// ofTests reports whether words are of tests, and of no run of them.
func ofTests(words string) bool {
	low := flat(words)
	return contains(low, []string{" test ", " tests ", " test. ", " tests. ", "测试"}) && !contains(low, []string{" run ", " running ", "运行", "跑"})
}

// behaves reports whether words say what something else than the reader of them must
// not do: the code in api/ must never write to /etc.
func behaves(words string) bool {
	fields := strings.Fields(words)
	for i, w := range fields {
		if i == 0 || i+2 >= len(fields) || !among(w, "must", "should", "shall") || !among(fields[i+1], "not", "never") || among(fields[i-1], "you", "u", "we", "i", "nobody") {
			continue
		}
		if v := infinitive(fields[i+2]); v != "" && !among(v, "change", "be", "stay", "remain", "move") {
			return true
		}
	}
	return false
}

// reports reports whether what follows a colon is what something says, or what is to
// be written somewhere, rather than what the user wants.
func reports(words string) bool {
	low := flat(words)
	if contains(low, []string{" i say ", " i said ", " i repeat "}) {
		return false
	}
	return endsAny(strings.TrimRight(low, " "), []string{" says", " said", " reads", " states", " prints", " printed", " reports", " complains", " wrote", "写着", "写的是", "提示", "报错", "显示", "打印", "输出"}) ||
		startsAny(words, []string{"add ", "write ", "put ", "insert ", "append ", "print ", "show ", "log "}) && contains(low, []string{" line ", " comment ", " note ", " rule ", " message ", " section ", " sentence ", " text ", " heading ", " warning ", " paragraph ", " bullet ", " banner ", " label "}) ||
		contains(words, []string{"加一句", "加一行", "写上", "加上一句"})
}
