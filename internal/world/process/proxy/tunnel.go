package proxy

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// A tunnel passes bytes between a client and a host.
type tunnel struct {
	name  string        // of the host
	here  net.Conn      // to the client
	said  *bufio.Reader // what it says
	there net.Conn
}

// run passes bytes until both sides have ended, one is silent for too long, or
// ctx ends. It returns what it has refused.
func (t *tunnel) run(ctx context.Context) *refusal {
	end := func() { _, _ = t.here.Close(), t.there.Close() }
	defer context.AfterFunc(ctx, end)()
	watch := time.AfterFunc(idle, end)
	defer watch.Stop()
	if _, err := io.WriteString(t.here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return nil
	}
	var back sync.WaitGroup
	back.Go(func() { // at once: with some protocols the server speaks first
		_, _ = io.Copy(t.here, &watched{t.there, watch})
		_ = closeWrite(t.here)
	})
	defer back.Wait()
	from, refused := t.check()
	if refused != nil {
		end()
		return refused
	}
	_, _ = io.Copy(t.there, &watched{from, watch})
	_ = closeWrite(t.there)
	return nil
}

// check waits for the client's first words, and returns all that it says, if
// they may go to the host.
func (t *tunnel) check() (io.Reader, *refusal) {
	first, err := t.said.Peek(1)
	if err != nil || !isTLS(first[0]) {
		return t.said, nil
	}
	_ = t.here.SetReadDeadline(time.Now().Add(slowest))
	server, read, err := peek(t.said)
	_ = t.here.SetReadDeadline(time.Time{})
	name, ok := Name(server)
	switch {
	case err != nil:
		return nil, &refusal{t.name, "is not spoken TLS to"}
	case server == "" && isAddress(t.name):
	case !ok:
		return nil, &refusal{t.name, "is spoken TLS to that names no server"}
	case name != t.name:
		return nil, &refusal{name, "is not the host of its tunnel"}
	}
	return io.MultiReader(bytes.NewReader(read), t.said), nil
}

// A watched reader puts off the end with what it reads.
type watched struct {
	io.Reader
	end *time.Timer
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if n > 0 {
		w.end.Reset(idle)
	}
	return n, err
}
