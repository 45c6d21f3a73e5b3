package snapshot

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// A pack holds the bytes of many files, one after another. It only grows.
type pack struct {
	f    *os.File
	size int64
}

func createPack(path string) (*pack, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep snapshots: %w", err)
	}
	return &pack{f: f}, nil
}

func openPack(path string) (*pack, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &pack{f, size}, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// add returns where b is from now on.
func (p *pack) add(b []byte) (at int64, check uint32, err error) {
	at = p.size
	if _, err := p.f.WriteAt(b, at); err != nil {
		return 0, 0, fmt.Errorf("keep a file: %w", err)
	}
	p.size += int64(len(b))
	return at, sum(b), nil
}

// get returns the bytes of e.
func (p *pack) get(e entry) ([]byte, error) {
	b := make([]byte, e.Size)
	if _, err := p.f.ReadAt(b, e.At); err != nil && e.Size > 0 {
		return nil, fmt.Errorf("read a file that was kept: %w", err)
	}
	if sum(b) != e.Sum {
		return nil, ErrLost
	}
	return b, nil
}

func (p *pack) Close() error { return p.f.Close() }
