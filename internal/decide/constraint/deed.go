package constraint

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A deed is what words are about: what is done, and to what.
type deed struct {
	words       string          // but for what is allowed: in lower case, with blanks around, quotation marks and backticks undone
	verbs       map[string]bool // English ones
	target      string          // of those, what is demanded
	paths       []string        // globs
	commands    []string        // command lines between backticks, and known programs
	names       []string        // packages and symbols
	free        []string        // globs of what is spared, or allowed
	excepting   bool            // something is spared
	allowing    bool            // something is allowed
	only        bool            // all but what is named
	keeps       bool            // it is to stay what it is
	anything    bool            // any file
	specific    bool            // of a path only some part is meant
	conditional bool            // it holds in some case only
	asking      bool            // my word would allow it
	waiting     bool            // it holds until something has happened
	bare        bool            // no verb: no redis
	not         bool            // no verb, but paths: not a.go
}

// read takes words apart.
func read(words string) deed {
	d := deed{verbs: make(map[string]bool)}
	var all, target, spared, allowed string
	for _, c := range clausesOf(words) {
		if c.does != allows && c.does != others {
			all += c.words + " "
		}
		switch c.does {
		case demands:
			target += c.words
		case excepts:
			d.excepting = true
			spared += c.words + " "
		case allows:
			d.allowing = true
			allowed += c.words + " "
		case cases, instead:
			d.conditional = true
		case asks:
			d.asking = true
		case terms:
			d.waiting = true
		}
	}
	if target == "" && d.asking { // 没我同意什么都别动
		target = all
	}
	d.words, d.target = flat(all), flat(target)
	d.only = contains(d.words, onlyThat) || contains(d.words, []string{" keep ", "edits", "changes"}) && contains(d.words, []string{" within ", " inside "})
	d.keeps = contains(d.words, keeping)
	d.anything = contains(d.words, []string{" any file", " anything ", " a file ", " files ", " file ", " something ", " nothing ", "任何东西", "文件", "什么都", "啥都"}) && !contains(d.words, []string{" the ", " old ", " these ", " those ", " that file", "旧", "这些", "那些"}) ||
		strings.HasSuffix(strings.TrimRight(d.words, " "), " deleting") || strings.HasSuffix(strings.TrimRight(d.words, " "), " delete")
	d.findVerbs()
	d.free = d.globs(spared, allowed)
	d.take(target)
	d.bare = strings.HasPrefix(d.words, " no ")
	if d.only && len(d.paths) > 0 && ofTests(target) { // a.go and its tests
		d.paths = append(d.paths, testFiles...)
	}
	d.not = strings.HasPrefix(d.words, " not ") && len(d.verbs) == 0
	d.conditional = d.conditional || contains(d.words, sometimes) || !d.only && !d.excepting && beyond(d.words) || behaves(d.words) || d.ofOthers()
	return d
}

// onlyThat are words of what alone is meant.
var onlyThat = []string{" only ", " and nothing else ", " limit ", " restrict ", " confine ", " stay within ", " stay inside ", " stay in ", " exclusively ", " solely ", "只能", "只准", "只许", "只允许", "只可以", "仅限", "仅允许", "仅可", "仅能", "只在", "只改", "只动", "只修改", "只编辑", "只碰", "仅修改", "仅改"}

// sometimes are words of what holds in some case only, or is bounded in a way that
// nothing here reads.
var sometimes = []string{" more than ", " too often", " twice ", " unnecessarily", " where possible", " if possible", "如果", "尽量", "的时候", "次以上", "超过", "不在", "非 ", " beyond ", " never leave ", " not leave ", " don't leave ", " except", " excluding "}

// ofOthers reports whether the words are of what somebody else does, or of less than
// all.
func (d deed) ofOthers() bool {
	return contains(d.words, []string{" not let ", " don't let ", " dont let ", " never let "}) && !contains(d.words, []string{" let me", " let us"}) ||
		d.happened() ||
		contains(d.words, []string{" not just ", " don't just ", " dont just ", " not merely ", " don't merely ", " not only ", " don't only "})
}

// happened reports whether the words are of what nobody did.
func (d deed) happened() bool {
	for _, subject := range []string{" nobody ", " no one ", " noone "} {
		if _, rest, ok := strings.Cut(d.words, subject); ok {
			return strings.HasSuffix(firstWord(rest), "ed")
		}
	}
	return false
}

// findVerbs sets which verbs the words have.
func (d *deed) findVerbs() {
	for _, w := range strings.Fields(d.words) {
		if verb := infinitive(strings.Trim(w, ".-':")); verb != "" {
			d.verbs[verb] = true
		}
	}
	if contains(d.words, []string{" nobody ", " no one ", " noone "}) { // nobody touches
		for _, w := range strings.Fields(d.words) {
			if verb := infinitive(rootOf(w)); verb != "" && strings.HasSuffix(w, "s") {
				d.verbs[verb] = true
			}
		}
	}
	if verb := misspelled(d.words); verb != "" {
		d.verbs[verb] = true
	}
	if !contains(d.words, []string{" commit", " push", " stash", " revert", " discard", " merge", " undo"}) && contains(d.words, []string{" changes ", " edits ", " modifications "}) {
		d.verbs["change"] = true
	}
}

// globs returns those of what words name.
func (d deed) globs(all ...string) (out []string) {
	for _, words := range all {
		named := deed{verbs: map[string]bool{}, words: flat(words)}
		named.take(words)
		out = append(out, named.paths...)
	}
	return out
}

// flat returns words in lower case, with blanks around, without quotation marks,
// backticks and what ends a sentence.
func flat(words string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(words, "’", "'")), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("`\"“”,;!?()（），。；：！？、", r)
	}), " ") + " "
}

// take finds the paths, commands and names among words.
func (d *deed) take(words string) {
	for _, t := range tokens(words) {
		switch {
		case t.quoted && strings.ContainsAny(t.text, " ") && !strings.HasPrefix(t.text, "/"):
			if t.isCode() {
				d.names = append(d.names, t.text)
				break
			}
			d.commands = append(d.commands, t.text)
		case looksLikePath(t.text) || t.dir:
			if g := globOf(t.text, t.dir); g != "" {
				d.paths = append(d.paths, g)
			}
		case isProgram(t.text) && d.does(stopping):
		case isProgram(t.text) && (!d.does(adding) || d.does(running)):
			if c := t.program(); c != "" {
				d.commands = append(d.commands, c)
			}
		case t.text == "git" && !t.quoted:
			if c := t.git(); c != "" {
				d.commands = append(d.commands, c)
			}
		case t.quoted && isSymbol(t.text) && !isPlain(strings.ToLower(t.text)), !t.quoted && isPackage(t.text) && t.alone(), t.isAdded():
			d.names = append(d.names, t.text)
		}
		if t.part && !isGeneral(t.before) || t.into {
			d.specific = true
		}
	}
	if len(d.paths) == 0 && contains(d.words, []string{" the tests ", " the test files ", " test files ", " any tests ", " existing tests ", " the existing tests ", "测试文件", "测试代码", "现有的测试", "已有的测试", "修改测试 ", "改测试 ", "动测试 ", "碰测试 ", " 测试不要", " 测试别"}) && !contains(d.words, []string{" run ", " running ", " skip ", " add ", "运行", "跑", "跳过"}) && !d.only {
		d.paths = append(d.paths, testFiles...)
	}
}

// testFiles are where tests are, in the languages that have a custom.
var testFiles = []string{"**/*_test.*", "**/test_*.py", "**/*.test.*", "**/*.spec.*", "**/{test,tests,__tests__}/**", "**/*Test.java", "**/*Tests.cs"}

// whole reports whether all of what the paths name is meant.
func (d deed) whole() bool { return !d.specific }

// A class is verbs of one sort, in English and in Chinese.
type class struct {
	english string
	chinese []string
}

var (
	changing = class{"touch modify change edit alter update rewrite refactor reformat format overwrite replace adjust tweak mess fiddle write create tuch modifiy chnage edti open-and-edit", []string{"改", "动", "碰", "编辑", "写", "覆盖", "重构", "格式化"}}
	working  = class{"work use fix stay limit restrict confine keep", []string{"在", "改", "用"}}
	deleting = class{"delete remove erase wipe purge unlink trash discard delte rm", []string{"删", "移除", "清空", "清除"}}
	reading  = class{"open read look view access inspect print cat peek", []string{"打开", "读", "打印", "查看", "访问", "别看", "不要看", "不准看", "不许看"}}
	running  = class{"run execute call invoke start launch use trigger", []string{"运行", "执行", "跑", "调用", "启动", "用"}}
	stopping = class{"disable bypass skip ignore remove uninstall upgrade downgrade break suppress silence override weaken", []string{"关掉", "关闭", "禁用", "绕过", "跳过", "卸载", "升级", "忽略", "屏蔽"}} // a program, which may run all the same
	using    = class{"use import depend rely include require", []string{"用", "使用", "依赖", "导入"}}
	adding   = class{"add introduce install bring pull isntall instal", []string{"加", "引入", "安装", "增", "装"}}
)

// does reports whether the words have a verb of a class.
func (d deed) does(c class) bool {
	for _, v := range strings.Fields(c.english) {
		if d.verbs[v] {
			return true
		}
	}
	return contains(inert.Replace(d.words), c.chinese)
}

// inert are Chinese words of which a part is a verb elsewhere.
var inert = strings.NewReplacer("移动", "", "自动", "", "启动", "", "动态", "", "动作", "", "活动", "", "手动", "", "驱动", "", "滚动", "", "动画", "", "改名", "", "重命名", "")

// A token is one thing that words name.
type token struct {
	text   string
	quoted bool   // between backticks or quotation marks
	dir    bool   // called a directory
	part   bool   // only something in it is meant
	into   bool   // only something that would be written there is
	before string // the word before "in"
	verb   string // the word before
	next   string // what stands behind it
}

// tokens returns what words name: what is quoted, and every run of letters that
// is no Chinese.
func tokens(words string) (out []token) {
	var before []string               // words so far
	unclosed := make(map[string]bool) // marks that have no second one
	for i := 0; i < len(words); {
		r, size := utf8.DecodeRuneInString(words[i:])
		if end := closing(r); end != "" && r != '\'' && r != '《' {
			n := -1
			if !unclosed[end] {
				n = strings.Index(words[i+size:], end)
				unclosed[end] = n < 0
			}
			if n > 0 {
				t := token{text: words[i+size : i+size+n], quoted: true}
				i += size + n + len(end)
				t.around(before, words[i:])
				out = append(out, t)
				before = append(before, t.text)
				continue
			}
		}
		if starting(words[:i]) { // hanPath reads on to the end of a run
			if skip, p := hanPath(words[i:]); p != "" {
				t := token{text: p}
				i += skip + len(p)
				t.around(before, words[i:])
				out = append(out, t)
				before = append(before, p)
				continue
			}
		}
		if unicode.IsSpace(r) || r >= utf8.RuneSelf || strings.ContainsRune("`\"',;:!?()[]", r) {
			if r >= utf8.RuneSelf && unicode.Is(unicode.Han, r) {
				before = append(before, string(r))
			}
			i += size
			continue
		}
		n := strings.IndexFunc(words[i:], func(r rune) bool {
			return unicode.IsSpace(r) || r >= utf8.RuneSelf || strings.ContainsRune("`\",;!?()[]", r)
		})
		if n < 0 {
			n = len(words) - i
		}
		t := token{text: strings.TrimRight(words[i:i+n], ".:'")}
		i += n
		if t.text != "" {
			t.around(before, words[i:])
			out = append(out, t)
			before = append(before, strings.ToLower(t.text))
		}
	}
	return out
}

// starting reports whether a word begins behind before.
func starting(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || unicode.IsSpace(r) || strings.ContainsRune("`\"，,、：:（(", r)
}

// nearby is how much behind a token can say something of it, in bytes: without an end
// a long text would be read once for each of its words.
const nearby = 256

// around sets what the words around a token say of it.
func (t *token) around(before []string, after string) {
	if n := len(before); n > 0 {
		t.verb = before[n-1]
	}
	after = strings.TrimLeft(after, " ")
	after = after[:min(len(after), nearby)]
	t.next = after
	next, _, _ := strings.Cut(after, " ")
	next = strings.ToLower(strings.TrimRight(next, ".,;:!?"))
	t.dir = among(next, "directory", "dir", "folder", "tree", "subtree") || startsAny(after, []string{"目录", "文件夹"}) || startsAny(after, []string{"下面", "下的", "里的", "里面", "底下"}) && !hasExtension(t.text) && isDirectoryName(t.text)
	if n := len(before); n > 1 && among(before[n-1], "in", "inside", "of") {
		t.part, t.before = !strings.HasSuffix(t.text, "/") && !t.dir && hasExtension(t.text), before[n-2]
	}
	t.into = written(before, after)
	for _, of := range []string{"里的", "中的", "里面的", "上的", "的"} {
		if rest, ok := strings.CutPrefix(after, of); ok && hasExtension(t.text) {
			t.part = t.part || !startsAny(strings.TrimLeft(rest, " "), []string{"任何", "东西", "代码", "内容", "所有", "文件", "改动", "修改", "前提", "情况", "同时"})
			break
		}
	}
	if n := len(before); n > 1 && among(before[n-1], "in", "under", "inside", "within", "below") && isGeneral(before[n-2]) && isDirectoryName(t.text) {
		t.dir = true
	}
}

// written reports whether words say of something that it is not to be written to the
// place that stands between them, of which other things may be: never write secrets to
// logs/.
func written(before []string, after string) bool {
	n := len(before)
	if n > 2 && among(before[n-1], "to", "into", "in", "inside", "under") && !isGeneral(before[n-2]) && !isPlainWord(before[n-2]) && infinitive(before[n-2]) == "" {
		return slices.ContainsFunc(before[:n-2], func(w string) bool {
			return among(infinitive(w), "write", "save", "store", "dump", "log", "print", "copy", "put", "send", "leak") || w == "put"
		})
	}
	words := strings.Join(before[max(0, n-20):], "")
	what, ok := "", false
	if at := max(strings.LastIndex(words, "把"), strings.LastIndex(words, "将")); at >= 0 && endsAny(words, []string{"到", "进", "入", "在"}) {
		what, ok = words[at:], true
	} else if endsAny(words, []string{"往", "向"}) {
		what = strings.TrimLeft(after, " 里面中下")
		ok = startsAny(what, []string{"写", "存", "放", "打印", "输出"})
	}
	return ok && !contains(what, []string{"文件", "东西", "任何", "代码", "内容", "改动", "什么"}) && utf8.RuneCountInString(what) > 2
}

// program returns the command that a program by its bare name is meant in, "" if it
// may be a word of English, or too little of the command is known.
func (t token) program() string {
	if t.elsewhere() {
		return ""
	}
	if next, _, _ := strings.Cut(t.next, " "); among(strings.Trim(next, ".,;:!?"), "packages", "package", "keys", "key", "images", "image", "containers", "modules", "config", "configs", "configuration", "settings", "setup", "dependencies", "tables", "credentials", "version", "versions", "rules") {
		return "" // a thing of it, and not the program
	}
	if isAmbiguous(t.text) && !among(t.verb, "run", "running", "execute", "executing", "call", "calling", "invoke", "行", "跑", "用") {
		return ""
	}
	fields := strings.FieldsFunc(t.next, unicode.IsSpace)
	if len(fields) == 0 || t.next[0] >= utf8.RuneSelf || strings.ContainsRune(",.;:)!", rune(t.next[0])) || among(fields[0], "or", "and", "anything", "any", "everything", "here", "for", "to", "on", "in", "at", "from", "until", "because", "at", "yet", "again", "unless", "without", "anywhere", "commands", "nor", "directly", "please", "there", "while", "as", "if", "when") {
		if isAmbiguous(t.text) {
			return ""
		}
		return t.text
	}
	argument := strings.Trim(fields[0], ".,;:!?)")
	if len(fields) > 1 && fields[1][0] < utf8.RuneSelf && !among(fields[1], "or", "and", "here", "on", "in", "at", "from", "until", "because", "yet", "again", "unless", "without", "while", "for") {
		return "" // words that may be of the command, or not
	}
	if strings.Trim(argument, "abcdefghijklmnopqrstuvwxyz-:_./") != "" {
		return ""
	}
	return t.text + " " + argument
}

// elsewhere reports whether a program is only meant in something that is written:
// no curl in the Dockerfile.
func (t token) elsewhere() bool {
	fields := strings.Fields(strings.ToLower(t.next))
	return len(fields) > 1 && among(fields[0], "in", "inside", "within") && !among(strings.Trim(fields[1], ".,;:!?"), "this", "here", "any", "general", "my", "our") ||
		len(fields) > 1 && fields[0] == "for" && !among(strings.Trim(fields[1], ".,;:!?"), "this", "that", "it", "now", "anything", "any", "these")
}

// isDirectoryName reports whether a word behind "anything in" can only be a
// directory.
func isDirectoryName(s string) bool {
	return len(s) > 1 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" && !isPlainWord(s) && !isPlain(s) &&
		!among(s, "production", "prod", "staging", "git", "tests", "general", "particular", "parallel", "place", "advance", "memory", "case", "order")
}

// everything reports whether the words are of all that can be done.
func (d deed) everything() bool {
	return contains(d.words, []string{" do anything ", " do nothing ", " doing anything ", " any action", " take action", " make any move", "什么都", "什么也", "任何事", "任何操作", "任何动作", "做任何", "一切操作"})
}

// allFiles reports whether what is done is done to any file.
func (d deed) allFiles() bool {
	return contains(d.words, []string{" anything ", " nothing ", " any file", " any code", " the code ", " code ", "任何文件", "任何东西", "任何代码", "代码", "什么都"})
}

// passing reports whether the words hold for a while only.
func (d deed) passing() bool {
	return d.waiting || contains(d.words, []string{" yet ", " for now ", " until ", " for the time being ", "先别", "先不", "先勿", "暂时", "暂不", "直到"})
}

// isAmbiguous knows the programs that are words of English too.
func isAmbiguous(word string) bool {
	switch word {
	case "make", "black", "fly", "goose":
		return true
	}
	return false
}

// isGeneral knows the words before "in" that mean all of it.
func isGeneral(word string) bool {
	switch word {
	case "anything", "everything", "nothing", "file", "files", "code", "something", "stuff", "line", "lines", "content", "contents",
		"all", "any", "things", "thing", "changes", "change", "edits", "api", "part", "parts", "out", "off":
		return true
	}
	return false
}
