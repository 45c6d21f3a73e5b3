package workspace

import (
	"errors"
	"fmt"
	"io/fs"
)

// ruleNames are the files that hold a project's rules for a model, the one that
// counts most last.
var ruleNames = []string{"CLAUDE.md", "CODE_LAW.md", "AGENTS.md"}

// maxRules bounds the bytes of one of them: rules are part of every request.
const maxRules = 64 << 10

// A RuleFile is a file with a project's rules for a model.
type RuleFile struct {
	Path string
	Text
}

// RuleFiles returns the rule files at the root of the workspace, the one that
// counts most last. One that says the same as another is returned once, under
// the name that counts most. A file that is there and cannot be read is an error:
// rules are not left out silently.
func (w *Workspace) RuleFiles() ([]RuleFile, error) {
	var files []RuleFile
	for _, name := range ruleNames {
		text, err := w.Read(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && text.Content == "" {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the rules of the project: %w", err)
		}
		if text.Size > maxRules {
			return nil, fmt.Errorf("read the rules of the project: %s has %d bytes, and may have %d", name, text.Size, maxRules)
		}
		kept := files[:0]
		for _, f := range files {
			if f.Digest != text.Digest {
				kept = append(kept, f)
			}
		}
		files = append(kept, RuleFile{name, text})
	}
	return files, nil
}
