package constraint

import (
	"strings"
	"unicode/utf8"
)

// A clause is a piece of what somebody says that does one thing.
type clause struct {
	words string
	does  role
}

// A role is what a clause does for those beside it.
type role int

const (
	demands role = iota // it says what is to be, or what is not
	excepts             // it names what those are not of
	allows              // it names what may be done
	cases               // it says in which case they hold
	terms               // it says for how long
	asks                // it says that my word would allow it
	reasons             // it says why
	instead             // it names what another thing takes the place of
	others              // it is a task, or of what those beside it are not of
)

// openings are the words that a clause of a role begins with: what stands first is
// looked for first.
var openings = []struct {
	does  role
	words []string
}{
	{asks, []string{"unless i ", "unless i'", "unless you ask", "until i ", "till i ", "without my ", "without asking", "除非我", "没有我", "没我", "未经我", "不经我", "没经我", "没经过我", "我不点头", "我没点头", "我不同意", "我没同意"}},
	{reasons, []string{"because ", "since ", "so that ", "while you", "while i ", "while we ", "因为"}},
	{cases, []string{"while ", "with failing ", "with red ", "with broken ", "unless ", "if ", "when ", "whenever ", "as long as ", "only if ", "only when ", "without ", "除非", "如果", "要是", "若", "当"}},
	{terms, []string{"until ", "直到"}},
	{instead, []string{"instead of ", "rather than ", "而不是"}},
	{excepts, []string{"except", "exception:", "exceptions:", "apart from ", "aside from ", "besides ", "other than ", "outside of ", "outside ", "save ", "with the exception", "but for "}},
}

// roleOf returns what words do by their beginning or their end.
func roleOf(words string) role {
	for _, o := range openings {
		if startsAny(words, o.words) && !startsAny(words, []string{"若干", "当前", "当然", "since when"}) {
			return o.does
		}
	}
	switch end := strings.TrimRight(words, " ，。.,;；)）"); {
	case endsAny(end, []string{"的时候", "的话", "时", "不通过", "没通过", "未通过", "没过", "没全绿", "没绿", "不绿", "没跑完"}):
		return cases
	case endsAny(end, []string{"之前", "以前"}):
		return terms
	case butFor(words) == 0, endsAny(end, []string{"除外", "例外", "以外", "之外"}):
		return excepts
	case grants(words):
		return allows
	}
	return demands
}

// lifting is what says that my word would allow it.
var lifting = []string{" unless i ", " until i ", " till i ", " without my ", " without asking", "没有我", "没我", "未经我", "不经我", "没经我", "没经过我", "我不点头", "我没点头", "我不同意", "我没同意", "我同意", "我确认", "我批准", "我点头"}

// clausesOf cuts words into clauses. Together they are the words, but for those that
// tie an exception to what it is of.
func clausesOf(words string) (all []clause) {
	said := "" // what was demanded so far
	add := func(words string, does role) {
		if words != "" {
			all = append(all, clause{words, does})
		}
		if does == demands {
			said += words
		}
	}
	for _, part := range parts(words) {
		if spared, from, ok := exception(part); ok {
			add(from, demands)
			add(spared, excepts)
			continue
		}
		does := roleOf(part)
		_, places, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch {
		case does == cases && startsAny(part, []string{"without "}) && !negative(said):
			does = demands
		case does != demands || said == "":
		case startsAny(part, []string{"only ", "just "}) && onlyPlaces(places),
			startsAny(part, []string{"but ", "but: ", "但", "不过", "而是"}) && !restrains(part):
			does = allows
		}
		if (startsAny(part, []string{"but "}) || restrains(part) && imperative(firstWord(said))) && restrains(part) && does == demands && !restrains(said) && namesPlace(said) {
			for i := range all { // src/, but leave vendor/
				all[i].does = others
			}
			said = ""
		}
		add(part, does)
	}
	return all
}

// restrains reports whether words forbid something, or keep it as it is.
func restrains(words string) bool { return negative(words) || contains(flat(words), keeping) }

func firstWord(words string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(strings.ToLower(words)), " ")
	return word
}

// parts cuts words behind marks, and before words that begin a clause. Together they
// are the words.
func parts(words string) (all []string) {
	from := 0
	for at, r := range words {
		end := -1
		switch r {
		case ',', '.', ';', ':':
			if at+1 < len(words) && words[at+1] <= ' ' && !lists(words[at+1:]) && (r != ':' || roleOf(words[from:at+1]) != excepts) {
				end = at + 1
			}
		case ' ':
			rest := words[at+1:]
			if startsAny(rest, []string{"— ", "– ", "- ", "("}) || startsAny(rest, []string{"but "}) && !besides(words[from:at]) || opens(rest) {
				end = at + 1
			}
		case '\n':
			if !lists(words[at:]) {
				end = at + 1
			}
		case '，', '；', '。', '（':
			end = at + utf8.RuneLen(r)
		case '除', '因', '直', '而', '如':
			if startsAny(words[at:], []string{"除非", "因为", "直到", "而不是", "如果"}) {
				end = at
			}
		case '不', '别', '勿':
			if endsAny(words[from:at], []string{"之前", "以前", "同意", "允许", "批准", "确认", "点头", "许可"}) && roleOf(words[from:at]) != demands {
				end = at
			}
		}
		if end > from {
			all = append(all, words[from:end])
			from = end
		}
	}
	return append(all, words[from:])
}

// opens reports whether words, which stand behind others of a sentence, begin a
// clause that is no exception.
func opens(words string) bool {
	for _, o := range openings {
		if o.does != excepts && startsAny(words, o.words) {
			return true
		}
	}
	return false
}

// lists reports whether words begin on a line of their own with files, as a list does.
func lists(words string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(words, " "), "\n")
	line, _, _ := strings.Cut(rest, "\n")
	return ok && onlyPlaces(strings.TrimLeft(line, " \t-*•"))
}

// besides reports whether "but" behind those words means "except": any branch but dev.
func besides(before string) bool {
	all := strings.Fields(strings.ToLower(before))
	n := len(all)
	return n > 0 && (endsAny(" "+all[n-1], []string{"thing", "where", "body", " all", " none"}) || n > 1 && among(all[n-2], "any", "no", "every", "other", "all", "each"))
}

// exception cuts words in two where they spare something: "nothing in src/ except
// a.go" is what is spared, and what it is spared from.
func exception(words string) (spared, from string, ok bool) {
	low := strings.ToLower(words)
	if len(low) != len(words) {
		return "", "", false
	}
	for _, behind := range []string{"除外", "例外", "以外", "之外", "外面", "外的", "外，"} { // it stands before its word
		if at := strings.Index(words, behind); at >= 0 && !ofOtherWord(words[:at]) {
			spared, rest := words[:at], words[at+len(behind):]
			if begin := butFor(spared); begin >= 0 {
				return spared[begin+len("除"):], spared[:begin] + rest, true
			}
			begin := strings.IndexFunc(spared, func(r rune) bool { return latin(r) || r == '`' }) // 别动 src/ 外的东西
			if begin < 0 || roleOf(spared) != demands {
				begin = 0
			}
			return spared[begin:], spared[:begin] + rest, true
		}
	}
	for _, before := range []string{" except ", " except: ", " except for ", " exception: ", " exceptions: ", " besides ", " apart from ", " other than ", " outside of ", " outside ", " aside from ", " else than ", " other file than ", " other files than ",
		" with the exception of ", " that is not in ", " that isn't in ", " that are not in ", " that aren't in ", " not in "} {
		if at := strings.Index(" "+strings.ReplaceAll(low, "\n", " "), before); at >= 0 && (before != " not in " || endsAny(low[:max(at-1, 0)], []string{"files", "file", "anything", "code"})) {
			return words[min(at+len(before)-1, len(words)):], words[:max(at-1, 0)], true
		}
	}
	if at := strings.Index(low, " but "); at >= 0 && besides(low[:at]) {
		return words[at+len(" but "):], words[:at], true
	}
	if at := butFor(words); at >= 0 && !strings.HasPrefix(words[at:], "除非") {
		return words[at+len("除"):], words[:at], true
	}
	return "", "", false
}

// ofOtherWord reports whether the character 外 that follows is of a word such as 另外.
func ofOtherWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || strings.ContainsRune("另此意额国海户野", r)
}

// butFor returns where words have the character that means "but for", where it is
// not of a verb such as 删除; -1 if nowhere.
func butFor(words string) int {
	for at := strings.LastIndex(words, "除"); at >= 0; at = strings.LastIndex(words[:at], "除") {
		if before, _ := utf8.DecodeLastRuneInString(words[:at]); !strings.ContainsRune("删移清消排解扣去拆免", before) {
			return at
		}
	}
	return -1
}
