package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/event"
)

func TestShortArtifactsArePacked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	j := must(Open(dir, nil))
	handles := map[string]string{}
	for _, n := range []int{0, 1, 100, packLimit - 1, packLimit, packLimit + 1, small, small + 1} {
		text := strings.Repeat("y", n)
		handles[text] = keep(t, j, text)
	}
	check := func() {
		t.Helper()
		for text, handle := range handles {
			if got := contents(t, j, handle); got != text {
				t.Errorf("%d bytes became %d", len(text), len(got))
			}
		}
	}
	check()
	if files := must(filepath.Glob(filepath.Join(dir, "artifacts", "*", "*"))); len(files) != 3 {
		t.Errorf("%d have files", len(files))
	}
	size := func() int64 { return must(os.Stat(filepath.Join(dir, packName(1)))).Size() }
	for life := range 3 {
		j.Close()
		before := size()
		j = must(Open(dir, nil))
		check()
		keep(t, j, strings.Repeat("y", 100)) // is there already
		j.Close()
		if after := size(); after != before {
			t.Errorf("life %d: %d bytes became %d", life, before, after)
		}
		j = must(Open(dir, nil))
		handles[fmt.Sprint(life)] = keep(t, j, fmt.Sprint(life))
	}
	must(j.Append(event.Asked{Media: []string{handles["2"]}}))
	if s := j.shelf.(*diskShelf); s.packs.dirty || s.loose[strings.TrimPrefix(handles["2"], prefix)] {
		t.Error("not on stable storage")
	}
	check()
	j.Close()
}

func TestPacksBecomeManyFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	p := packs{disk: system{}, dir: filepath.Dir(dir)}
	digest := func(b []byte) string { return strings.TrimPrefix(must(put(newMemoryShelf(1<<20), b)), prefix) }
	var kept [][]byte
	for i := range 5 {
		b := []byte(fmt.Sprint("artifact ", i))
		if err := p.put(digest(b), b); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, b)
		p.tail.end += segmentLimit / 2 // a hole, as if there were much more
	}
	check := func() {
		t.Helper()
		for _, b := range kept {
			if got, err := p.get(digest(b)); !bytes.Equal(got, b) {
				t.Errorf("%q: %q, %v", b, got, err)
			}
		}
	}
	check()
	if err := errors.Join(p.sync(), p.close()); err != nil || p.number < 3 {
		t.Fatal(p.number, err)
	}
	p = packs{disk: system{}, dir: filepath.Dir(dir)}
	check()
}

func TestPromise_P05_APackThatFailedOnceStaysFailed(t *testing.T) {
	p := packs{disk: system{}, dir: t.TempDir()}
	if err := p.put(strings.Repeat("ab", 32), []byte("lost, perhaps")); err != nil {
		t.Fatal(err)
	}
	good := p.tail.f
	p.tail.f = osFile{must(os.OpenFile("/dev/null", os.O_RDWR, 0))} // takes everything, syncs nothing
	err := p.sync()
	if err == nil {
		t.Fatal("synced")
	}
	p.tail.f.Close()
	p.tail.f = good
	if again, put := p.sync(), p.put(strings.Repeat("cd", 32), nil); again != err || put != err {
		t.Errorf("%v, %v, want %v", again, put, err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
}

// Whatever becomes of a pack, what is found there is right, and what is lost
// can be put again.
func TestDamagedPacks(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, packName(1))
	p := packs{disk: system{}, dir: dir}
	texts := map[string]string{}
	for i := range 12 {
		b := []byte(strings.Repeat(fmt.Sprint("A1 ", i, "\n"), 1+i*20))
		digest := strings.TrimPrefix(must(put(newMemoryShelf(1<<20), b)), prefix)
		texts[digest] = string(b)
		if err := p.put(digest, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	whole := must(os.ReadFile(name))
	r := rand.New(rand.NewPCG(4, 4))
	found := 0
	for round := range 300 {
		text := bytes.Clone(whole)
		at := r.IntN(len(text))
		switch round % 4 {
		case 0:
			text = text[:at]
		case 1:
			text[at] ^= 1 << r.IntN(8)
		case 2:
			clear(text[at:min(len(text), at+512)])
		case 3:
			text = slices.Concat(text[:at], make([]byte, r.IntN(300)), text[at:])
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		p := packs{disk: system{}, dir: dir}
		for digest, want := range texts {
			if got, err := p.get(digest); err == nil {
				found++
				if string(got) != want {
					t.Fatalf("round %d: %s is another", round, digest)
				}
			}
		}
		for digest, want := range texts {
			if err := p.put(digest, []byte(want)); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		p = packs{disk: system{}, dir: dir}
		for digest, want := range texts {
			if got, err := p.get(digest); err != nil || string(got) != want {
				t.Fatalf("round %d: put again: %v", round, err)
			}
		}
	}
	if found < 300*8 {
		t.Errorf("only %d of %d were found", found, 300*len(texts))
	}
}

// Whatever is in a pack, reading it ends, and finds nothing beyond its end.
func FuzzPack(f *testing.F) {
	good := "A1 00000003 " + strings.Repeat("ab", 32) + "\nabc\n"
	f.Add([]byte(good))
	f.Add([]byte("A1 " + good + "\x00\x00" + good[:50]))
	f.Fuzz(func(t *testing.T, text []byte) {
		name := filepath.Join(t.TempDir(), "p")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file := must(system{}.open(name, os.O_RDONLY, 0))
		defer file.Close()
		last := int64(0)
		end, err := scanPack(file, func(digest string, at int64, n int) {
			if at < last || n < 0 || at+int64(n) >= int64(len(text)) || !isDigest(digest) {
				t.Errorf("%s: %d bytes at %d, behind %d, of %d", digest, n, at, last, len(text))
			}
			last = at + int64(n) + 1
		})
		if err != nil || end < last || end > int64(len(text)) {
			t.Errorf("it ends at %d, %v", end, err)
		}
		if rest := text[end:]; nextHead(append([]byte{0}, rest...)) >= 0 {
			t.Errorf("passed over %q", rest)
		}
	})
}

func BenchmarkArtifact(b *testing.B) {
	j := must(Open(filepath.Join(b.TempDir(), "s"), nil))
	defer j.Close()
	s := must(j.Spill("output"))
	s.Write(make([]byte, 8<<10))
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f := must(j.Artifact(s.Handle()))
		if n := must(io.Copy(io.Discard, f)); n != 8<<10 {
			b.Fatal(n)
		}
		f.Close()
	}
}
