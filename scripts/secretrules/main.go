// Command secretrules makes internal/decide/secret/rules.tsv, the rules by which
// secrets are found, from the default configuration of gitleaks and the rules of
// our own in own.tsv:
//
//	dir=$(go mod download -json github.com/zricethezav/gitleaks/v8@v8.30.1 | jq -r .Dir)
//	go run ./scripts/secretrules $dir/config/gitleaks.toml > internal/decide/secret/rules.tsv
//
// It fails if a rule that is taken has gone, or no longer has a form that it knows.
package main

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// taken are the rules that are taken over, with what begins the search for each:
// text in lower case, of three bytes and more, that is offset bytes into the
// secret, or for an assignment the keywords that gitleaks gives.
//
//go:embed taken.tsv
var taken string

//go:embed own.tsv
var own string

const head = `# Made by scripts/secretrules from the default configuration of gitleaks (MIT: see
# LICENSE.gitleaks) and from scripts/secretrules/own.tsv. A line is a rule: name, kind,
# anchors, offset of the anchor in the secret, least entropy, expression.
`

type rule struct {
	ID       string
	Regex    string
	Entropy  float64
	Keywords []string
}

func main() {
	out, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "secretrules:", err)
		os.Exit(1)
	}
	fmt.Print(out)
}

func run(args []string) (string, error) {
	if len(args) != 1 {
		return "", fmt.Errorf("name the file gitleaks.toml")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return "", err
	}
	var from struct{ Rules []rule }
	if err := toml.Unmarshal(text, &from); err != nil {
		return "", fmt.Errorf("read %s: %w", args[0], err)
	}
	var b strings.Builder
	b.WriteString(head)
	for line := range strings.Lines(taken) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		i := slices.IndexFunc(from.Rules, func(r rule) bool { return r.ID == f[0] })
		if i < 0 {
			return "", fmt.Errorf("there is no rule %s any more", f[0])
		}
		r := from.Rules[i]
		kind, expr, err := shape(r.Regex)
		if err != nil {
			return "", fmt.Errorf("rule %s: %w", r.ID, err)
		}
		anchors, offset := r.Keywords, "0"
		if len(f) > 1 {
			offset, anchors = f[1], f[2:]
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, kind, strings.Join(anchors, " "), offset,
			strconv.FormatFloat(r.Entropy, 'g', -1, 64), expr)
	}
	for line := range strings.Lines(own) {
		if !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	return b.String(), nil
}

// What gitleaks puts around the secret: the end of a token, a boundary before it,
// and for assignments the name and the operator.
var (
	endRE  = regexp.MustCompile(`\(\?:\[\\x60'"\\s;\]\|\\\\\[nr\]\|\$(?:\|\\b)?\)$`)
	nameRE = regexp.MustCompile(`^(?:\[\\w\.-\]\{0,50\}\?)?(\(\?i\)|\(\?i:)?\[\\w\.-\]\{0,50\}\?.*\[\\x60'"\\s=\]\{0,5\}`)
)

// shape returns the kind of rule that expr is, and the expression of the secret.
func shape(expr string) (kind, secret string, err error) {
	kind, secret = "token", endRE.ReplaceAllString(expr, "")
	if prefix := nameRE.FindString(secret); prefix != "" {
		kind, secret = "assign", secret[len(prefix):]
		if strings.HasPrefix(nameRE.FindStringSubmatch(expr)[1], "(?i)") {
			secret = "(?i)" + secret
		}
	}
	fold := strings.HasPrefix(secret, "(?i)")
	secret = strings.TrimPrefix(secret, "(?i)")
	secret = strings.ReplaceAll(secret, `\b`, "") // looked at outside of expressions
	if fold {
		secret = "(?i)" + secret
	}
	tree, err := syntax.Parse(secret, syntax.Perl)
	if err != nil {
		return "", "", err
	}
	if strings.ContainsAny(tree.String(), "\t\n") || crosses(tree) {
		return "", "", fmt.Errorf("%s goes over the end of a line", secret)
	}
	return kind, secret, nil
}

// crosses reports whether what e matches can have a line feed in it, or depends on
// what is around it.
func crosses(e *syntax.Regexp) bool {
	switch e.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText,
		syntax.OpEndText, syntax.OpNoWordBoundary:
		return true
	case syntax.OpCharClass:
		for i := 0; i < len(e.Rune); i += 2 {
			if e.Rune[i] <= '\n' && '\n' <= e.Rune[i+1] {
				return true
			}
		}
	}
	return slices.ContainsFunc(e.Sub, crosses)
}
