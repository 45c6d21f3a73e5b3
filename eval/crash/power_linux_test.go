package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/eval/power"
	"github.com/belay-agent/belay/internal/contract/event"
)

// A fileSystem is one on which the power is cut.
type fileSystem struct {
	name    string
	mib     int64
	mkfs    []string
	options string
	sector  int // that it takes to be written whole or not at all
	cuts    int // in a soak
}

var fileSystems = []fileSystem{
	{"ext4", 96, []string{"mkfs.ext4", "-q", "-F"}, "noatime", 512, 500},
	{"xfs", 300, []string{"mkfs.xfs", "-q", "-s", "size=4096"}, "noatime", 4096, 100},
	{"btrfs", 128, []string{"mkfs.btrfs", "-q"}, "noatime,nodiscard", 4096, 100},
}

// P03: the power is cut while the reference session runs on a real file system,
// with the sessions' directory and the workspace on it, at any of the writes that
// it sends its disk. Of those that it has not flushed any may be lost or torn.
// What was acknowledged is there when the session goes on.
func TestPromise_P03_PowerCutsOnRealFileSystems(t *testing.T) {
	t.Parallel()
	for _, fsys := range fileSystems {
		if !soak && fsys.name != "ext4" {
			continue
		}
		t.Run(fsys.name, func(t *testing.T) {
			able(t, fsys)
			if !alone(t) {
				return
			}
			l := newLab(t, fsys)
			l.record(t, binary(t, plain), nil)
			n := 5
			if soak {
				n = fsys.cuts
			}
			var y total
			l.cut(rand.New(rand.NewPCG(seed(t), 5)), n, &y)
			y.report(t, fsys)
		})
	}
}

// P03: and so when the power fails again while the session is resumed.
func TestPromise_P03_PowerCutsOfRecovery(t *testing.T) {
	t.Parallel()
	if !soak {
		t.Skip("P03: only in a soak")
	}
	for _, fsys := range fileSystems {
		t.Run(fsys.name, func(t *testing.T) {
			able(t, fsys)
			if !alone(t) {
				return
			}
			l := newLab(t, fsys)
			l.record(t, binary(t, plain), nil)
			r := rand.New(rand.NewPCG(seed(t), 6))
			var y total
			for _, after := range l.points(r, l.to-l.from) {
				if y.cuts >= fsys.cuts/2 {
					break
				}
				next, err := l.again(power.Cut{After: after, Sector: fsys.sector, Rand: r})
				if errors.Is(err, errOver) {
					continue
				}
				if err != nil {
					t.Fatalf("resumed after %d: %v", after, err)
				}
				next.cut(r, 10, &y)
			}
			y.report(t, fsys)
		})
	}
}

func (y *total) report(t *testing.T, fsys fileSystem) {
	t.Helper()
	t.Logf("%s: %s", fsys.name, y)
	for _, w := range y.wrong {
		t.Error(w)
	}
}

// With syncs that do nothing, all of them or those of the log or of files, the
// judge finds what it looks for.
func TestPromise_P03_SyncsThatLieAreFoundOut(t *testing.T) {
	t.Parallel()
	if !soak {
		t.Skip("P03: only in a soak")
	}
	traced(t)
	for _, lie := range []string{"fsync,fdatasync", "fdatasync", "fsync"} {
		t.Run(lie, func(t *testing.T) {
			able(t, fileSystems[0])
			if !alone(t) {
				return
			}
			l := newLab(t, fileSystems[0])
			l.record(t, binary(t, plain), []string{
				"strace", "-f", "-qqq", "-b", "execve", "-o", "/dev/null",
				"-e", "trace=" + lie, "-e", "inject=" + lie + ":retval=0",
			})
			var y total
			l.cut(rand.New(rand.NewPCG(seed(t), 5)), 40, &y)
			t.Log(&y)
			if len(y.wrong) == 0 || y.lost == 0 && strings.Contains(lie, "fdatasync") {
				t.Error("nothing acknowledged was lost")
			}
		})
	}
}

// acknowledged returns what had been told before a cut and could not be lost: the
// last event that does not wait for another, and all before it.
func (l *lab) acknowledged(cut int) (lines []string, err error) {
	safe := 0
	for _, w := range l.told {
		if w.at > cut {
			break
		}
		e, _, err := event.Decode([]byte(strings.TrimSuffix(w.line, "\n")))
		if err != nil {
			return nil, err
		}
		lines = append(lines, w.line)
		if !e.Body.Waits() {
			safe = len(lines)
		}
	}
	return lines[:safe], nil
}

// A total is what many power cuts came to.
type total struct {
	cuts, writes         int // writes that were lost or torn
	acknowledged, lost   int // events
	interrupted, unknown int // calls
	wrong                []string
}

func (y *total) String() string {
	return fmt.Sprintf("%d power cuts, %d writes lost or torn, %d acknowledged events: %d lost; "+
		"%d calls interrupted, %d unknown; %d wrong",
		y.cuts, y.writes, y.acknowledged, y.lost, y.interrupted, y.unknown, len(y.wrong))
}

// points returns n entries of the log to cut the power after, drawn by lot: each
// of them once before any twice.
func (l *lab) points(r *rand.Rand, n int) (after []int) {
	for len(after) < n {
		for _, i := range r.Perm(l.to - l.from) {
			after = append(after, l.from+1+i)
		}
	}
	return after[:n]
}

// cut cuts the power n times, and judges what the session becomes that goes on
// from there.
func (l *lab) cut(r *rand.Rand, n int, y *total) {
	for _, after := range l.points(r, n) {
		lost, v, err := l.after(power.Cut{After: after, Sector: l.fsys.sector, Rand: r})
		y.cuts++
		y.writes += lost
		y.acknowledged += v.acknowledged
		y.lost += len(v.lost)
		y.interrupted += v.interrupted
		y.unknown += v.unknown["Bash"]
		wrong := v.wrong()
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		for _, w := range wrong {
			y.wrong = append(y.wrong, fmt.Sprintf("%s, cut after %d of %d: %s", l.fsys.name, after, l.to, w))
		}
	}
}

// after judges the session that is resumed after one cut.
func (l *lab) after(c power.Cut) (lost int, v powerVerdict, err error) {
	image := filepath.Join(l.dir, "cut.img")
	defer os.Remove(image)
	if lost, err = l.left(image, c); err != nil {
		return lost, v, err
	}
	err = l.mounted(image, func() (err error) {
		v, err = l.judge(c.After)
		return err
	})
	return lost, v, err
}

// left makes an image of what a cut leaves.
func (l *lab) left(image string, c power.Cut) (lost int, err error) {
	if err := do("cp", "--sparse=always", l.base, image); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	lost, err = l.disk.Apply(f, c)
	return lost, errors.Join(err, f.Close())
}

// A powerVerdict is one on a session that a power cut ended.
type powerVerdict struct {
	verdict
	acknowledged int // events that were not to be lost
}

func (l *lab) judge(cut int) (v powerVerdict, err error) {
	s := &story{place: l.place(), play: l.st.play}
	v.unknown = make(map[string]int)
	v.verdict.other = l.torn(s.place)
	if s.told, err = l.acknowledged(cut); err != nil {
		return v, err
	}
	v.acknowledged = len(s.told)
	if err := s.finish(); err != nil {
		return v, err
	}
	all, err := s.events()
	if err != nil {
		return v, err
	}
	v.judgeCalls(all)
	if err := s.judgeLog(&v.verdict); err != nil {
		return v, err
	}
	files, err := s.files()
	if err != nil {
		return v, err
	}
	v.judgeFiles(files, l.st.files, l.free)
	n, err := s.commits()
	if err != nil {
		return v, err
	}
	v.judgeCommits(n, l.st.commits, []string{"git"})
	if left := s.survivors(); len(left) > 0 {
		v.other = append(v.other, fmt.Sprintf("still running: %q", left))
	}
	return v, nil
}

// torn returns the files that are neither old nor new.
func (l *lab) torn(p *place) (found []string) {
	files, err := p.files()
	if err != nil {
		return []string{err.Error()}
	}
	for name, content := range files {
		_, known := l.st.files[name]
		if known && !slices.Contains(l.free, name) && !l.versions[digest(content)] {
			found = append(found, fmt.Sprintf("%s is torn: %q", name, content))
		}
	}
	return found
}
