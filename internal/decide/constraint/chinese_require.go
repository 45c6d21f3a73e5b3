package constraint

import (
	"strings"
	"unicode/utf8"
)

func requiresChinese(text string) (Kind, bool) {
	for _, keep := range []string{"保持", "维持", "保留"} {
		if at := strings.Index(text, keep); at >= 0 && contains(text[at:], []string{"不变", "原样", "不动", "兼容", "一致"}) {
			return Require, at == 0 || contains(text[:at], []string{"必须", "请", "要", "签名", "接口", "API", "api", "测试", "文件", "代码", "格式", "行为", "务必", "一定"}) && !contains(text[:at], products) || topic(text[:at]) || names(text[:at])
		}
	}
	if evenly(text) || inTongue(text) {
		return Require, true
	}
	for _, m := range must {
		at := strings.Index(text, m)
		if at < 0 {
			continue
		}
		before, after := text[:at], text[at+len(m):]
		wide := startsAny(before, []string{"所有", "每", "新", "任何", "全部"}) && !contains(before, []string{"用户", "客户"}) ||
			contains(before, []string{"完", "之后", "以后", "之前", "以前"}) && !contains(before, products)
		if contains(before, products) && !wide || reported(before) || after == "" || contains(after, []string{"才能", "才可以", "才会"}) ||
			startsAny(after, []string{"是", "为", "大于", "小于", "等于", "尽快", "修", "解决", "搞定", "快", "今天", "小心", "注意", "记得", "返回", "显示"}) {
			return "", false
		}
		if m == "都要" && startsAny(after, []string{"等", "花", "卡", "报", "很", "好", "几", "重新", "手动", "疯", "失败", "超时"}) {
			return "", false
		}
		if m == "都要" && !strings.HasPrefix(before, "每") && !strings.HasPrefix(before, "所有") {
			return "", false
		}
		ok := wide || before == "" || before == "请" || startsAny(before, []string{"你", "所有", "每", "代码", "测试", "错误", "函数", "提交", "注释", "改动", "新", "变更", "任何", "文件", "日志", "命名", "这次", "接口", "我们", "全部", "也"}) || strings.ContainsFunc(before, latin) && topic(before)
		return Require, ok
	}
	return "", false
}

// evenly reports whether a clause says how all of something is to be written, or
// with what: 注释全部用英文写, 统一用 pnpm.
func evenly(text string) bool {
	for _, w := range []string{"统一用", "统一使用", "统一采用", "全部用", "全部使用", "全用", "都用", "一律用", "一律使用", "一概用", "只用"} {
		before, after, ok := strings.Cut(text, w)
		if !ok {
			continue
		}
		before = strings.TrimSpace(before)
		about := before == "" && !strings.HasPrefix(w, "都") || madeUpOf(before, []string{"请", "这里", "项目里", "本项目", "以后", "今后", "我们", "里面", "这个项目", "这个仓库", "代码里"}) || strings.HasSuffix(before, "名") ||
			startsAny(before, []string{"注释", "日志", "变量", "命名", "提交", "commit", "回复", "回答", "文档", "代码", "错误", "接口", "测试", "时间", "缩进", "引号", "字符串", "标识符", "所有", "依赖", "函数名"})
		return about && after != "" && !startsAny(after, []string{"了", "过", "完", "的", "例", "户", "于", "到", "时", "途", "法", "心", "力"})
	}
	return false
}

// preferred reports whether a clause says which of two tools to use: 用 yarn 而不是 npm.
func preferred(text string) bool {
	_, after, ok := strings.Cut(text, "用")
	if !ok || !startsCode(after) {
		return false
	}
	for _, w := range []string{"而不是", "不要用", "别用", "代替", "而非", "不用"} {
		if a, b, ok := strings.Cut(after, w); ok {
			first, other := strings.Fields(a), strings.Fields(b)
			return len(first) > 0 && len(other) > 0 && isTool(strings.ToLower(first[0])) && isTool(strings.ToLower(other[0]))
		}
	}
	return false
}

// inTongue reports whether a clause says in which language something is written.
func inTongue(text string) bool {
	for _, w := range []string{"用英文", "用中文", "用英语", "用日文", "使用英文", "使用中文"} {
		if before, after, ok := strings.Cut(text, w); ok {
			return utf8.RuneCountInString(after) < 4 && startsAny(before, []string{"注释", "提交", "commit", "回复", "回答", "文档", "变量名", "函数名", "命名", "日志", "错误信息", "PR", "请"}) && !strings.HasSuffix(before, "是")
		}
	}
	return false
}
