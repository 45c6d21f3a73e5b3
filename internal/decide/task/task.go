// Package task tells by what a person says whether files are to change for it. It
// reads words, in English and Chinese, and judges them by patterns: the same words
// always come to the same, and nobody is asked.
package task

import (
	"strings"

	"github.com/belay-agent/belay/internal/contract/pattern"
)

// A Type is what a person wants.
type Type string

// The closed list of types.
const (
	Look   Type = "look"   // to know something; nothing is to change
	Change Type = "change" // something is to be different afterwards
)

// Usual is the type of words that say neither, with none before them. The patterns
// leave none of the labelled sentences open, so these decide nothing here: a look
// that is taken for a change costs less than the reverse, since what may be written
// is a matter of policy and not of this.
const Usual = Change

// Next returns the type of what is said after words of type before, "" for none.
// What says neither, such as "go on", leaves it as it was.
func Next(before Type, words string) Type {
	if t := of(words); t != "" {
		return t
	}
	if before != "" {
		return before
	}
	return Usual
}

// of judges each sentence by itself. One that asks for a change outweighs those
// that ask for a look, unless all changes are ruled out.
func of(words string) Type {
	words = codeRE().ReplaceAllString(words, " ")
	if keptRE().MatchString(words) {
		return Look
	}
	found := Type("")
	for _, s := range sentenceRE().FindAllString(words, -1) {
		switch sentence(s) {
		case Change:
			return Change
		case Look:
			found = Look
		}
	}
	return found
}

// sentence judges by what a sentence begins with, then by whether it asks, then by
// what it speaks of.
func sentence(s string) Type {
	s = politeRE().ReplaceAllString(strings.TrimSpace(s), "")
	switch {
	case changeRE().MatchString(s):
		return Change
	case lookRE().MatchString(s):
		if alsoRE().MatchString(s) {
			return Change
		}
		return Look
	case askRE().MatchString(s):
		return Look
	case clauseRE().MatchString(s), alsoRE().MatchString(s), wantRE().MatchString(s):
		return Change
	}
	return ""
}

const (
	changes = `fix|mend|repair|add|make|rename|write|update|refactor|delete|remove|drop|use|bump|commit|implement|create|change|replace|move|extract|split|merge|convert|translate|simplify|speed|improve|optimi[sz]e|upgrade|downgrade|port|migrate|set up|configure|enable|disable|revert|undo|format|rewrite|clean|introduce|support|handle|ensure|let|turn|put|apply|install|generate|build|document|correct|adjust|edit|modify|insert|append|wire|hook|resolve|solve|push|tag|release|deploy|stage|rebase|sort|deduplicate|inline|wrap|cache|test that|do it|try`
	looks   = `explain|find|list|show|review|compare|summari[sz]e|describe|tell|check|look|read|search|locate|analy[sz]e|investigate|run|count|audit|inspect|verify|trace|walk|give me an overview|outline|suggest|propose|plan|think|debug|figure out|see|print|report|evaluate|assess|identify|diagnose`

	changesHan = `修复|修正|修改|修一下|修好|改名|改成|改为|改一下|改进|改写|加个|加上|加一|加入|给|添加|新增|增加|写|更新|删|移除|去掉|重构|拆|优化|升级|实现|翻译|提交|让|把|将|替换|创建|生成|补|解决|重命名|整理|迁移|支持|完善|合并|统一|用|换成|撤销|回滚|格式化`
	looksHan   = `解释|看|列出|列举|审查|检查|比较|对比|分析|总结|告诉|说说|查|介绍|描述|梳理|评估|评审|运行|跑|统计|找|搜索|阅读|读|说明|讲|这个|有哪些|有没有`
)

var (
	codeRE     = pattern.Later("(?s)```.*?(?:```|$)|`[^`\n]*`")
	sentenceRE = pattern.Later(`[^.!?;\n。！？；]+(?:\.\w[^.!?;\n。！？；]*)*[!?？]?`)

	// keptRE is where all changes are ruled out.
	keptRE = pattern.Later(`(?i)\b(?:do not|don'?t|without|no) (?:chang|edit|modify|touch|writ)\w* (?:anything|any|files?|the code|code|yet)\b|\bread[- ]only\b|\bno changes\b|(?:先不要|先别|暂时不要|不要|别|无需|不用)(?:修改|改动|改|动)(?:任何|代码|文件|$|[，。,.！ ])|只(?:读|看|分析)`)

	politeRE = pattern.Later(`(?i)^(?:(?:please|can you|could you|would you|will you|i want you to|i'd like you to|i need you to|let'?s|now|then|also|and|next|first|just|ok(?:ay)?|so|hi|hello|go ahead and|help me(?: to)?|you should|请你?|麻烦你?|帮我|帮忙|你?能不能|能否|可以|现在|然后|接着|再|先|那么?|顺便|我?想?要?你)[,，]?\s*)+`)
	changeRE = pattern.Later(`(?i)^(?:(?:` + changes + `)\b|` + changesHan + `)`)
	lookRE   = pattern.Later(`(?i)^(?:(?:` + looks + `)\b|(?:` + looksHan + `))`)
	askRE    = pattern.Later(`(?i)^(?:why|what|how|where|which|who|when|whose|is|are|am|was|were|does|do|did|has|have|should|would|could|can|will|any)\b|[?？]\s*$|吗|呢$|什么|为何|哪|怎么|如何|是否|多少|几个|区别|意思`)
	alsoRE   = pattern.Later(`(?i)(?:\b(?:and|then)|[,，])\s+(?:then |also |please )?(?:` + changes + `)\b|(?:并且?|然后|再|，\s*)(?:请|帮我)?(?:` + changesHan + `)`)
	clauseRE = pattern.Later(`(?i)\b(?:should|must|needs? to|ought to|has to|have to|instead of|i want|i'd like|broken|is missing|todo:)\b|应该|需要|必须|而不是|不应`)
	wantRE   = pattern.Later(changesHan)
)
