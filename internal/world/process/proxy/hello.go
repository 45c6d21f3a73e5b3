package proxy

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// helloMax is how many bytes the first message of TLS may take.
const helloMax = 80 << 10

// isTLS reports whether what begins with b is to be TLS: a handshake record.
func isTLS(b byte) bool { return b == 0x16 }

// peek reads the first message of TLS, and returns for which server it is ("" if
// it does not say) and all that was read.
func peek(r io.Reader) (server string, read []byte, err error) {
	var seen bytes.Buffer
	heard := errors.New("heard")
	config := &tls.Config{
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			server = h.ServerName
			return nil, heard
		},
	}
	conn := tls.Server(mute{Reader: io.TeeReader(&limit{r, helloMax}, &seen)}, config)
	if err := conn.Handshake(); !errors.Is(err, heard) {
		return "", seen.Bytes(), err
	}
	return server, seen.Bytes(), nil
}

// A mute is a connection that nothing can be said on.
type mute struct {
	io.Reader
	net.Conn // nil: nothing else is asked of it
}

func (m mute) Read(b []byte) (int, error)       { return m.Reader.Read(b) }
func (m mute) Write(b []byte) (int, error)      { return len(b), nil }
func (m mute) Close() error                     { return nil }
func (m mute) SetDeadline(time.Time) error      { return nil }
func (m mute) SetWriteDeadline(time.Time) error { return nil }

// errLong reports that more was sent than there is room for.
var errLong = errors.New("it is too long")

// A limit reads no more than left bytes.
type limit struct {
	io.Reader
	left int64
}

func (l *limit) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLong
	}
	n, err := l.Reader.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	return n, err
}
