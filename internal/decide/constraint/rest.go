package constraint

import (
	"slices"
	"strings"
	"unicode"
)

// plain reports whether the words say no more than that what t names is not to be
// done: "never push" does, "do not push onto the stack" is of something else, which
// the commands for it are not. Words of fine change nothing.
func (d deed) plain(fine ...string) bool {
	words := d.target
	parts := slices.Clone(fine)
	for _, t := range tasks {
		for _, all := range t.words {
			for _, part := range all {
				if d.speaks(part) {
					parts = append(parts, part)
				}
			}
		}
	}
	chinese := slices.Concat(parts, plainChinese)
	slices.SortStableFunc(chinese, func(a, b string) int { return len(b) - len(a) }) // 强制推送 before 推送
	for _, w := range chinese {
		if w[0] >= 0x80 {
			words = strings.ReplaceAll(words, w, " ")
		}
	}
	for _, w := range strings.FieldsFunc(words, func(r rune) bool { return unicode.IsSpace(r) || r == '\'' || r == '.' || r == '-' || r == '/' }) {
		if at := strings.IndexFunc(w, func(r rune) bool { return unicode.Is(unicode.Han, r) }); at >= 0 {
			return false
		}
		if !isPlainWord(w) && !among(w, parts...) && !among(infinitive(w), parts...) && !d.partly(w, parts) {
			return false
		}
	}
	return true
}

// Words that are of a ban as the parts of a task are.
var (
	deletions = []string{"delete", "remove", "erase", "wipe", "purge", "unlink", "trash", "discard", "file", "files", "folder", "folders", "directory", "directories", "删除", "删掉", "移除", "清空", "清除", "删", "文件", "目录"}
	edits     = append(strings.Fields("touch modify change edit alter update write rewrite refactor overwrite files file"), "文件", "写", "改", "动", "碰", "编辑", "覆盖")
	networks  = []string{"network", "internet", "online", "web", "offline", "stay", "outside", "world", "access", "call", "calls", "connect", "connections", "contact", "reach", "touch", "go", "open", "query", "download", "anything", "request", "requests", "send", "host", "hosts", "server", "servers", "service", "services", "external",
		"离线", "脱机", "保持", "全程", "状态", "联网", "上网", "访问", "网络", "外网", "互联网", "连接", "连", "请求", "发送", "主机", "服务", "接口"}
)

// partly reports whether w is of a part that has a hyphen.
func (d deed) partly(w string, parts []string) bool {
	for _, p := range parts {
		if among(w, strings.Split(p, "-")...) || among(infinitive(w), strings.Split(p, "-")...) {
			return true
		}
	}
	return false
}

// isPlainWord knows the words that leave what is forbidden as wide as it is.
func isPlainWord(w string) bool {
	if strings.Trim(w, "0123456789-–—*#") == "" {
		return true
	}
	switch w {
	case "do", "don", "dont", "dnt", "donot", "t", "not", "never", "no", "nothing", "ever", "please", "plz", "pls", "you", "u", "we", "i", "id", "d", "s", "re", "it", "its",
		"must", "may", "should", "shall", "can", "cannot", "cant", "mustn", "shouldn", "shouldnt", "mustnt", "won", "be", "is", "are", "to", "are not", "allowed", "permitted", "forbidden",
		"want", "rather", "didn", "didnt", "d rather", "prefer", "dare", "better", "let", "us", "anything", "any", "a", "an", "the", "all", "this", "that", "these", "those", "my", "our", "your", "me",
		"code", "change", "changes", "work", "stuff", "thing", "things", "yet", "now", "today", "again", "anymore", "more", "for", "just", "even", "at", "in", "on", "here", "there", "yourself", "first",
		"anywhere", "from", "machine", "repo", "repository", "project", "session", "task", "turn", "time", "moment", "while", "whatever", "whatsoever", "either", "or", "and", "nor", "also", "but",
		"circumstances", "circumstance", "under", "directly", "by", "means", "case", "account", "point", "absolutely", "really", "strictly", "under any", "avoid", "avoiding", "stop", "refrain", "hold", "off", "with",
		"remote", "origin", "upstream", "branch", "branches", "commands", "command", "git", "run", "running", "make", "making", "create", "creating", "use", "using", "start", "starting", "do it",
		"new", "other", "extra", "additional", "external", "further", "third-party", "third", "party", "some", "thanks", "ok", "careful", "sure", "tool", "nobody", "included", "runs", "execute", "me to", "as", "so", "take", "care", "see", "mind", "gets", "straight":
		return true
	}
	return w == "\x01" || w == "\x7f"
}

// plainChinese are the same in Chinese.
var plainChinese = []string{
	"绝对", "千万", "永远", "无论如何", "一定", "务必", "不要", "不能", "不准", "不许", "不得", "不可以", "不可", "不允许", "不应该", "不应", "不希望", "不想", "请勿", "切勿", "严禁", "禁止", "杜绝", "避免", "停止", "请",
	"任何", "所有", "一切", "什么", "东西", "代码", "改动", "更改", "修改", "操作", "命令", "远程", "仓库", "远端", "项目", "机器", "我们", "这台", "这个", "这次", "那个", "暂时", "现在", "目前", "小心", "注意", "可别", "直接", "擅自", "自己", "自行", "随便", "随意",
	"使用", "进行", "任务", "期间", "过程", "中间", "软件", "工具", "第三方", "外部", "额外", "数据库", "脚本", "分支",
	"不", "别", "勿", "先", "再", "也", "都", "就", "还", "把", "给", "让", "的", "了", "过", "着", "到", "去", "来", "在", "上", "下", "里", "我", "你", "您", "它", "新", "旧", "和", "或", "者", "与", "及", "并", "要", "想", "用", "做", "个", "次", "都", "一", "律", "无", "论", "如", "何", "且", "对", "又", "哦", "吧", "啊", "呀", "哈", "跑", "包", "库", "决", "绝", "往", "啥",
}
