package terminal

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// What is pasted is one text, sent by the Enter that follows it.
func TestAPasteIsOneText(t *testing.T) {
	for _, tc := range []struct{ name, pasted, entered, want string }{
		{"several lines", "one\ntwo\n", "\n", "one\ntwo"},
		{"without an end", "one\ntwo\nthr", "ee\n", "one\ntwo\nthree"},
		{"empty lines within", "one\n\n\ntwo\n", "\n", "one\n\n\ntwo"},
		{"ends in a backslash", "one \\\ntwo\n", "\n", "one \\\ntwo"},
		{"hostile", "one\n\x1b[201~y\n", "\n", "one\n\x1b[201~y"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			more := func() bool { return false } // but for what is in the buffer
			withKeyboard(t, Options{Pending: more}, func(t *testing.T, k *keyboard) {
				got := make(chan string, 1)
				go func() {
					line, err := k.ReadLine(t.Context())
					if err != nil && err != io.EOF {
						t.Error(err)
					}
					got <- line
				}()
				synctest.Wait()
				k.typeIn(tc.pasted)
				select {
				case line := <-got:
					t.Fatalf("%q was sent before Enter", line)
				default:
				}
				if !strings.Contains(k.screen.String(), "Enter sends them") {
					t.Error("nothing says how it is sent")
				}
				k.typeIn(tc.entered)
				if line := <-got; line != tc.want {
					t.Errorf("got %q, want %q", line, tc.want)
				}
			})
		})
	}
}

// A paste that a question interrupts neither answers it nor is lost.
func TestAPasteAnswersNoQuestion(t *testing.T) {
	withKeyboard(t, Options{Pending: func() bool { return false }}, func(t *testing.T, k *keyboard) {
		got := make(chan string, 1)
		go func() {
			line, _ := k.ReadLine(t.Context())
			got <- line
		}()
		synctest.Wait()
		k.typeIn("y\ny\n")
		c := k.ask(t.Context(), bash)
		k.typeIn("\n") // sends the paste
		select {
		case r := <-c:
			t.Fatalf("it answered: %+v", r)
		default:
		}
		k.typeIn("n\n")
		if r := <-c; r.Allow {
			t.Errorf("got %+v", r)
		}
		if line := <-got; line != "y\ny" {
			t.Errorf("read %q", line)
		}
	})
}
