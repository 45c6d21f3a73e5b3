package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every word that is obeyed has a line in /help.
func TestHelpListsEverySlashCommand(t *testing.T) {
	var words []string
	for _, file := range []string{"slash.go", "talk.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(string(source), "func ") // behind the text of /help
		for _, m := range regexp.MustCompile(`"(/[a-z]+)"`).FindAllStringSubmatch(code, -1) {
			words = append(words, m[1])
		}
	}
	if len(words) < 5 {
		t.Fatalf("only %q", words)
	}
	for _, word := range words {
		if !slices.Contains(slashWords, word[1:]) {
			t.Errorf("slips of %s are not known", word)
		}
		if !regexp.MustCompile(`(?m)(^|, )` + word + `\b`).MatchString(slashHelp) {
			t.Errorf("/help does not tell of %s", word)
		}
	}
}
