package constraint

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hanPath returns the path with Chinese in it at the beginning of words, and how
// many bytes of words come before it; 0, "" if there is none. Chinese sets no
// blanks, so what forbids and its verb are taken off the front, and what is not of
// the path off its end.
func hanPath(words string) (skip int, path string) {
	n := strings.IndexFunc(words, func(r rune) bool {
		return !unicode.Is(unicode.Han, r) && !(r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/~", r)))
	})
	if n < 0 {
		n = len(words)
	}
	run := words[:n]
	if !strings.ContainsFunc(run, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return 0, ""
	}
	for again := true; again; {
		again = false
		for _, w := range beforePath {
			if rest, ok := strings.CutPrefix(run[skip:], w); ok {
				skip += len(w)
				again = rest != ""
				break
			}
		}
	}
	path = run[skip:]
	if at := strings.LastIndexByte(path, '.'); at > 0 && at+1 < len(path) { // 密钥.txt文件
		end := at + 1
		for end < len(path) && path[end] < utf8.RuneSelf && path[end] != '/' {
			end++
		}
		if end == len(path) || path[end] != '/' {
			path = path[:end]
		}
	} else if at := strings.LastIndexByte(path, '/'); at >= 0 && strings.ContainsFunc(path[at:], func(r rune) bool { return unicode.Is(unicode.Han, r) }) && contains(path[at:], []string{"目录", "下", "里", "的", "中", "不", "别"}) { // 配置/目录
		path = path[:at+1]
	}
	if !strings.ContainsFunc(path, func(r rune) bool { return unicode.Is(unicode.Han, r) }) || !strings.Contains(path, "/") && !hasExtension(path) || strings.HasPrefix(path, "/") && skip > 0 {
		return 0, ""
	}
	return skip, path
}

// beforePath are words before a path. Longer ones stand before what they begin with.
var beforePath = []string{
	"千万", "绝对", "请勿", "切勿", "不要", "不能", "不准", "不许", "不得", "不可以", "不可", "禁止", "严禁", "避免", "只能", "只准", "只许", "只", "请", "别", "勿", "先", "再", "都", "也", "不",
	"修改", "改动", "更改", "编辑", "触碰", "删除", "移除", "覆盖", "打开", "读取", "查看", "访问", "改", "动", "碰", "删", "写", "读", "看", "除了", "除", "和", "或", "与", "在", "对", "把", "将", "到", "文件",
}
