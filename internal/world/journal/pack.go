package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	packLimit  = 32 << 10 // bytes of an artifact that is packed
	packPrefix = "artifacts."
	packMagic  = "A1 "
	packHead   = len(packMagic) + 9 + digestLen + 1 // "A1 <len> <digest>\n"
)

// packs keep short artifacts behind each other in files artifacts.NNNNNN, each
// as a line that says its length and digest, its bytes, and a line feed. What is
// found there counts only if its bytes have its digest, so nothing else need be
// certain about a pack that a crash cut off. Whoever uses packs holds a lock.
type packs struct {
	disk disk
	dir  string

	index  map[string]spot // nil until it is needed
	number int             // of the last file, 0 if there is none
	end    int64           // of it
	tail   tail            // of the last file, once there was something to write
	dirty  bool            // something may not be on stable storage
	named  bool            // the name of the last file is
	failed error           // a sync once: nothing can make that good
}

// A spot is where an artifact lies.
type spot struct {
	number, n int
	offset    int64
	good      bool // its bytes have been checked, or written in this life
}

func packName(n int) string { return fmt.Sprintf("%s%06d", packPrefix, n) }

// load finds out what is there.
func (p *packs) load() error {
	if p.index != nil {
		return nil
	}
	numbers, err := numbered(p.disk, p.dir, packPrefix)
	if err != nil {
		return err
	}
	index := map[string]spot{}
	for _, number := range numbers {
		f, err := p.disk.open(filepath.Join(p.dir, packName(number)), os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		end, err := scanPack(f, func(digest string, at int64, n int) {
			index[digest] = spot{number: number, n: n, offset: at}
		})
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("read %s: %w", packName(number), err)
		}
		p.number, p.end = number, end
	}
	p.index = index
	return nil
}

// scanPack tells where artifacts seem to lie in f, and returns the end of them.
func scanPack(f file, found func(digest string, at int64, n int)) (int64, error) {
	size, err := f.size()
	if err != nil {
		return 0, err
	}
	head := make([]byte, packHead)
	for at := int64(0); ; {
		n, err := f.ReadAt(head, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		digest, length := parseHead(head[:n])
		if end := at + int64(packHead+length) + 1; digest != "" && end <= size {
			found(digest, at+int64(packHead), length)
			at = end
			continue
		}
		rest, err := readFrom(f, at)
		if err != nil {
			return 0, err
		}
		skip := nextHead(rest)
		if skip < 0 {
			return at, nil
		}
		at += int64(skip)
	}
}

// parseHead returns no digest if b does not begin with a head.
func parseHead(b []byte) (digest string, n int) {
	if len(b) < packHead || string(b[:len(packMagic)]) != packMagic || b[packHead-1] != '\n' {
		return "", 0
	}
	v, ok := parseHex(b[len(packMagic):])
	name := b[len(packMagic)+9 : packHead-1]
	if !ok || v > packLimit || !isDigest(name) {
		return "", 0
	}
	return string(name), int(v)
}

// nextHead returns the offset in b of a head behind its first byte, or -1.
func nextHead(b []byte) int {
	for at := 1; at < len(b); at++ {
		i := bytes.Index(b[at:], []byte(packMagic))
		if i < 0 {
			return -1
		}
		at += i
		if digest, n := parseHead(b[at:]); digest != "" && at+packHead+n < len(b) {
			return at
		}
	}
	return -1
}

// get returns an artifact whose bytes are right.
func (p *packs) get(digest string) ([]byte, error) {
	if err := p.load(); err != nil {
		return nil, err
	}
	at, ok := p.index[digest]
	if !ok {
		return nil, fs.ErrNotExist
	}
	f := p.tail.f
	if f == nil || at.number != p.number {
		var err error
		if f, err = p.disk.open(filepath.Join(p.dir, packName(at.number)), os.O_RDONLY, 0); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	b := make([]byte, at.n)
	if _, err := f.ReadAt(b, at.offset); err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("artifact %s is damaged", digest)
	}
	at.good = true
	p.index[digest] = at
	return b, nil
}

// has reports whether put has kept the artifact in this life.
func (p *packs) has(digest string) bool { return p.index[digest].good }

// put keeps b, unless it is there.
func (p *packs) put(digest string, b []byte) error {
	if err := p.load(); err != nil {
		return err
	}
	if err := p.begin(); err != nil {
		return err
	}
	if at, ok := p.index[digest]; ok {
		if at.good {
			return nil
		}
		if _, err := p.get(digest); err == nil {
			return nil
		}
	}
	entry := make([]byte, 0, packHead+len(b)+1)
	entry = append(appendHex(append(entry, packMagic...), uint32(len(b))), ' ')
	entry = append(append(append(entry, digest...), '\n'), b...)
	at := p.tail.end + int64(packHead)
	p.dirty = true
	if err := p.tail.write(append(entry, '\n')); err != nil {
		return err
	}
	p.index[digest] = spot{number: p.number, n: len(b), offset: at, good: true}
	return nil
}

// begin opens the last file for writing, or a new one if that is long enough.
// Nobody knows how safe is what an earlier life wrote there.
func (p *packs) begin() error {
	if p.failed != nil || p.tail.f != nil && p.tail.end < segmentLimit {
		return p.failed
	}
	if p.tail.f != nil {
		if err := p.sync(); err != nil {
			return err
		}
		if err := p.tail.finish(); err != nil {
			return err
		}
		p.tail, p.end = tail{}, 0
		p.number++
	}
	number := max(p.number, 1)
	f, err := p.disk.open(filepath.Join(p.dir, packName(number)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	size, err := f.size()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	p.number, p.tail = number, tail{f: f, end: p.end, size: size}
	p.dirty, p.named = true, false
	return nil
}

// sync puts all that was put on stable storage.
func (p *packs) sync() error {
	if p.failed != nil || !p.dirty {
		return p.failed
	}
	if err := p.tail.f.syncData(); err != nil {
		p.failed = err
		return err
	}
	if !p.named {
		if err := p.disk.syncDir(p.dir); err != nil {
			return err
		}
	}
	p.dirty, p.named = false, true
	return nil
}

func (p *packs) close() error {
	if p.tail.f == nil {
		return nil
	}
	f := p.tail
	p.tail = tail{}
	return f.finish()
}
