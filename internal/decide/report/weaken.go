package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/pattern"
)

// testFileRE finds names of files that hold tests.
var testFileRE = pattern.Later(`(?:_test\.\w+|(?:^|/)test_[^/]*\.py|\.(?:test|spec)\.\w+|(?:Test|Tests|IT)\.(?:java|kt|cs)|_spec\.rb)$|(?:^|/)(?:tests?|__tests__|spec)/`)

func isTest(file string) bool { return testFileRE().MatchString(file) }

var subjectRE = pattern.Later(`^test_|_test$|\.(?:test|spec)$|(?:Tests|Test)$|_spec$`)

// subject is what a test and what it tests are both called.
func subject(file string) string {
	stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return subjectRE().ReplaceAllString(stem, "") + path.Ext(file)
}

// By the text alone: where a test begins, what skips one, and what asserts.
var (
	caseRE   = pattern.Later("(?m)^func ((?:Test|Fuzz)\\w*)\\(|^\\s*(?:async )?def (test\\w*)|\\b(?:it|test)(?:\\.\\w+)?\\(\\s*['\"`]([^'\"`\n]+)|@Test\\b[^{;]*?\\b(?:void|fun)\\s+(\\w+)|#\\[(?:\\w+::)?test\\][^{;]*?\\bfn (\\w+)")
	skipRE   = pattern.Later(`(?m)\bt\.Skip(?:f|Now)?\(|@pytest\.mark\.(?:skip|xfail)|\bpytest\.skip\(|@unittest\.skip|\b(?:it|test|describe)\.(?:skip|todo)\(|\bx(?:it|describe|test)\(|#\[ignore|@Ignore\b|@Disabled\b|^//go:build ignore`)
	assertRE = pattern.Later(`\bt\.(?:Error|Fatal|Fail)|\bassert|\bexpect\(|\brequire\.|\b(?:EXPECT|ASSERT)_|\bcmp\.Diff|\.should\b`)
	askedRE  = pattern.Later(`(?i)\b(?:delete|remove|drop|skip|disable|rewrite|rename|replace|merge|simplify|clean|move)\w*\b[^.\n]*\btests?\b|(?:删|移除|跳过|去掉|重写|禁用|合并|简化|重命名)[^。\n]*测试|测试[^。\n]*(?:删|移除|跳过|去掉|重写|禁用|合并|简化|重命名)`)
)

// weakened says how n made tests prove less.
func (n *net) weakened(images Images) (found []string) {
	before, after := n.text(images)
	if isTest(n.path) && n.after() == "" && before != "" && n.before() != "" {
		return []string{fmt.Sprintf("the test file is gone%s", listed(cases(before)))}
	}
	gone := slices.DeleteFunc(cases(before), func(name string) bool { return slices.Contains(cases(after), name) })
	if len(gone) > 0 {
		found = append(found, "tests are gone"+listed(gone))
	}
	if more := len(skipRE().FindAllString(after, -1)) - len(skipRE().FindAllString(before, -1)); more > 0 && (isTest(n.path) || caseRE().MatchString(before)) {
		found = append(found, fmt.Sprintf("%d more skipped", more))
	}
	if len(gone) == 0 && isTest(n.path) {
		if less := len(assertRE().FindAllString(before, -1)) - len(assertRE().FindAllString(after, -1)); less > 0 {
			found = append(found, fmt.Sprintf("%d fewer assertions", less))
		}
	}
	return found
}

// text returns what the file said before and after, or as much of it as the diffs
// of its calls show.
func (n *net) text(images Images) (before, after string) {
	first, _, ok := n.parts[0].bytes(images)
	_, last, also := n.parts[len(n.parts)-1].bytes(images)
	if ok && also {
		return string(first), string(last)
	}
	var old, new strings.Builder
	for _, s := range n.steps {
		mine := false
		for line := range strings.Lines("--- " + s.diff) {
			switch {
			case strings.HasPrefix(line, "--- "):
				mine = false
				fallthrough
			case strings.HasPrefix(line, "+++ "):
				mine = mine || strings.TrimSpace(line[4:]) == "a/"+n.path || strings.TrimSpace(line[4:]) == "b/"+n.path
			case mine && line[0] == '-':
				old.WriteString(line[1:])
			case mine && line[0] == '+':
				new.WriteString(line[1:])
			}
		}
	}
	return old.String(), new.String()
}

// cases returns the names of the tests in text.
func cases(text string) (names []string) {
	for _, m := range caseRE().FindAllStringSubmatch(text, -1) {
		for _, name := range m[1:] {
			if name != "" && name != "TestMain" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// listed writes some names behind what is said of them.
func listed(names []string) string {
	const most = 3
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		return fmt.Sprintf(": %s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return ": " + strings.Join(names, ", ")
}
