package constraint

import "strings"

// askMe are words of a clause that turns to me.
var askMe = []string{
	"问我", "询问我", "问一下我", "问一声", "问问我", "问下我", "问过我", "跟我", "和我", "向我", "找我", "经我", "经过我", "征得我", "征求我", "得到我", "我同意", "我的同意", "我确认", "我批准", "我允许", "我许可", "我的许可", "我的允许", "我的批准", "告诉我", "通知我", "知会我", "提醒我",
	"等我", "让我", "给我看", "先问", "先确认", "我点头", "我过目", "我审", "我看过", "请示", "通知一声", "说一声", "我授权", "我的授权", "请先询问",
}

// unasked are words for what is done without my word.
var unasked = []string{
	"没有我的", "没我的", "没有我", "没我同意", "没我允许", "没我批准", "不经我", "不经过我", "未得到我", "未经我", "未经允许", "未经许可", "未经同意", "未经批准", "未经授权", "没经过我", "不经过我", "没有经过我", "没有得到我", "擅自", "私自", "自作主张", "没问过我",
}

// beforehand reports whether a clause says before what.
func beforehand(text string) bool {
	return contains(text, []string{"之前", "以前", "前请", "前先", "前问", "前跟我", "前和我", "前告诉", "前让我", "前给我", "前等我", "前通知", "前征", "前得", "前经", "前向我", "前要", "前必须", "前需要", "前一定", "前务必", "前都"}) || strings.HasSuffix(text, "前") || contains(text, []string{"的时候", "时先", "时要先"}) && false
}

// asksChinese reports whether a clause says to ask me before something is done.
func asksChinese(text string) bool {
	if asksOthers(text) || contains(text, []string{"不需要先", "不用先", "不必先", "无需先", "不需要问我", "不用问我", "不必问我", "无需问我"}) {
		return false
	}
	switch {
	case beforehand(text) && contains(text, askMe):
		return true
	case contains(text, unasked) && contains(text, append(append([]string{"不"}, strong...), weak...)):
		return true
	case contains(text, []string{"先问我", "先问过我", "先征求我", "先经我", "先经过我", "先征得我", "先告诉我", "问过我再", "问我再", "得先问", "要先问我", "都要问我", "都要经过我", "都得问我", "需要我确认", "需要我同意", "需要我批准", "必须经过我", "须经我", "必须得到我", "必须征得我"}):
		return true
	case contains(text, []string{"停下来问我", "停下来等我", "停下来找我", "停下来告诉我", "必须我在场", "必须我批", "必须我同意", "必须我确认", "得我同意", "得我批准", "得我点头", "要我同意", "要我批准", "要我点头"}):
		return true
	case firstMe(text):
		return true
	}
	for _, w := range []string{"我同意", "我确认", "我批准", "我点头", "我看过", "我说可以", "我允许", "我审核"} {
		if at := strings.Index(text, w); at >= 0 && contains(text[at:], []string{"再", "才", "之后", "以后", "后"}) {
			return true
		}
	}
	return false
}

// firstMe reports whether a clause says that I come first: 先问一下我, 先征求我的同意.
func firstMe(text string) bool {
	at := strings.Index(text, "先")
	if at < 0 {
		return false
	}
	rest := text[at+len("先"):]
	me := strings.Index(rest, "我")
	return me > 0 && me <= len("征求一下") && startsAny(rest, []string{"问", "跟", "和", "征", "经", "向", "告诉", "通知", "请示", "找", "得到", "取得", "获得", "知会", "请"}) &&
		(startsAny(rest, []string{"问", "征", "经", "告诉", "通知", "请示", "得到", "取得", "获得", "知会"}) || contains(rest[me:], []string{"说", "确认", "商量", "沟通", "讨论", "打招呼", "打个招呼", "同意", "请示", "报备", "汇报", "对一下"}))
}

// asksOthers reports whether it is somebody else who is asked: a user by a dialog.
func asksOthers(text string) bool {
	if contains(text, []string{"对话框", "弹窗"}) {
		return true
	}
	for _, o := range others {
		at := strings.Index(text, o)
		if at < 0 {
			continue
		}
		if !startsAny(text[at+len(o):], []string{"数据", "信息", "表", "资料", "文件", "目录", "模块", "服务", "端", "接口", "代码", "配置", "权限", "库", "记录"}) {
			return true
		}
	}
	return false
}
