package constraint

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// chinese returns the constraints in a sentence that its Chinese words make. Each
// is a whole clause: what it is about may stand before or behind what forbids it.
func chinese(s sentence) (found []span) {
	if !strings.ContainsAny(s.text, signs) && !contains(s.text, []string{"一定要", "一律", "都要", "请示", "说一声", "用英文", "用中文"}) {
		return nil
	}
	if questions(s) {
		return nil
	}
	pieces := cutChinese(s.text)
	wondered, puzzled := -1, false // the last clause that asks, and whether one has nothing but a question
	for i, p := range pieces {
		if piece := s.text[p.start:p.end]; wonders(piece) {
			wondered, puzzled = i, puzzled || !contains(piece, looking)
		}
	}
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		text := s.text[p.start:p.end]
		if reported(s.text[:p.start]) || conditional(pieces[:i], s.text) || wonders(text) || i > 0 && builds(s.text[pieces[i-1].start:pieces[i-1].end]) && contains(text, []string{"时不", "后不", "时禁", "后禁", "时候不"}) || (puzzled || i < wondered) && !contains(text, strong) {
			continue
		}
		if asksChinese(text) {
			found = append(found, span{s.start + p.start, s.start + p.end, Ask})
			continue
		}
		if i+1 < len(pieces) && beforehand(text) { // before files are deleted, ask me
			next := s.text[pieces[i+1].start:pieces[i+1].end]
			if contains(next, askMe) && !asksOthers(next) {
				found = append(found, span{s.start + p.start, s.start + pieces[i+1].end, Ask})
				i++
				continue
			}
		}
		if i+1 < len(pieces) && startsAny(text, unasked) && !strings.ContainsAny(text, "再才") { // without my word, nothing is merged
			next := s.text[pieces[i+1].start:pieces[i+1].end]
			if contains(next, strong) || contains(next, weak) {
				found = append(found, span{s.start + p.start, s.start + pieces[i+1].end, Ask})
				i++
				continue
			}
		}
		if i+1 < len(pieces) && startsAny(s.text[pieces[i+1].start:pieces[i+1].end], failing) && contains(text, weak) {
			continue // it cannot be done, as they say
		}
		if kind, ok := bindsChinese(text); ok && i+1 < len(pieces) && sparesChinese(s.text[pieces[i+1].start:pieces[i+1].end]) && !namesPath(text) {
			found = append(found, span{s.start + p.start, s.start + pieces[i+1].end, kind}) // nothing may change, but for a.go
			i++
			continue
		}
		if kind, ok := bindsChinese(text); ok && i > 0 && sparesChinese(s.text[pieces[i-1].start:pieces[i-1].end]) && !namesPath(text) {
			found = append(found, span{s.start + pieces[i-1].start, s.start + p.end, kind}) // but for a.go, nothing may change
			continue
		}
		if kind, ok := bindsChinese(text); ok && !(startsAny(text, weak) && cannot(pieces[:i], s.text, text)) && !(goesOn(text) && specified(pieces[:i], s.text)) {
			found = append(found, span{s.start + p.start, s.start + p.end, kind})
		}
	}
	return found
}

// signs are characters of which every constraint has one; most sentences have
// none.
const signs = "不别勿禁杜只仅避停必务始保维未没擅私我先全统都限控"

// heads are the first characters of what forbids.
const heads = "不请切严禁杜别勿绝永"

// failing are the beginnings of clauses that tell what goes wrong.
var failing = []string{"会报", "报错", "报了", "提示", "怎么", "为什么", "权限", "失败", "咋", "因为没有权限"}

// sparesChinese reports whether a clause only says what is not meant by the one
// beside it.
func sparesChinese(text string) bool {
	return (butFor(text) == 0 || contains(text, []string{"除外", "例外"})) && namesPath(text)
}

// questions reports whether a sentence asks rather than says. A polite request is
// none.
func questions(s sentence) bool {
	if contains(s.text, []string{"能不能不要", "能不能别", "可以不要", "可以别", "能否不要", "能否别", "可不可以不要", "可不可以别", "能不能先别", "能不能先不要", "麻烦"}) {
		return false
	}
	text := strings.TrimRight(s.text, " \t.!?。！？~")
	return s.asks || strings.HasSuffix(text, "吗") || strings.HasSuffix(text, "呢")
}

// wonders reports whether a clause asks something.
func wonders(text string) bool {
	for _, a := range anyhow {
		text = strings.ReplaceAll(text, a, "")
	}
	return contains(text, []string{"为什么", "为啥", "为何", "怎么", "咋", "是不是", "要不要", "会不会", "是否", "什么意思", "能不能", "可不可以", "难道", "有没有", "该不该", "如何", "叫什么", "是什么"})
}

// looking are words that make a question something to find out, which the rest of
// the sentence need not be about: 看看怎么回事，但是别改测试.
var looking = []string{"看", "查", "分析", "排查", "找", "定位", "解释", "研究", "弄清", "搞清", "想想", "说说", "讲讲", "告诉我", "确认", "调研", "评估", "帮我", "帮忙", "先"}

// anyhow are words that look like a question and say: in any case.
var anyhow = []string{"无论如何", "随你怎么", "不管怎么", "无论怎么", "怎么都", "不论如何", "不管怎样", "怎么改都"}

func contains(text string, any []string) bool {
	for _, a := range any {
		if strings.Contains(text, a) {
			return true
		}
	}
	return false
}

type piece struct{ start, end int }

// leadsChinese may stand before what a clause says.
var leadsChinese = []string{
	"但是", "但", "不过", "另外", "而且", "并且", "同时", "然后", "还有", "所以", "因此", "此外", "再说一遍", "再次强调", "再说一次", "我说过", "我说了", "记住", "注意", "切记", "最后", "首先", "其次", "以及",
	"且", "而", "和", "还", "就", "那", "那么", "好的", "好", "嗯", "重要", "规则", "约束", "要求", "提醒", "麻烦你", "麻烦", "拜托", "拜托你", "请你", "对了", "顺便", "顺便说一下", "总之", "不管怎样", "先说好", "强调一下", "说明一下", "提醒一下", "记得",
	"but", "and", "also", "please", "btw", "plz",
}

// cutChinese cuts a sentence into clauses, without what only leads up to them.
func cutChinese(text string) (out []piece) {
	start := 0
	add := func(end int) {
		p := piece{start, end}
		for again := true; again; {
			again = false
			rest := text[p.start:p.end]
			if trimmed := strings.TrimLeft(rest, " \t-*•>#0123456789.、)）"+string(rune(blank))); len(trimmed) < len(rest) {
				p.start, again = p.end-len(trimmed), true
				continue
			}
			for _, l := range leadsChinese {
				if len(rest) > len(l) && strings.EqualFold(rest[:len(l)], l) {
					p.start, again = p.start+len(l), true
					break
				}
			}
		}
		for p.end > p.start && strings.ContainsRune(" \t.!?~", rune(text[p.end-1])) {
			p.end--
		}
		if p.end > p.start {
			out = append(out, p)
		}
	}
	for i, r := range text {
		switch r {
		case '，', '：', '（', '）', '—', '…', '～':
			add(i)
			start = i + utf8.RuneLen(r)
		case ',', ':', '(', ')':
			if r == ':' && i+1 < len(text) && text[i+1] > ' ' && text[i+1] < utf8.RuneSelf {
				continue // as in db:migrate
			}
			add(i)
			start = i + 1
		}
	}
	add(len(text))
	return out
}

// reported reports whether somebody else's words follow.
func reported(before string) bool {
	if contains(before, []string{"我说", "我没", "没我", "我要求", "我强调", "跟你说", "告诉你"}) {
		return false
	}
	if contains(before, reporting) {
		return true
	}
	for _, w := range shown {
		if at := strings.Index(before, w); at >= 0 {
			rest := before[at+len(w):]
			if startsAny(rest, []string{"里的", "中的", "上的", "的"}) {
				continue
			}
			if strings.TrimSpace(rest) == "" || startsAny(rest, []string{"里", "中", "上", "是", "为", "要求", "：", ":", "“", string(rune(blank))}) {
				return true
			}
		}
	}
	return false
}

// reporting are words for what somebody says; shown are things that show words, if
// what they show follows.
var (
	reporting = []string{"说", "告诉我", "让我", "叫我", "写着", "写了", "写道", "写上", "写明", "加上一句", "加一句", "加一条", "加一行", "提示", "建议", "规范里", "错误信息", "内容是", "内容为", "这句话", "这段话", "下面这句", "下面这段"}
	shown     = []string{"文档", "注释", "警告", "标题", "报错"}
)

// conditional reports whether a clause is about what a program does in some case.
func conditional(before []piece, text string) bool {
	for _, p := range before {
		b := text[p.start:p.end]
		for _, w := range []string{"如果", "假如", "要是", "一旦", "当", "若"} {
			_, rest, ok := strings.Cut(b, w)
			if ok && contains(rest, products) && !startsAny(rest, []string{"要", "需要", "你", "想", "我", "必须", "非", "有必要", "得", "打算", "准备", "必要"}) && (startsAny(rest, products) || !startsAny(rest, done)) {
				return true
			}
		}
		if strings.HasSuffix(b, "时") && contains(b, products) { // 输入为负数时
			return true
		}
	}
	return false
}

// goesOn reports whether a clause has no subject of its own, and a word that may
// as well say what a program does.
func goesOn(text string) bool { return startsAny(text, must) || startsAny(text, weak) }

// builds reports whether a clause asks for a part of the program.
func builds(text string) bool {
	return startsAny(text, []string{"加", "写", "实现", "做", "新增", "添加", "增加"}) && strings.Contains(text, "个")
}

// cannot reports whether a clause says what does not work, after one that says so.
func cannot(before []piece, text, clause string) bool {
	if !strings.HasPrefix(clause, "不能") || !contains(clause, []string{"连接", "访问", "登录", "打开", "下载", "上传", "启动", "安装", "联网", "运行", "执行", "加载", "推送"}) {
		return false
	}
	for _, p := range before {
		if contains(text[p.start:p.end], []string{"不起来", "起不来", "报错", "挂了", "失败", "崩", "超时", "坏了", "出错", "卡住", "不过"}) {
			return true
		}
	}
	return false
}

// specified reports whether what came before says how a program is to behave.
func specified(before []piece, text string) bool {
	for _, p := range before {
		b := text[p.start:p.end]
		if contains(b, products) && (contains(b, weak) || contains(b, must)) {
			return true
		}
	}
	return false
}

// products are who a program's behaviour is said of.
var products = []string{
	"用户", "客户", "游客", "访客", "管理员", "会员", "函数", "方法", "指针", "协程", "线程", "变量", "参数", "返回值", "字段", "按钮", "页面", "对话框", "弹窗",
	"服务器", "服务端", "客户端", "浏览器", "程序", "它", "他", "她", "请求", "响应", "订单", "密码", "系统", "进程", "迭代器", "解析器", "编译器", "路由", "缓存未", "输入", "输出", "值", "数值", "长度", "索引", "玩家", "账号", "手机号", "邮箱", "验证码",
}

// others are who is asked, where it is not me.
var others = []string{"用户", "客户", "游客", "对话框", "弹窗", "管理员", "玩家", "让用户"}

// Forbidding words. The strong ones only forbid; the weak ones also say what
// cannot be, and need something that can be done.
var (
	strong = []string{"不要", "请勿", "切勿", "严禁", "禁止", "不准", "不许", "杜绝", "别", "勿", "不希望你", "不想让你", "不想你", "请不"}
	weak   = []string{"不能", "不得", "不允许", "不可以", "不可", "不应该", "不应", "绝不", "永不", "不该", "不改动", "不改变", "不修改", "不动", "不碰", "不引入", "不添加", "不新增", "不使用"}
	only   = []string{"只能", "只准", "只许", "只允许", "只可以", "仅限", "仅允许", "仅能", "仅可", "只可", "仅修改", "只改", "只动", "只修改", "只编辑", "只碰", "仅改"}
	must   = []string{"必须", "务必", "一定要", "一律", "都要", "始终"}
)

// done are the verbs of what can be done to a workspace.
var done = []string{
	"改", "动", "碰", "删", "用", "使用", "采用", "提交", "推送", "推到", "修改", "删除", "运行", "执行", "跑", "调用", "安装", "引入", "添加", "加", "增加", "新增", "重命名", "改名", "重启", "升级", "降级", "更新",
	"部署", "发布", "上线", "合并", "切换", "切到", "创建", "新建", "写", "读", "打开", "访问", "联网", "上网", "连接", "下载", "上传", "移动", "覆盖", "替换", "破坏", "影响", "损坏", "丢失", "改变", "变更", "编辑", "重写", "重构", "格式化",
	"启动", "启用", "开启", "卸载", "迁移", "拷贝", "调整", "优化", "简化", "合入", "压缩", "转换", "拆分", "抽取", "补", "改写", "篡改", "增删", "新开", "开分支", "打标签", "打 tag", "打tag", "写死", "伪造", "编造", "猜", "假设", "查询", "只读", "降低", "放宽", "屏蔽", "吞掉", "外传", "外发", "分享", "公开", "抓取", "爬", "登录线上", "登录生产", "连线上", "连生产", "连正式", "连库",
	"清空", "清理", "泄露", "硬编码", "跳过", "关闭", "关掉", "停止", "停掉", "停用", "停服", "停机", "杀", "终止", "中断", "取消", "移除", "去掉", "拆", "依赖", "导入", "绕过", "禁用", "注释掉", "忽略", "暴露", "打印", "生成", "复制", "回滚", "重置", "变基", "发送", "请求外", "装", "查看", "看",
	"commit", "push", "merge", "rebase", "touch", "force", "sudo", "run", "edit", "delete", "deploy", "install", "reset", "stash", "amend", "import", "mock", "publish", "drop", "add", "rm", "git", "npm", "pip", "change", "modify", "update", "rename", "refactor", "break",
}

// harmless are words behind 别 or 不要 that calm or remind.
var harmless = []string{
	"担心", "忘", "急", "着急", "客气", "怕", "停下", "停", "误会", "紧张", "介意", "想太多", "多想", "闹", "慌", "在意", "生气", "理会", "理它", "管它", "管了", "难过", "谢", "笑", "灰心", "放弃", "见怪", "太", "紧", "了", "再等", "等我", "钱", "脸", "犹豫",
}

// besides are characters that make another word of 别.
const (
	besideBefore = "区级特类识分辨判性个差鉴告另各派道离送"
	besideAfter  = "人的处名墅致扭管样具说急怕忘慌停"
)

// namesPath reports whether words name a file or a directory.
func namesPath(text string) bool {
	for _, t := range tokens(text) {
		if looksLikePath(t.text) || t.dir {
			return true
		}
	}
	return false
}

// bindsChinese reports whether a clause forbids or requires.
func bindsChinese(text string) (Kind, bool) {
	if preferred(text) {
		return Require, true
	}
	if at := strings.Index(text, "只在"); at >= 0 && bySubject(text[:at]) && namesPath(text[at:]) && !strings.Contains(text, "了") && contains(text[at:], []string{"改", "工作", "动", "写", "编辑"}) {
		return Forbid, true
	}
	for _, m := range only {
		if at := strings.Index(text, m); at >= 0 {
			before, after := text[:at], text[at+len(m):]
			if !bySubject(before) {
				return "", false
			}
			if strings.HasPrefix(m, "只") && utf8.RuneCountInString(m) > 2 || strings.HasSuffix(m, "能") || strings.HasSuffix(m, "准") || strings.HasSuffix(m, "许") || strings.HasSuffix(m, "限") || strings.HasSuffix(m, "可") {
				if startsAny(after, []string{"用", "使用"}) {
					return Require, true
				}
				return Forbid, startsAny(after, append(done, "在", "限", "对", "针对", "于")) || strings.ContainsFunc(after, latin)
			}
			return Forbid, strings.ContainsFunc(after, latin) && !strings.HasPrefix(after, "了")
		}
	}
	if kind, ok := forbidsChinese(text); ok {
		return kind, true
	}
	return requiresChinese(text)
}

// atTimes reports whether a clause says when something is, as in: when it cannot
// connect, try again.
func atTimes(text string) bool {
	text = strings.NewReplacer("同时", "", "及时", "", "实时", "", "时间", "", "按时", "", "临时", "", "随时", "", "暂时", "", "小时", "", "定时", "", "时刻", "").Replace(text)
	return strings.Contains(text, "时")
}

func forbidsChinese(text string) (Kind, bool) {
	if before, rest, ok := strings.Cut(text, "能不"); ok && (before == "" || before == "尽量" || before == "请") && contains(rest, []string{"就不", "就别"}) {
		return Forbid, startsAny(rest, done)
	}
	for i, r := range text {
		if !strings.ContainsRune(heads, r) {
			continue
		}
		rest := text[i:]
		if m := prefix(rest, strong); m != "" {
			if forbidsStrongly(text[:i], m, rest[len(m):]) {
				return Forbid, true
			}
			continue
		}
		if m := prefix(rest, weak); m != "" {
			before, after := text[:i], trimAdverbs(rest[len(m):])
			if _, deed, ok := strings.Cut(after, "情况下"); ok {
				after = trimAdverbs(deed)
			}
			verb := utf8.RuneCountInString(m) > 1 && (strings.HasSuffix(m, "动") || strings.HasSuffix(m, "碰") || strings.HasSuffix(m, "变") || strings.HasSuffix(m, "改") || strings.HasSuffix(m, "入") || strings.HasSuffix(m, "加") || strings.HasSuffix(m, "增") || strings.HasSuffix(m, "用") && strings.HasSuffix(m, "使用"))
			switch {
			case verb:
				return Forbid, before == "" || contains(before, []string{"在", "请", "要", "先", "都", "一律", "代码", "接口", "保证", "确保", "前提"}) && !contains(before, products)
			case actsOfProduct(after), atTimes(after):
			case bySubject(before) && (startsAny(after, done) || startsCode(after)) || topic(before) && ends(after) || contains(before, []string{"代码", "日志", "提交", "注释", "文件"}) && topic(before) && startsAny(after, []string{"出现", "包含", "含有", "带"}):
				return Forbid, !contains(after, []string{"为空", "为 nil"})
			}
		}
	}
	for _, sure := range []string{"前提是不", "保证不", "确保不"} {
		if before, rest, ok := strings.Cut(text, sure); ok && !contains(before, products) {
			return Forbid, startsAny(rest, done)
		}
	}
	if deny := strings.TrimPrefix(text, "不"); deny != text && startsAny(deny, done) && strings.Contains(text, "、不") {
		return Forbid, true
	}
	if deny, ok := strings.CutSuffix(text, "不行"); ok && deny != "" {
		return Forbid, startsAny(deny, []string{"改", "动", "删", "碰", "提交", "推送", "加", "重构", "用", "装", "上线"})
	}
	if contains(text, []string{"只看不改", "只读不写", "只读不改", "只看不动"}) {
		return Forbid, true
	}
	if before, rest, ok := strings.Cut(text, "只在"); ok && madeUpOf(before, []string{"请", "你", "这次", "先"}) {
		return Forbid, contains(rest, []string{"操作", "改", "工作", "开发", "提交", "动手"}) && !contains(rest, products)
	}
	if bounded(text) {
		return Forbid, true
	}
	if before, rest, ok := strings.Cut(text, "避免"); ok {
		return Forbid, rest != "" && !contains(rest, []string{"空指针", "死锁", "崩溃", "报错", "渲染", "泄漏", "溢出", "越界", "卡顿", "竞态", "竞争", "冲突", "异常", "误", "bug", "超时", "闪烁", "抖动", "重复"}) && madeUpOf(before, []string{"请", "你", "要", "应", "应该", "尽量", "尽可能", "务必", "一定", "最好", "需要", "也", "都", "同时", "必须", "还要", "注意", "改的时候", "的时候"})
	}
	if rest, ok := strings.CutPrefix(text, "停止"); ok {
		return Forbid, startsAny(rest, done)
	}
	return "", false
}

// bounded reports whether a clause says how far the work may go: 改动控制在一个文件以内.
func bounded(text string) bool {
	for _, w := range []string{"控制在", "限制在", "限定在", "局限在", "局限于", "限于"} {
		if before, after, ok := strings.Cut(text, w); ok && after != "" {
			return contains(before, []string{"改动", "修改", "变更", "diff", "范围", "重构", "编辑"})
		}
	}
	return false
}

// forbidsStrongly reports whether a strong word forbids, by what is around it.
func forbidsStrongly(before, m, after string) bool {
	after = trimAdverbs(after)
	if after == "" || startsAny(after, harmless) && !startsAny(after, done) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	switch {
	case m == "别" && (strings.ContainsRune(besideBefore, last) || strings.ContainsRune(besideAfter, first) && !startsAny(after, done)):
		return false
	case m == "别" && first == '提' && !strings.HasPrefix(after, "提交"):
		return false
	case strings.HasPrefix(after, "的") || actsOfProduct(after):
		return false
	case m == "不要" && last == '要':
		return false
	case contains(after, []string{"没生效", "不生效", "失效"}), contains(before, []string{"让"}) && contains(before, products):
		return false
	case m == "勿" && !startsAny(after, done):
		return false
	case m == "请不" && !startsAny(after, done):
		return false
	case m == "禁止" && (endsAny(before, "后", "时", "期间") && !startsAny(before, done)) || m == "禁止" && startsAny(after, []string{"词", "列表", "名单", "页", "标", "符"}):
		return false
	case m == "禁止" && contains(before, []string{"加", "添加", "实现", "增加", "写", "做", "设计", "被", "取消", "解除", "去掉", "移除", "删掉", "删除", "改掉", "打开", "放开", "关掉", "换掉"}):
		return false
	}
	if contains(before, []string{"不再", "取消", "解除", "我不", "他不", "她不"}) || strings.HasSuffix(before, "我") && m != "不希望你" && m != "不想让你" && m != "不想你" {
		return false
	}
	if reported(before) || contains(before, []string{"把", "翻译", "解释", "找出", "列出", "显示"}) && !contains(before, []string{"把关"}) {
		return false
	}
	if contains(before, products) && (endsAny(before, "后", "时", "时候", "前") || startsAny(after, []string{"超过", "大于", "小于", "低于", "重复"})) {
		return false
	}
	if topic(before) || names(before) {
		return true
	}
	return !contains(before, []string{"用户", "客户端", "游客", "他们", "让它", "函数", "协程"}) && !(contains(before, []string{"如果", "若"}) && contains(before, products))
}

// actsOfProduct reports whether it is a program or who uses it that must not do
// something.
func actsOfProduct(after string) bool {
	after = strings.TrimPrefix(after, "让")
	if startsAny(after, []string{"显示", "展示", "跳转", "渲染", "重试"}) {
		return true
	}
	if startsAny(after, []string{"输出", "请求"}) {
		return false
	}
	return startsAny(after, products) && !startsAny(after, []string{"变量名", "函数名", "方法名", "参数名", "字段名", "函数签名", "方法签名", "用户数据", "用户信息", "客户数据", "客户信息", "系统文件", "系统目录", "系统配置"}) || startsAny(after, []string{"抛", "返回", "报错", "崩溃", "阻塞", "弹"})
}

// madeUpOf reports whether nothing but any of some words is in a text.
func madeUpOf(text string, any []string) bool {
	for text = strings.TrimSpace(text); text != ""; {
		longest := ""
		for _, a := range any {
			if strings.HasPrefix(text, a) && len(a) > len(longest) {
				longest = a
			}
		}
		if longest == "" {
			return false
		}
		text = strings.TrimSpace(text[len(longest):])
	}
	return true
}

// bySubject reports whether what stands before a weak word lets it be for us: who
// works, or what it is done to.
func bySubject(before string) bool {
	before = strings.TrimRight(before, " \t")
	if before == "" || startsCode(before) && !strings.ContainsFunc(before, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return true
	}
	if startsAny(before, []string{"以前", "之前的", "原来", "原先", "旧版", "老版", "上个版本", "过去", "当时"}) {
		return false
	}
	if contains(before, products) && !names(before) || contains(before, reporting) || contains(before, []string{"因为", "由于", "所以", "结果", "导致", "发现", "现在", "有时", "总是", "一直"}) {
		return false
	}
	return startsAny(before, []string{"你", "我们", "绝对", "绝", "也", "都", "一律", "千万", "永远", "任何", "这次", "这里", "请", "并", "所有", "除", "在", "本次", "改动", "修改", "任务", "此", "暂时", "先", "测试"}) ||
		topic(before)
}

// names reports whether what stands before is about code as it is written, though
// it has a word for what runs.
func names(before string) bool {
	return contains(before, []string{"变量名", "函数名", "方法名", "参数名", "字段名", "类名", "命名", "函数签名", "方法签名", "用户数据", "用户信息", "客户数据", "客户信息", "系统文件", "系统目录", "全局变量", "环境变量"})
}

// topic reports whether what stands before is a thing of the workspace, which
// something must not be done to.
func topic(before string) bool {
	if contains(before, []string{"用户", "客户", "游客", "玩家", "管理员", "会员", "访客", "账号", "按钮", "指针", "变量", "它", "他", "参数", "值"}) {
		return false
	}
	return contains(before, []string{"目录", "文件", "代码", "接口", "测试", "签名", "表", "数据库", "配置", "分支", "里", "里面", "东西", "下面", "下", "数据", "仓库", "依赖", "格式", "协议", "模块", "脚本", "行为", "前端", "后端", "逻辑", "版本", "一个都", "一行都", "API", "api", "部分", "结构", "命名", "路径", "布局", "样式", "文案", "目录", "日志", "注释", "文档", "缓存", "端口", "密钥", "证书", "索引", "锁", "环境", "流水线", "镜像", "任务", "服务", "插件", "包", "库", "类型", "常量", "兼容"}) ||
		strings.ContainsFunc(before, func(r rune) bool { return r == '/' || r == rune(code) })
}

// ends reports whether a verb is all that follows.
func ends(after string) bool {
	return utf8.RuneCountInString(strings.TrimSpace(after)) <= 3 && (startsAny(after, done) || startsAny(after, []string{"变", "丢", "少"}))
}

// trimAdverbs takes off what may stand between a forbidding word and its verb.
func trimAdverbs(text string) string {
	for again := true; again; {
		again = false
		text = strings.TrimLeft(text, " \t")
		for _, a := range []string{"急着", "一上来就", "再", "去", "随便", "随意", "擅自", "私自", "直接", "自己", "自行", "手动", "轻易", "乱", "给我", "主动", "自动", "你", "先", "对", "把", "在", "往", "向", "从", "将", "同时", "偷偷", "帮我", "额外", "顺手", "顺便", "提前"} {
			if rest, ok := strings.CutPrefix(text, a); ok && rest != "" {
				text, again = rest, true
				break
			}
		}
	}
	return text
}

func startsAny(text string, any []string) bool {
	text = strings.TrimLeft(text, " \t")
	return prefix(strings.ToLower(text), any) != "" || prefix(text, any) != ""
}

func prefix(text string, any []string) string {
	for _, a := range any {
		if strings.HasPrefix(text, a) {
			return a
		}
	}
	return ""
}

func startsCode(text string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, " \t"))
	return r == rune(code) || latin(r)
}

func latin(r rune) bool {
	return r == rune(code) || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '/' || r == '.')
}
