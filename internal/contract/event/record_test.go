package event

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A time is read as time.Parse reads it, if time.Format writes it so.
func TestTimesAreReadAsTheyAreWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	good := 0
	for range 200_000 {
		s := []byte(time.UnixMilli(r.Int64N(250_000_000_000_000) - 62_000_000_000_000).UTC().Format(layout))
		for range r.IntN(3) {
			s[r.IntN(len(s))] = "0123456789-T:.Z x/"[r.IntN(18)]
		}
		want, err := time.Parse(layout, string(s))
		sound := err == nil && want.Format(layout) == string(s)
		p := parser{rest: append(s, '!')}
		got := p.time()
		if p.bad == sound || sound && (!got.Equal(want) || got.Location() != time.UTC || string(p.rest) != "!") {
			t.Fatalf("%s: got %v (bad: %v), want %v, %v", s, got, p.bad, want, err)
		}
		if sound {
			good++
		}
	}
	if good < 50_000 {
		t.Errorf("only %d were times", good)
	}
}

func TestRecordSaysWhatIsSafe(t *testing.T) {
	const line = `{"q":9,"t":"asked","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":2,"safe":8,"b":{"text":"a"}}`
	r, err := Parse([]byte(line))
	if err != nil || r.Safe != 8 {
		t.Fatalf("%+v, %v", r, err)
	}
	if again, err := r.Append(nil); err != nil || string(again) != line {
		t.Errorf("%s, %v", again, err)
	}
}

func BenchmarkParse(b *testing.B) {
	line := []byte(`{"q":90000,"t":"replied","v":1,"ts":"2026-01-02T03:04:05.678Z","ep":2,"safe":89999,"b":{"text":"a"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}
