package toolbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
	"github.com/belay-agent/belay/internal/decide/secret"
)

// besideMark says how to change a file of which a part is not shown.
const besideMark = "change only the lines beside it, and leave its line out of old and new text and of a patch; what has to change in that line, ask the user to change"

// unmarked is work that refuses to put marks of secrets into files: they would
// take the place of the secrets. Marks that the files hold already are text.
func unmarked(work maker) maker {
	return func(ctx context.Context, settle settler) (change, error) {
		c, err := work(ctx, settle)
		if err != nil {
			return c, err
		}
		count := make(map[string]int)
		for _, v := range c.revisions {
			for mark, n := range secret.Marks(v.after) {
				count[mark] += n
			}
			for mark, n := range secret.Marks(v.before) {
				count[mark] -= n
			}
		}
		var fresh []string
		for mark, n := range count {
			if n > 0 {
				fresh = append(fresh, mark)
			}
		}
		if len(fresh) == 0 {
			return c, nil
		}
		slices.Sort(fresh)
		return change{}, invalid(besideMark, "the new text holds %s, which only stands for a secret that is not shown", strings.Join(fresh, " and "))
	}
}

// markedOld explains why old text that holds a mark of a secret is not in text;
// nil if it holds none, or that mark is really there.
func markedOld(text, old string) *tool.Failure {
	for mark := range secret.Marks(old) {
		if !strings.Contains(text, mark) {
			return &tool.Failure{
				Kind: tool.NoMatch, Hint: besideMark,
				Message: fmt.Sprintf("%s is not in the file: it stands for a secret that is, and is not shown", mark),
			}
		}
	}
	return nil
}
