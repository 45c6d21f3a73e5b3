package process

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// preamble is what bash reads, because BASH_ENV names it, before a script: the
// script itself is handed over byte for byte. As bash exits, it notes the
// statuses of the last pipeline behind this text, which has to be opened for
// writing as descriptor 3.
//
// While 3 is closed for a moment, bash keeps a copy as descriptor 10 that no
// program inherits, and a copy of that copy is not inherited either. So 250 is
// known to this bash alone.
//
// A script that sets a trap on EXIT, or ends in exec, takes this one away, and
// then there is no report. Only one that lists its traps, or uses descriptor 250
// itself, can tell the difference.
const preamble = `unset BASH_ENV
{ exec 250>&10; } 3>&-
exec 3>&-
trap '{ builtin echo "${PIPESTATUS[@]}" >&250; } 2>/dev/null' EXIT
`

const stagesMax = 4 << 10 // bytes that are read of what bash noted

// A report is the file that bash notes the statuses in. All methods of a nil
// report do nothing.
type report struct{ file *os.File }

// newReport returns the report for c, nil where there can be none: another
// shell, a bash that would not read it, or another system.
func newReport(c Command) *report {
	posix := slices.ContainsFunc(c.Env, func(kv string) bool { return strings.HasPrefix(kv, "POSIXLY_CORRECT=") })
	if !c.Stages || posix || filepath.Base(c.Argv[0]) != "bash" {
		return nil
	}
	f, err := scratch("stages")
	if err != nil {
		return nil
	}
	if _, err := f.WriteString(preamble); err != nil {
		_ = f.Close()
		return nil
	}
	return &report{f}
}

// add has bash, which is started with env and files beyond the first three,
// make its report.
func (r *report) add(env []string, files []*os.File) ([]string, []*os.File) {
	if r == nil {
		return env, files
	}
	return append(env, "BASH_ENV=/dev/fd/3"), append(files, r.file)
}

// stages returns what was reported, nil if nothing was. It does not wait: bash
// has exited.
func (r *report) stages() []int {
	if r == nil {
		return nil
	}
	b := make([]byte, stagesMax)
	n, _ := r.file.ReadAt(b, int64(len(preamble)))
	line, _, whole := bytes.Cut(b[:n], []byte("\n"))
	if !whole {
		return nil
	}
	var all []int
	for field := range strings.FieldsSeq(string(line)) {
		status, err := strconv.Atoi(field)
		if err != nil {
			return nil
		}
		all = append(all, status)
	}
	return all
}

func (r *report) close() {
	if r != nil {
		_ = r.file.Close()
	}
}
