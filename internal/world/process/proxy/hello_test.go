package proxy

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"testing/iotest"
)

// hello returns the first message of a client for server.
func hello(t testing.TB, server string) []byte {
	t.Helper()
	here, there := net.Pipe()
	go func() {
		_ = tls.Client(here, &tls.Config{ServerName: server, InsecureSkipVerify: true}).Handshake()
		_ = here.Close()
	}()
	b := make([]byte, helloMax)
	n, err := there.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	_ = there.Close()
	return b[:n]
}

func TestPeek(t *testing.T) {
	for _, server := range []string{"example.com", "a", ""} {
		b := hello(t, server)
		got, read, err := peek(iotest.OneByteReader(io.MultiReader(bytes.NewReader(b), bytes.NewReader([]byte("more")))))
		if err != nil || got != server {
			t.Errorf("%q, %v; want %q", got, err, server)
		}
		if !bytes.HasPrefix(append(b, "more"...), read) || len(read) < len(b) {
			t.Errorf("%d bytes were read of %d", len(read), len(b))
		}
	}
	// in several records
	b := hello(t, "example.com")
	body := b[5:]
	var cut []byte
	for part := range 4 {
		end := min(len(body), 60)
		if part == 3 {
			end = len(body)
		}
		cut = append(cut, 0x16, 3, 1, byte(end>>8), byte(end))
		cut = append(cut, body[:end]...)
		body = body[end:]
	}
	if got, read, err := peek(bytes.NewReader(cut)); got != "example.com" || err != nil || !bytes.Equal(read, cut) {
		t.Errorf("%q, %v", got, err)
	}
	for name, b := range map[string][]byte{"nothing": nil, "a part": b[:len(b)-1], "HTTP": []byte("GET / HTTP/1.1\r\n\r\n")} {
		if got, _, err := peek(bytes.NewReader(b)); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	endless := io.MultiReader(bytes.NewReader([]byte{0x16, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff}), zeros{})
	if _, read, err := peek(endless); err == nil || len(read) > helloMax {
		t.Errorf("%d bytes, %v", len(read), err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// Whatever is sent, what was read is told, in bounds, and no more is believed
// than a server would.
func FuzzPeek(f *testing.F) {
	f.Add(hello(f, "example.com"))
	f.Add(hello(f, ""))
	f.Add([]byte{0x16, 3, 1, 0, 4, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		server, read, err := peek(bytes.NewReader(b))
		if !bytes.HasPrefix(b, read) || len(read) > helloMax {
			t.Fatalf("%d bytes were read of %d", len(read), len(b))
		}
		if err != nil && server != "" {
			t.Fatalf("%q after %v", server, err)
		}
		again, _, _ := peek(iotest.HalfReader(bytes.NewReader(b)))
		if again != server {
			t.Fatalf("%q and then %q", server, again)
		}
	})
}
