package cli

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/belay-agent/belay/internal/agent"
	"github.com/belay-agent/belay/internal/ui/replay"
)

// change returns options and what is changed in the session itself, by setting.
func (s System) change(setting string, o *agent.Options) (replay.Change, error) {
	var c replay.Change
	if setting == "" {
		return c, nil
	}
	key, value, found := strings.Cut(setting, "=")
	if !found {
		return c, usage("--set %s: write KEY=VALUE; see `belay replay --help`", setting)
	}
	if file, isFile := strings.CutPrefix(value, "@"); isFile {
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.dir(), file)
		}
		var err error
		if value, err = readSetting(file); err != nil {
			return c, usage("--set %s: %v", key, err)
		}
	}
	switch place, name, _ := strings.Cut(key, "."); {
	case key == "system" && value != "":
		c.System = value
	case place == "rules" && name != "":
		c.Rules = map[string]string{path.Clean(filepath.ToSlash(name)): value}
	case place == "tools" && name != "" && value != "":
		c.Tools = map[string]string{name: value}
	case key == "effort":
		effort, err := parseEffort(value)
		if err != nil {
			return c, usage("--set effort: %v", err)
		}
		o.Effort = effort
	case key == "compact_at":
		at, err := parseShare(value)
		if err != nil {
			return c, usage("--set compact_at: %v", err)
		}
		o.CompactAt = at
	case key == "system" || place == "tools" && name != "":
		return c, usage("--set %s: a text is missing behind =", key)
	default:
		return c, usage("--set %s: it cannot be changed; what can: system, rules.PATH, tools.NAME, effort, compact_at", key)
	}
	return c, nil
}

// maxSetting bounds the bytes of a file that a setting is read from. It is more than
// any model takes.
const maxSetting = 4 << 20

// readSetting returns what is in file, which may be a pipe.
func readSetting(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSetting+1))
	if err == nil && len(b) > maxSetting {
		err = fmt.Errorf("%s is larger than %d KiB", file, maxSetting>>10)
	}
	return string(b), err
}
